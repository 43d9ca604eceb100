# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A node beside the task server, and what a task has of other nodes through it."""

import pytest


@pytest.fixture(scope="module")
def probe():
    from arm_testing.ros.probe import Probe

    probe = Probe()
    yield probe
    probe.close()


@pytest.fixture
def nodes(probe):
    from arm_tasks.ros.task_server.other_nodes import NodeConnections

    return NodeConnections(probe.node, lambda: "base_link", None)
