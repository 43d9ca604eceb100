# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is chosen when a page is opened."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PageSettings:
    """The choices; those of the same name are parameters of the node, which explains them."""

    host: str = "127.0.0.1"
    port: int = 0
    allowed_hosts: str = ""
    robot: str = ""
    mesh_path: str = ""
    scene: str = ""
    opened_file: str = ""
    fixed_frame: str = ""
    prefix: str = ""
    tool_frame: str = ""
    portrait: bool = False
    show_axes: bool = True
    show_labels: bool = False
    show_trace: bool = True

    @property
    def tool(self) -> str:
        """The frame whose path is drawn, and which the handle drags."""
        return self.tool_frame or f"{self.prefix}tool0"
