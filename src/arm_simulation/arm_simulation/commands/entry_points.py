# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The executables of this package whose imports are slow."""

from arm_common.signals import tool_entry_point

rehearse = tool_entry_point("arm_simulation.commands.rehearse")
