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
