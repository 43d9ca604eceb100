# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Entry points of the nodes."""

from arm_common.signals import node_entry_point

state_publisher = node_entry_point("arm_description.ros.state_publisher")
robot_file_watcher = node_entry_point("arm_description.ros.robot_file_watcher")
