# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import shutil
from pathlib import Path

import pytest
from arm_testing.hardware import units

UNIT = Path(__file__).resolve().parents[1] / "systemd" / "arm-hardware.service"


@pytest.fixture
def service():
    return units.service(UNIT)


def test_systemd_accepts_the_unit():
    units.verify(UNIT)


def test_unit_starts_the_driver_with_valid_parameters_and_arms_nothing(service, tmp_path):
    pytest.importorskip("rclpy")
    from arm_hardware.ros.parameters import DriverParameters

    values = units.defaults(UNIT) | {
        "ARM_CALIBRATION": "/home/arm/my servos.yaml",
        "ARM_PARAMETERS": "-p oe_heartbeat_line:=GPIO17",
    }
    said = units.arguments(service["ExecStart"], "arm_hardware/hardware", tmp_path, **values)
    assert said[0] == "--ros-args"
    given = dict(word.split(":=") for word in said if word != "-p" and word != "--ros-args")
    assert given.keys() <= DriverParameters.__dataclass_fields__.keys()
    assert given["calibration"] == "/home/arm/my servos.yaml"
    assert (given["hardware"], given["autostart"]) == ("real", "configure")
    assert (given["backend"], given["oe_heartbeat_line"]) == ("i2c_dev", "GPIO17")


def test_systemd_watches_the_control_loop(service):
    assert (service["Type"], service["WatchdogSec"]) == ("notify", "5")


def test_unit_may_access_only_one_device(service):
    assert (service["DevicePolicy"], service["DeviceAllow"]) == ("closed", "/dev/i2c-1 rw")
    assert service["NoNewPrivileges"] == "yes" and service["User"] == "arm"


def test_drop_in_for_a_serial_bus_takes_i2c_back(tmp_path):
    lines = (UNIT.parent / "feetech.conf").read_text().splitlines()
    groups = [line for line in lines if line.startswith("SupplementaryGroups")]
    devices = [line for line in lines if line.startswith("DeviceAllow")]
    assert groups == ["SupplementaryGroups=", "SupplementaryGroups=dialout"]
    assert devices[0] == "DeviceAllow=" and not any("i2c" in line for line in devices)
    assert units.defaults(UNIT.parent / "feetech.conf") == {"ARM_BACKEND": "feetech"}
    folder = tmp_path / "arm-hardware.service.d"
    folder.mkdir()
    shutil.copy(UNIT, tmp_path)
    shutil.copy(UNIT.parent / "feetech.conf", folder)
    units.verify(tmp_path / UNIT.name)
