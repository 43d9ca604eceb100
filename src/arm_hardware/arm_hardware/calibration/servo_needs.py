# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What an arm needs from each of its servos that answer: a range of counts, and torque."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from arm_common.transforms import Array
from arm_description.urdf.bodies import bodies_of_model, holding_torques

from arm_description import RobotModel
from arm_hardware.calibration.axes import Axes
from arm_hardware.calibration.calibration import Calibration, SerialBus
from arm_hardware.calibration.coupling import axes_of

_POSTURES = 256  # at which torques are computed, random but always the same


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
            servos[servo_map.channel], counts=(ends[0], ends[1]), torque=float(torque)
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
