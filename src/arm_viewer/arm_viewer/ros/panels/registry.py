# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The one list of the page's folders: where each is shown, and which are folded at first."""

from __future__ import annotations

from rclpy.node import Node

from arm_viewer.panels.interface import PanelEntry


def panel_entries(node: Node) -> tuple[PanelEntry, ...]:
    """Return all panels; those that call services get the node."""
    return ()
