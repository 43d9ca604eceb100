# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The calibration that a driver uses: a file, or ideal servos of a simulated arm without one."""

from dataclasses import replace

import pytest
from arm_description.library import robot_path
from arm_hardware.calibration.calibration import driven_axes
from arm_hardware.calibration.file import load_calibration
from arm_hardware.calibration.selection import TICK, calibration_for, config_folder, robot_of
from arm_hardware.driver import Driver
from arm_hardware.errors import CalibrationError
from arm_hardware.motion.options import DriverOptions

from arm_description import DescriptionError, load_robot, shipped_robots

WITHOUT = [r for r in shipped_robots() if not (config_folder() / f"{r}_servos.yaml").is_file()]


@pytest.mark.parametrize("robot", WITHOUT)
def test_simulated_arm_without_calibration_reaches_all_limits(robot):
    model = load_robot(robot)
    calibration = calibration_for(model, "", config_folder(), simulated=True)
    axes, _ = driven_axes(model, calibration, TICK)
    for axis, lower, upper in zip(axes.arm, model.lower, model.upper, strict=True):
        assert (axis.lower, axis.upper) == pytest.approx((lower, upper), abs=1e-9)
    assert calibration.example


@pytest.mark.parametrize("name", ["nut_arm", "so101"])
def test_another_arm_of_a_shipped_name_has_ideal_servos(name):
    model = replace(load_robot("planar2"), name=name)
    calibration = calibration_for(model, "", config_folder(), simulated=True)
    assert set(calibration.servos) == set(model.joint_names)
    with pytest.raises(CalibrationError):
        Driver(model, DriverOptions(hardware="real"))


def test_robot_of_a_servo_file_is_looked_for_beside_it(tmp_path):
    servos = (config_folder() / "nut_arm_servos.yaml").read_text()
    (tmp_path / "servos.yaml").write_text(servos.replace("robot: nut_arm", "robot: kit"))
    calibration = load_calibration(tmp_path / "servos.yaml")
    with pytest.raises(DescriptionError, match="kit"):
        robot_of(calibration)
    text = robot_path("nut_arm").read_text()
    (tmp_path / "kit.yaml").write_text(text.replace("name: nut_arm", "name: kit"))
    assert robot_of(calibration).name == "kit"
    assert robot_of(calibration, "planar2").name == "planar2"


def test_real_arm_and_named_calibration_must_exist():
    puma = load_robot("puma560")
    with pytest.raises(CalibrationError, match="no calibration for robot 'puma560'"):
        Driver(puma, DriverOptions(hardware="real", backend="i2c_dev"))
    with pytest.raises(CalibrationError, match="no calibration 'pmua'"):
        Driver(puma, DriverOptions(hardware="sim", backend="i2c_dev", calibration="pmua"))
    with pytest.raises(CalibrationError, match="is for robot 'nut_arm', not 'puma560'"):
        Driver(puma, DriverOptions(hardware="sim", calibration="nut_arm_servos"))
