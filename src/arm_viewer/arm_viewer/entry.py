# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The node of this package that can be told to end while it is still being imported."""

from arm_description.quiet_start import start


def tool_handle() -> int:
    """Run the node tool_handle."""
    return start("arm_viewer.tool_handle_node")
