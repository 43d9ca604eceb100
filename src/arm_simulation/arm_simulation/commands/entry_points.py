# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Executables of this package whose imports are slow: its nodes and the command to the driver."""

from arm_common.signals import node_entry_point, tool_entry_point

contact_world = node_entry_point("arm_simulation.ros.contact_world_node")
nut_world = node_entry_point("arm_simulation.ros.nut_world_node")

rehearse = tool_entry_point("arm_simulation.commands.rehearse")
