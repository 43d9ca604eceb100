# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The executables of this package."""

from arm_common.signals import start

INTERRUPTED = 130


def demo() -> int:
    """Run `./arm demo`."""
    return start("arm_tasks.bringup.demo", interrupted=INTERRUPTED)


def view() -> int:
    """Run `./arm view`."""
    return start("arm_tasks.bringup.demo", "view", INTERRUPTED)


def play() -> int:
    """Run `./arm play`."""
    return start("arm_tasks.commands.play", interrupted=INTERRUPTED)


def teleop() -> int:
    """Run `./arm teleop`."""
    return start("arm_tasks.ros.teleop.terminal", interrupted=INTERRUPTED)


def teach() -> int:
    """Run `./arm teach`."""
    return start("arm_tasks.ros.teleop.teach_terminal", interrupted=INTERRUPTED)


def run_task() -> int:
    """Run `run_task`."""
    return start("arm_tasks.commands.run_task", interrupted=INTERRUPTED)


def check() -> int:
    """Run `./arm check`."""
    return start("arm_tasks.commands.check", interrupted=INTERRUPTED)


def scene() -> int:
    """Run `./arm scene`."""
    return start("arm_tasks.commands.scene", interrupted=INTERRUPTED)


def task_server() -> int:
    """Run `task_server`."""
    return start("arm_tasks.ros.task_server.node")


def nut_world() -> int:
    """Run `nut_world`."""
    return start("arm_tasks.ros.nut_world_node")
