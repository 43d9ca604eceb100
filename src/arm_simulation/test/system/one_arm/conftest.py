# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One running arm for all tests of this folder, which must not end its processes.

A single worker runs them all (arm_testing.plugin).
"""

import pytest
from arm_testing.ros.stack import Stack

from arm_testing import domains


@pytest.fixture(scope="session")
def running_arm(tmp_path_factory):
    """Run an arm on fake hardware in fast time; at the end all processes must exit cleanly."""
    with domains.leased() as domain, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        logs = tmp_path_factory.mktemp("arm")
        # home() restarts the nut's world
        arm = Stack(domain, logs, apart=("nut_world",), hardware="fake", speed="12")
        try:
            arm.wait_ready()
            yield arm
            codes = arm.end_processes()
        finally:
            arm.close()
    assert set(codes.values()) == {0}, codes


@pytest.fixture
def arm(running_arm, monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", str(running_arm.domain))
    running_arm.home()
    return running_arm
