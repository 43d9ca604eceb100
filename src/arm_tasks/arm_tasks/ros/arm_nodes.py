# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Several nodes in one process, on one executor: they share imports, kernels and one participant.

If a node cannot be created or one of its callbacks fails, the process ends with exit code 1, and
its last line names the node and the reason.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib import import_module

from arm_common.ros.node_runner import NodeError, run_node, user_arguments
from arm_common.suggestions import did_you_mean
from rclpy.node import Node

from arm_tasks.errors import TasksError

MODULES = {
    "robot_state_publisher": "arm_description.ros.state_publisher",
    "kinematics": "arm_kinematics.ros.node",
    "nut_world": "arm_tasks.ros.nut_world_node",
    "task_server": "arm_tasks.ros.task_server.node",
}
"""Node -> module, whose `make_nodes` creates the node and those that belong to it."""


def make_nodes(names: Sequence[str]) -> Iterator[Node]:
    """Create nodes one after the other.

    Raises:
        TasksError: A name is unknown, repeated, or there is none.
        NodeError: A node cannot be created; the cause is its exception.
    """
    if not names or len(set(names)) < len(names):
        raise TasksError(f"name the nodes to run, each once: {', '.join(MODULES)}")
    for name in names:
        if name not in MODULES:
            raise TasksError(f"there is no node '{name}'; {did_you_mean(name, MODULES)}")
    for name in names:
        try:
            yield from import_module(MODULES[name]).make_nodes()
        except Exception as error:
            raise NodeError(name) from error


def main() -> int:
    """Run the nodes named on the command line until the process is ended."""
    return run_node(lambda: make_nodes(user_arguments()))


if __name__ == "__main__":
    sys.exit(main())
