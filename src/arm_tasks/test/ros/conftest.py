# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the bring-up assume: the package that simulates, which they only name."""

from importlib.util import find_spec

import pytest
from arm_tasks.bringup.arguments import SIMULATION


@pytest.fixture(autouse=True)
def simulation(monkeypatch):
    """Let the bring-up find the package, whether it is installed or not."""

    def found(name):
        return name == SIMULATION or find_spec(name)

    monkeypatch.setattr("arm_tasks.bringup.arguments.find_spec", found)
