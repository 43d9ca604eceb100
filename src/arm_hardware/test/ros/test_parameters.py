# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path
from types import SimpleNamespace

import pytest

README = Path(__file__).parents[2] / "README.md"


class Declared:
    """A node that only remembers what is declared."""

    def __init__(self) -> None:
        self.descriptors = {}
        self.defaults = {}

    def declare_parameter(self, name, default, descriptor):
        self.descriptors[name], self.defaults[name] = descriptor, default
        return SimpleNamespace(value=default)


@pytest.fixture
def declared():
    pytest.importorskip("rcl_interfaces")
    from arm_hardware.ros import parameters

    node = Declared()
    parameters.declare(node)
    return node


def test_every_parameter_is_described_and_read_only(declared):
    assert declared.descriptors
    for name, descriptor in declared.descriptors.items():
        assert descriptor.description and descriptor.read_only, name


def test_every_parameter_is_in_the_readme_with_its_default(declared):
    rows = [line for line in README.read_text().splitlines() if line.startswith("| `")]
    for name, default in declared.defaults.items():
        (row,) = [r for r in rows if r.startswith(f"| `{name}` |") and r.count("|") == 4][-1:]
        said = row.split("|")[2].strip().strip("`")
        if isinstance(default, bool):
            assert said == str(default).lower()
        elif isinstance(default, float):
            assert float(said) == default
        else:
            assert said == default
