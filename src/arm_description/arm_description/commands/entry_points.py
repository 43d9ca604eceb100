# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The executables of this package that are nodes."""

from arm_common.signals import start


def state_publisher() -> int:
    """Run `state_publisher`."""
    return start("arm_description.ros.state_publisher")


def robot_file_watcher() -> int:
    """Run `robot_file_watcher`."""
    return start("arm_description.ros.robot_file_watcher")
