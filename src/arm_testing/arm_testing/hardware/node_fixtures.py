# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Driver nodes as processes, and their client."""

import pytest

from arm_testing.hardware.factories import factory


@pytest.fixture
def start():
    """Return a function that starts a node; all are killed after the test."""
    from arm_testing.ros import driver

    yield from factory(driver.NodeProcess, driver.NodeProcess.kill)


@pytest.fixture
def client():
    from arm_testing.ros import driver

    made = driver.Client()
    yield made
    made.close()
