# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import configparser
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from arm_hardware.simulation.pca9685_chip import ChipMemory, Pca9685Chip

import arm_common
import arm_hardware

UNIT = Path(__file__).resolve().parents[1] / "systemd" / "arm-hardware.service"
ROS2 = """#!/bin/bash
if [ "$1 $2" = "pkg prefix" ]; then echo {prefix}; fi
"""
PACKAGES = [Path(module.__file__).parent for module in (arm_common, arm_hardware)]


@pytest.fixture
def service():
    parser = configparser.ConfigParser(strict=False, interpolation=None, comment_prefixes="#")
    parser.optionxform = str
    # a backslash at the end of a line goes on with the next (systemd.syntax)
    parser.read_string(UNIT.read_text().replace("\\\n", " "))
    return parser["Service"]


def as_by_systemd(command, **values):
    """Return the words of a command of the unit, with its variables and specifiers replaced."""
    return [
        re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], word)
        .replace("$$", "$")
        .replace("%%", "%")
        for word in shlex.split(command)
    ]


def run(command, folder):
    """Run a command of the unit as systemd would, with a ROS 2 that only says what it is told."""
    prefix = folder / "with space"
    program = prefix / "lib/arm_hardware/hardware"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/bash\nprintf "%s\\n" "$@"\n')
    ros2 = folder / "bin/ros2"
    ros2.parent.mkdir()
    ros2.write_text(ROS2.format(prefix=shlex.quote(str(prefix))))
    for file in (program, ros2):
        file.chmod(0o755)
    setup = folder / "its setup.bash"
    setup.write_text(f"export PATH={ros2.parent}:$PATH\n")
    values = {
        "ARM_SETUP": str(setup),
        "ARM_ROBOT": "nut_arm",
        "ARM_CALIBRATION": "/home/arm/my servos.yaml",
        "ARM_EXIT_ACTION": "park",
        "ARM_PARAMETERS": "-p oe_heartbeat_line:=GPIO17",
    }
    words = as_by_systemd(command, **values)
    done = subprocess.run(words, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_systemd_accepts_the_unit():
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed: the unit is only read, not verified")
    done = subprocess.run([analyze, "verify", UNIT], capture_output=True, text=True)
    ours = [line for line in done.stderr.splitlines() if "arm-hardware" in line]
    assert (done.returncode, ours) == (0, [])  # the machine's other units are looked at, too


def test_unit_starts_the_driver_with_valid_parameters_and_arms_nothing(service, tmp_path):
    pytest.importorskip("rclpy")
    from arm_hardware.ros.parameters import DriverParameters

    said = run(service["ExecStart"], tmp_path)
    assert said[0] == "--ros-args"
    given = dict(word.split(":=") for word in said if word != "-p" and word != "--ros-args")
    assert given.keys() <= DriverParameters.__dataclass_fields__.keys()
    assert given["calibration"] == "/home/arm/my servos.yaml"
    assert (given["hardware"], given["autostart"]) == ("real", "configure")
    assert given["oe_heartbeat_line"] == "GPIO17"


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
    words = as_by_systemd(stored, ARM_SETUP=str(install / "setup.bash"), ARM_ADDRESS="0x40")
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
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        return
    folder = tmp_path / "arm-hardware.service.d"
    folder.mkdir()
    shutil.copy(UNIT, tmp_path)
    shutil.copy(UNIT.parent / "feetech.conf", folder)
    unit = tmp_path / UNIT.name
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True)
    ours = [line for line in done.stderr.splitlines() if "arm-hardware" in line]
    assert (done.returncode, ours) == (0, [])
