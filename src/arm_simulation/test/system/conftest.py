# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import contextlib

import pytest
from arm_testing.ros.stack import Stack

from arm_testing import domains


@contextlib.contextmanager
def arms(folder):
    """Yield a function that starts an arm in its own domain; stop all of them at the end."""
    with contextlib.ExitStack() as ends, pytest.MonkeyPatch.context() as patch:
        count = 0

        def start(**options):
            nonlocal count
            domain = ends.enter_context(domains.leased())
            patch.setenv("ROS_DOMAIN_ID", str(domain))
            arm = Stack(domain, folder / f"logs{count}", **options)
            ends.callback(arm.close)
            count += 1
            return arm

        yield start


@pytest.fixture(scope="session")
def make_arms():
    """Return the context manager, for module fixtures."""
    return arms


@pytest.fixture
def start_arm(tmp_path):
    with arms(tmp_path) as start:
        yield start
