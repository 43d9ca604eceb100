# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from dataclasses import fields
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def test_every_parameter_is_in_the_readme_with_its_default():
    pytest.importorskip("rclpy")
    from arm_hardware.ros.parameters import DriverParameters

    rows = [line for line in README.read_text().splitlines() if line.startswith("| `")]
    for parameter in fields(DriverParameters):
        name, default = parameter.name, parameter.default
        (row,) = [r for r in rows if r.startswith(f"| `{name}` |") and r.count("|") == 4][-1:]
        written = row.split("|")[2].strip().strip("`")
        if isinstance(default, bool):
            assert written == str(default).lower()
        elif isinstance(default, int | float):
            assert float(written) == default
        else:
            assert written == default


def test_deprecated_parameter_names_still_work():
    rclpy = pytest.importorskip("rclpy")
    from arm_hardware.ros.parameters import driver_parameters

    context = rclpy.Context()
    arguments = ["-p", "commander_timeout:=3.0", "-p", "gripper_squeeze_limit:=5"]
    rclpy.init(context=context, args=["--ros-args", *arguments])
    node = rclpy.create_node("driver", context=context)
    given = driver_parameters(node)
    rclpy.shutdown(context=context)
    assert given.client_timeout == 3.0 and given.grip_force_limit_counts == 5
    assert given.options.motion_options.grip_force.limit == 5
