# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import shutil
import subprocess
from pathlib import Path

import pytest
from arm_hardware.simulation.pca9685_chip import ChipMemory, Pca9685Chip
from arm_testing import units

import arm_common
import arm_hardware

UNIT = Path(__file__).resolve().parents[1] / "systemd" / "arm-hardware.service"
PACKAGES = [Path(module.__file__).parent for module in (arm_common, arm_hardware)]


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


@pytest.mark.parametrize("layout", ["", "{}/"], ids=["merged", "isolated"])
def test_servos_are_released_without_ros_and_without_the_setup_file(service, tmp_path, layout):
    """The unit's own line with an empty environment; PYTHONPATH comes from colcon's folders."""
    install, registers = tmp_path / "ws/my install", tmp_path / "board"
    chip = Pca9685Chip(memory=ChipMemory(registers))
    chip.write(b"\x00\x20")  # MODE1: awake, auto-increment
    chip.write(b"\x06\x00\x00\x33\x01")
    assert chip.pulse_us(0) > 0.0
    for package in PACKAGES:
        site = install / layout.format(package.name) / "lib/python3.12/site-packages"
        site.mkdir(parents=True, exist_ok=True)
        (site / package.name).symlink_to(package)
    stored = service["ExecStopPost"].replace("--address", f"--sim {registers} --address")
    words = units.words_of(stored, ARM_SETUP=str(install / "setup.bash"), ARM_ADDRESS="0x40")
    done = subprocess.run(["env", "-i", *words], cwd="/", capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "Released all channels" in done.stdout
    assert chip.pulse_us(0) == 0.0
    assert service["Restart"] == "no"


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
