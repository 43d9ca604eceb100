# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The executables of this package that are nodes."""

from .quiet_start import start


def state_publisher() -> int:
    """Run `state_publisher`."""
    return start("arm_description.state_publisher_node")


def robot_file_watcher() -> int:
    """Run `robot_file_watcher`."""
    return start("arm_description.robot_file_watcher_node")
