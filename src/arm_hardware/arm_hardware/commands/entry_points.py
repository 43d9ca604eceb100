# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The executables of this package whose imports are slow: the node, and commands to it."""

from arm_common.signals import node_entry_point, tool_entry_point

_COMMANDS = "arm_hardware.commands.driver"

driver = node_entry_point(_COMMANDS)
hardware = node_entry_point("arm_hardware.ros.process")

arm = tool_entry_point(_COMMANDS, "arm")
disarm = tool_entry_point(_COMMANDS, "disarm")
reset = tool_entry_point(_COMMANDS, "reset")
stop = tool_entry_point(_COMMANDS, "stop")
