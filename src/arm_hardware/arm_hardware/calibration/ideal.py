# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Ideal servos: of a new calibration file, and of a simulated arm without a calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from arm_description.model.gripper import Claw
from arm_description.model.transmissions.transmission import Drivetrain
from arm_description.robot_model import RobotModel

from arm_hardware.bus.interface import CHANNELS, COUNTS, BusServo, SerialBus, ServoBoard
from arm_hardware.calibration.axes import Axis
from arm_hardware.calibration.calibration import Calibration, ServoCalibration, axes_of
from arm_hardware.calibration.file import wires_of
from arm_hardware.errors import CalibrationError

# The board divides each period into 4096 counts: with the 50 pulses a second of analogue servos,
# the tip of a long arm whose joints turn by more than a servo can would move in steps of 1 cm.
DIGITAL = ServoBoard(frequency_hz=300.0)
_TURNS = 2.0 * math.pi  # of an ideal servo of a joint without limits [rad]
_TURN_US, _STROKE_US = (500.0, 2500.0), (1000.0, 2000.0)  # of joints that turn; slides and jaws
_SMART_TURN = math.radians(170.0)  # of a smart servo to each side of its middle


def simulated_servos(model: RobotModel, shipped: Calibration | None) -> Calibration:
    """Return a calibration of ideal servos that reach all limits; errors as below.

    They are on the bus of a calibration that is shipped for an arm of this name, or on a board.
    """
    on_bus = shipped is not None and isinstance(shipped.board, SerialBus)
    board = shipped.board if shipped is not None and on_bus else DIGITAL
    return ideal_calibration(model, board, shipped, whole_range=True)


def ideal_calibration(
    model: RobotModel,
    board: ServoBoard | SerialBus,
    shipped: Calibration | None,
    whole_range: bool = False,
) -> Calibration:
    """Return a calibration of ideal servos.

    Args:
        model: The robot.
        board: What they are connected to.
        shipped: The calibration of this robot whose channels or ids they have, if it is for such
            a board; other servos have the first ones that are free.
        whole_range: Whether those of a board turn by the range of their joint, not by 180 degrees.

    Raises:
        CalibrationError: The board has too few channels, or a sliding joint has no limits.
    """
    axes = axes_of(model)
    servos = [_bounded(axis, model) for axis in axes.actuators]
    channels = _channels([axis.name for axis in servos], board, shipped, model.name)
    made = {}
    for axis in servos:
        claw, channel = axes.claw(axis), channels[axis.name]
        if isinstance(board, SerialBus):
            made[axis.name] = _smart_servo(axis, claw, channel)
        else:
            made[axis.name] = _pulsed_servo(axis, claw, channel, whole_range)
    path = Path("ideal servos")
    if isinstance(board, SerialBus):
        on_bus = {servo.channel: BusServo(name) for name, servo in made.items()}
        board = replace(board, servos=on_bus, calibration=str(path))
    return Calibration(path, True, model.name, board, made)


def _bounded(axis: Axis, model: RobotModel) -> Axis:
    """Return an actuator with limits, by default those where its joints are at theirs."""
    drivetrain = Drivetrain.of(model)
    if axis.name not in drivetrain.actuators or math.isfinite(axis.lower):
        return axis
    k = drivetrain.actuators.index(axis.name)
    ends = (float(drivetrain.to_actuators(q)[k]) for q in (model.lower, model.upper))
    lower, upper = sorted(ends)
    return replace(axis, lower=lower, upper=upper)


def _channels(
    names: Sequence[str], board: ServoBoard | SerialBus, shipped: Calibration | None, robot: str
) -> dict[str, int]:
    """Return the channel or id of each actuator."""
    on_bus = isinstance(board, SerialBus)
    allowed = wires_of(board).channels[int(on_bus) :]  # 1 is the first id of new smart servos
    if len(names) > len(allowed):
        raise CalibrationError(f"{robot} has {len(names)} servos, a board has {CHANNELS}")
    same = shipped is not None and isinstance(shipped.board, SerialBus) is on_bus
    known = shipped.servos if shipped is not None and same else {}
    channels = {name: known[name].channel for name in names if name in known}
    free = (channel for channel in allowed if channel not in channels.values())
    return channels | dict(zip((n for n in names if n not in known), free, strict=False))


def _smart_servo(axis: Axis, claw: Claw | None, channel: int) -> ServoCalibration:
    """Return a smart servo, at 0 in the middle of its turn."""
    lower, upper = -_SMART_TURN, _SMART_TURN
    half = _SMART_TURN / _TURNS * COUNTS
    if claw:
        lower, upper = claw.closed, claw.open
        half = 0.5 * (upper - lower) / _TURNS * COUNTS
    elif axis.unit == "m":
        half = 0.25 * COUNTS
        lower, upper = axis.lower, axis.upper
    ends = float(round(0.5 * COUNTS - half)), float(round(0.5 * COUNTS + half))
    unit = "rad" if claw else axis.unit
    return ServoCalibration(channel, unit, ((lower, ends[0]), (upper, ends[1])), ends)


def _pulsed_servo(
    axis: Axis, claw: Claw | None, channel: int, whole_range: bool
) -> ServoCalibration:
    """Return a hobby servo, at 0 in the middle of its pulses unless its joint is not."""
    unit, ends = "rad" if claw else axis.unit, _STROKE_US
    if claw:
        lower, upper = claw.closed, claw.open
    elif axis.unit == "rad":
        ends = _TURN_US
        limits = (axis.lower, axis.upper) if whole_range else (-math.pi / 2.0, math.pi / 2.0)
        lower, upper = (max(min(x, _TURNS), -_TURNS) for x in limits)
    else:
        lower, upper = axis.lower, axis.upper
        if math.isinf(lower) or math.isinf(upper):
            raise CalibrationError(
                f"{axis.name} slides and has no limits in the robot description"
            )
    return ServoCalibration(channel, unit, ((lower, ends[0]), (upper, ends[1])), ends)
