# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Executables of this package whose imports are slow: nodes and tools of `./arm`."""

from arm_common.signals import node_entry_point, tool_entry_point

arm_nodes = node_entry_point("arm_tasks.ros.arm_nodes")
task_server = node_entry_point("arm_tasks.ros.task_server.node")
scene_file = node_entry_point("arm_tasks.ros.scene_publisher")

check = tool_entry_point("arm_tasks.commands.check")
demo = tool_entry_point("arm_tasks.bringup.demo")
follow = tool_entry_point("arm_tasks.commands.teleop", "follow")
play = tool_entry_point("arm_tasks.commands.play")
ros2 = tool_entry_point("arm_tasks.ros.ros2_command")
run_task = tool_entry_point("arm_tasks.commands.run_task")
scene = tool_entry_point("arm_tasks.commands.scene")
teach = tool_entry_point("arm_tasks.commands.teleop", "teach")
teleop = tool_entry_point("arm_tasks.commands.teleop")
view = tool_entry_point("arm_tasks.bringup.view")
