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

UNIT = Path(__file__).resolve().parents[1] / "systemd" / "arm-hardware.service"
ROS2 = """#!/bin/bash
if [ "$1 $2" = "pkg prefix" ]; then echo {prefix}; else echo "ros2 $*"; fi
"""


@pytest.fixture
def service():
    parser = configparser.ConfigParser(strict=False, interpolation=None, comment_prefixes="#")
    parser.optionxform = str
    # a backslash at the end of a line goes on with the next (systemd.syntax)
    parser.read_string(UNIT.read_text().replace("\\\n", " "))
    return parser["Service"]


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
        "ARM_ADDRESS": "0x41",
        "ARM_EXIT_ACTION": "park",
    }
    words = [
        re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], word).replace("$$", "$")
        for word in shlex.split(command)
    ]
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


def test_servos_are_released_however_the_driver_ends(service, tmp_path):
    said = run(service["ExecStopPost"], tmp_path)
    assert said == ["ros2 run arm_hardware release --address 0x41"]
    assert service["Restart"] == "no"


def test_unit_may_access_only_one_device(service):
    assert (service["DevicePolicy"], service["DeviceAllow"]) == ("closed", "/dev/i2c-1 rw")
    assert service["NoNewPrivileges"] == "yes" and service["User"] == "arm"
