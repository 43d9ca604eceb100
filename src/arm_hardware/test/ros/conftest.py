# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import pytest


@pytest.fixture
def start():
    """Start nodes, one after another; end them whatever happens."""
    from arm_testing.ros import driver

    started = []

    def begin(code="", **parameters):
        started.append(driver.NodeProcess(code, **parameters))
        return started[-1]

    yield begin
    for process in started:
        process.process.kill()
        process.process.communicate()


@pytest.fixture
def client():
    from arm_testing.ros import driver

    made = driver.Client()
    yield made
    made.close()
