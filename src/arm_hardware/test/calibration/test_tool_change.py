# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A pen in place of the gripper: the same arm takes the same servo file."""

from dataclasses import replace
from pathlib import Path

import pytest
from arm_hardware.bus.interface import SerialBus
from arm_hardware.calibration.axes import GRIPPER
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.selection import calibration_for
from arm_hardware.errors import CalibrationError

from arm_description import load_robot, shipped_robots

CONFIG = Path(__file__).parents[2] / "config"
WITH_SERVOS = [name for name in shipped_robots() if (CONFIG / f"{name}_servos.yaml").is_file()]
GRIPPING = [name for name in WITH_SERVOS if load_robot(name).gripper]


@pytest.mark.parametrize("simulated", [True, False])
@pytest.mark.parametrize("robot", GRIPPING)
def test_arm_without_its_gripper_keeps_its_servo_file(robot, simulated):
    model = load_robot(robot)
    pen = replace(model, gripper=None, postures={})
    whole = calibration_for(model, "", CONFIG, simulated)
    kept = calibration_for(pen, "", CONFIG, simulated)
    assert dict(kept.servos) == {k: s for k, s in whole.servos.items() if k != GRIPPER}
    maps = dict(
        zip((a.name for a in axes_of(pen).actuators), kept.maps(axes_of(pen)), strict=True)
    )
    for axis, expected in zip(axes_of(model).actuators, whole.maps(axes_of(model)), strict=True):
        if axis.name != GRIPPER:
            assert maps[axis.name] == expected
    if isinstance(kept.board, SerialBus):
        assert {s.channel for s in kept.servos.values()} == {*kept.board.servos}


def test_other_missing_or_superfluous_servos_are_refused():
    model = load_robot("learm")
    short = replace(model, joints=model.joints[:-1], gripper=None, postures={})
    with pytest.raises(CalibrationError, match="'wrist_roll' is not a joint"):
        calibration_for(short, "", CONFIG, False).maps(axes_of(short))
