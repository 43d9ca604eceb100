# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from dataclasses import fields
from pathlib import Path

import pytest
from arm_common.errors import InputError

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


def parameters_of(*given):
    rclpy = pytest.importorskip("rclpy")
    from arm_hardware.ros.parameters import driver_parameters

    context = rclpy.Context()
    rclpy.init(context=context, args=["--ros-args", *(w for g in given for w in ("-p", g))])
    try:
        return driver_parameters(rclpy.create_node("driver", context=context))
    finally:
        rclpy.shutdown(context=context)


@pytest.mark.parametrize("value", ["-5", "many", "2.5"])
def test_deprecated_parameter_is_checked_like_its_successor(value):
    with pytest.raises(InputError, match=r"gripper_squeeze_limit .* whole number from 0 to 100"):
        parameters_of(f"gripper_squeeze_limit:={value}")


def test_deprecated_parameter_names_still_work():
    given = parameters_of("commander_timeout:=3", "gripper_squeeze_limit:=5")
    assert given.client_timeout == 3.0 and given.grip_force_limit_counts == 5
    assert given.options.motion_options.grip_force.limit == 5
