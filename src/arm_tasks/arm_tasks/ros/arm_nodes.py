# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/test_bringup.py
"""Several nodes in one process, on one executor: they share imports, kernels and one participant.

The executor has no batch delay, which nut world and task server have in processes of their own:
every request to kinematics would wait for it.

If a node cannot be created or one of its callbacks fails, the process ends with exit code 1, and
its last line names the node and the reason.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module

from arm_common.ros.node_runner import NodeError, run_node, user_arguments
from rclpy.node import Node

MODULES = {
    "robot_state_publisher": "arm_description.ros.state_publisher",
    "kinematics": "arm_kinematics.ros.node",
    "scene_file": "arm_tasks.ros.scene_publisher",
    "nut_world": "arm_simulation.ros.nut_world_node",
    "task_server": "arm_tasks.ros.task_server.node",
}
"""Node -> module, whose `make_nodes` creates the node and those that belong to it."""


def make_nodes(names: Iterable[str]) -> Iterator[Node]:
    """Create nodes one after the other, each once.

    Raises:
        NodeError: A node cannot be created; the cause is its exception.
    """
    for name in dict.fromkeys(names):
        try:
            yield from import_module(MODULES[name]).make_nodes()
        except Exception as error:
            raise NodeError(name) from error


def main() -> int:
    """Run the nodes named on the command line until the process is ended."""
    parser = argparse.ArgumentParser(
        prog="ros2 run arm_tasks arm_nodes", description="Run several nodes in one process."
    )
    choices = (*MODULES, "")  # "" for a node that a launch file leaves out
    parser.add_argument("nodes", nargs="+", choices=choices, metavar="NODE", help="node to run")
    names = parser.parse_args(user_arguments()).nodes
    return run_node(lambda: make_nodes(filter(None, names)))


if __name__ == "__main__":
    sys.exit(main())
