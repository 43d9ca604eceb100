# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/calibration/writing/test_lerobot.py
"""What an arm needs from its smart servos: counts, torque, and ranges that its joints have.

A joint that was not swept, or was swept across the seam between counts 4095 and 0, has a range
that is far from the joint's; nothing else in a calibration shows it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_description.urdf.bodies import bodies_of_model, holding_torques

from arm_hardware.bus.interface import COUNTS, RADIANS, SerialBus
from arm_hardware.calibration.axes import Axes, Axis
from arm_hardware.calibration.calibration import Calibration, ServoCalibration, axes_of
from arm_hardware.errors import CalibrationError

_POSTURES = 256  # at which torques are computed, random but always the same
LEAST, GREATEST = 0.6, 1.25  # recorded span over that of the joint
GREATEST_OF_JAWS = 2.0  # jaws open farther than the description lets them
FULL_TURN = (0, COUNTS - 1)  # counts that LeRobot writes for a wrist_roll, which it does not sweep
WRIST_ROLL = "wrist_roll"
_REMEDY = (
    "put the joint in the middle of its range, centre its servo (LeRobot does so first), and "
    "sweep it from stop to stop"
)


def with_needs(calibration: Calibration, bus: SerialBus, model: RobotModel) -> SerialBus:
    """Return the bus of a calibration, its servos with the counts and the torque that they need.

    Raises:
        CalibrationError: The calibration does not suit the robot.
    """
    unlimited = axes_of(model)
    axes, maps = calibration.narrowed(unlimited), calibration.maps(unlimited)
    torques = [*_largest_torques(model, axes), 0.0]  # jaws have no weight to hold
    servos = dict(bus.servos)
    for axis, servo_map, torque in zip(axes.actuators, maps, torques, strict=False):
        ends = sorted(servo_map.count_of(end) for end in (axis.lower, axis.upper))
        servos[servo_map.channel] = replace(
            servos[servo_map.channel],
            counts=(ends[0], ends[1]),
            torque=float(torque),
            acceleration=axis.acceleration / abs(servo_map.slope(None)),
        )
    return replace(bus, servos=servos)


def _largest_torques(model: RobotModel, axes: Axes) -> Array:
    """Return the largest torques (m,) that hold the arm at rest, of its actuators [N m or N]."""
    bodies = bodies_of_model(model)
    low, high = np.array([(axis.lower, axis.upper) for axis in axes.arm]).T
    postures = np.random.default_rng(0).uniform(low, high, (_POSTURES, len(axes.arm)))
    torques = np.array([holding_torques(bodies, q) for q in postures])
    if axes.coupling is not None:  # by virtual work: the torques of m actuators move n joints
        jacobians = axes.coupling.drivetrain.jacobian(postures)
        torques = np.einsum("knm,kn->km", np.linalg.pinv(jacobians), torques)
    return np.asarray(np.abs(torques).max(axis=0))


def check_ranges(calibration: Calibration, model: RobotModel) -> None:
    """Raise CalibrationError for a servo whose range is not that of its joint.

    Servos on a board have no recorded range.
    """
    if not isinstance(calibration.board, SerialBus):
        return
    axes = axes_of(model)
    for axis in axes.actuators:
        servo = calibration.servos.get(axis.name)
        if servo is not None and (problem := _problem(axis, servo, axes)):
            raise CalibrationError(
                problem, file=str(calibration.path), key=axis.name, remedy=_REMEDY
            )


def _problem(axis: Axis, servo: ServoCalibration, axes: Axes) -> str:
    """Return both spans if they differ too much, a clause, or ""."""
    claw = axes.claw(axis)
    span = axis.upper - axis.lower if claw is None else claw.open - claw.closed
    least, greatest = servo.map(1.0).counts
    turns_on = not math.isfinite(span) or span >= FULL_TURN[1] * RADIANS
    rolls = axis.name.endswith(WRIST_ROLL) and (least, greatest) == FULL_TURN
    if servo.unit != "rad" or turns_on or rolls:
        return ""
    recorded = (greatest - least) * RADIANS
    most = GREATEST if claw is None else GREATEST_OF_JAWS
    if LEAST * span <= recorded <= most * span:
        return ""
    reason = (
        "was it swept across the seam between counts 4095 and 0?"
        if recorded > span
        else "was it not swept?"
    )
    return (
        f"was recorded over {_degrees(recorded)} deg (counts {least} to {greatest}), but the "
        f"joint has {_degrees(span)} deg: {reason}"
    )


def _degrees(angle: float) -> str:
    degrees = math.degrees(angle)
    return f"{degrees:.0f}" if degrees >= 10.0 else f"{degrees:.1f}"
