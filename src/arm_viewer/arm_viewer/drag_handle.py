# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The handle at the tool: drag it, and the arm follows; let go, and it is at the tool again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_description.transforms import pose_to_matrix

from .brush import place
from .mailbox import Mailbox
from .shapes import Array

if TYPE_CHECKING:
    import viser

NAME = "/handle"
MOVED = 1e-5  # of an element of the pose's matrix


class DragHandle:
    """viser's transform controls, one for all browsers.

    Args:
        scene: viser's scene.
        mailbox: Takes what users do over to the node's thread.
        dragged: Called there with the pose (4, 4) of the handle in the fixed frame.
        shown: Whether it is seen at first.
    """

    def __init__(
        self,
        scene: viser.SceneApi,
        mailbox: Mailbox,
        dragged: Callable[[Array], None],
        shown: bool,
    ) -> None:
        self._scene, self._mailbox, self._dragged = scene, mailbox, dragged
        self._shown, self._held = shown, False
        self._turns = True
        self._tool: Array | None = None
        self._handle: Any = None

    def set_tool(self, pose: Array | None, size: float) -> None:
        """Put the handle where the tool is, (4, 4) in the fixed frame, unless it is held.

        Args:
            pose: None if the tool is nowhere.
            size: A length that characterises the robot [m].
        """
        if pose is None or (self._tool is not None and np.abs(pose - self._tool).max() < MOVED):
            return
        self._tool = pose.copy()
        if self._handle is None:
            self._handle = self._scene.add_transform_controls(
                NAME, scale=0.28 * size, line_width=3.5, depth_test=False, **place(pose)
            )
            self._handle.visible = self._shown
            self._handle.disable_rotations = not self._turns
            self._handle.on_update(self._on_update)
        elif not self._held:
            self._put(pose)

    def show(self, on: bool) -> None:
        """Show or hide the handle."""
        self._shown = on
        if self._handle is not None:
            self._handle.visible = on

    def allow_turns(self, on: bool) -> None:
        """Let the handle be turned, or only shifted."""
        self._turns = on
        if self._handle is not None:
            self._handle.disable_rotations = not on

    def release(self) -> None:
        """Take it that nobody holds the handle, e.g. because a browser went."""
        self._on_user("end", np.eye(4))

    async def _on_update(self, event: Any) -> None:
        w, x, y, z = event.target.wxyz
        pose = pose_to_matrix(event.target.position, (x, y, z, w))
        phase = event.phase
        self._mailbox.post(lambda: self._on_user(phase, pose))

    def _on_user(self, phase: str, pose: Array) -> None:
        self._held = phase != "end"
        if phase == "update":
            self._dragged(pose)
        elif phase == "end" and self._tool is not None:
            self._put(self._tool)

    def _put(self, pose: Array) -> None:
        for key, value in place(pose).items():
            setattr(self._handle, key, value)
