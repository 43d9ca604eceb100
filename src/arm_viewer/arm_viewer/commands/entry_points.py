# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The executables of this package that are nodes."""

from arm_common.signals import start


def tool_handle() -> int:
    """Run the node tool_handle."""
    return start("arm_viewer.ros.tool_handle_node")


def viewer() -> int:
    """Run the node viewer."""
    return start("arm_viewer.ros.node")
