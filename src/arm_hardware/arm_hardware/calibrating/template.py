# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The text of a calibration file for a robot, to begin from."""

from __future__ import annotations

import math

from arm_description.robot_file.writer import flow_word

from arm_description import RobotModel
from arm_hardware.axes import GRIPPER, Axis, axes_of
from arm_hardware.calibration_keys import CHANNELS
from arm_hardware.errors import CalibrationError

HEAD = """\
# Which servo of this arm is on which channel, and which pulse means which position.
# Servo angle = sign * joint angle + zero_deg; points_deg_us: [servo angle, pulse in us].
# Servos without a day of calibration have the numbers of an ideal one, not measured:
# while there are any, `example: true` keeps real hardware from being armed.
example: true
robot: {robot}

board:
  address: 0x40
  frequency_hz: 50
  reference_clock_hz: 25000000

joints:
"""
TURN = "points_deg_us: [[-90, 500], [90, 2500]], pulse_limits_us: [500, 2500]"
SLIDE = "points_mm_us: [[{lower}, 1000], [{upper}, 2000]], pulse_limits_us: [1000, 2000]"


def template(model: RobotModel) -> str:
    """Return a file in which every servo is an ideal one, on channels 0, 1, 2, ...

    Raises:
        CalibrationError: A board has too few channels, or a sliding joint no limits.
    """
    axes = axes_of(model)
    if len(axes) > CHANNELS:
        raise CalibrationError(f"{model.name} has {len(axes)} servos, a board has {CHANNELS}")
    text = HEAD.format(robot=flow_word(model.name))
    for channel, axis in enumerate(axes):
        entry = f"{{channel: {channel}, {_points(axis)}}}"
        if axis.name == GRIPPER:
            text += f"\n{GRIPPER}:\n  {entry}\n"
        else:
            text += f"  {flow_word(axis.name)}:\n    {entry}\n"
    return text


def _points(axis: Axis) -> str:
    if axis.unit == "rad":
        return TURN
    lower, upper = axis.lower * 1e3, axis.upper * 1e3
    if math.isinf(lower) or math.isinf(upper):
        raise CalibrationError(f"{axis.name} slides and has no limits in the robot description")
    return SLIDE.format(lower=f"{lower:.6g}", upper=f"{upper:.6g}")
