# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The drag handle at the tool, or at another frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.transforms import Array, pose_to_matrix

from arm_viewer.browser.callbacks import CallbackQueue
from arm_viewer.browser.cameras import HANDLE
from arm_viewer.browser.link import present_command
from arm_viewer.browser.shape_drawer import set_pose, viser_pose

if TYPE_CHECKING:
    import viser

HANDLE_NAME = "/handle"
POSE_TOLERANCE = 1e-5  # of an element of the handle's matrix


def hide_handle(client: viser.ClientHandle) -> None:
    """Hide the handle in one browser: its own invisible node replaces it there."""
    client.scene.add_frame(HANDLE_NAME, show_axes=False, visible=False)


class DragHandle:
    """viser's transform controls, shared by all browsers.

    While a user drags it, `on_drag` is called through the queue with its pose (4, 4) in the fixed
    frame.
    """

    def __init__(
        self,
        scene: viser.SceneApi,
        queue: CallbackQueue,
        on_drag: Callable[[Array], None],
        shown: bool,
        name: str = HANDLE_NAME,
    ) -> None:
        self._name = name
        self._scene, self._queue, self._on_drag = scene, queue, on_drag
        self._shown, self._held, self._turns = shown, False, True
        self._tool: Array | None = None
        self._handle: Any = None

    def set_tool(self, pose: Array | None, size: float) -> None:
        """Put the handle at the tool (4, 4), fixed <- tool, unless unknown or a user holds it.

        A handle is sized by a length that characterises the robot [m].
        """
        if pose is None:
            return
        if self._handle is not None and self._handle.scale != HANDLE * size:
            self._handle.scale = HANDLE * size
        former = self._tool
        if former is not None and np.abs(pose - former).max() < POSE_TOLERANCE:
            return
        self._tool = pose.copy()
        if self._handle is None:
            self._handle = self._scene.add_transform_controls(
                self._name, HANDLE * size, line_width=3.5, depth_test=False, **viser_pose(pose)
            )
            self.show(self._shown)
            self.allow_turns(self._turns)
            self._handle.on_update(self._on_update)
        elif not self._held:
            set_pose(self._handle, pose)

    def show(self, on: bool) -> None:
        """Show or hide the handle."""
        self._shown = on
        if self._handle is not None:
            self._handle.visible = on

    def allow_turns(self, on: bool) -> None:
        """Allow rotating the handle, or only moving it."""
        self._turns = on
        if self._handle is not None:
            self._handle.disable_rotations = not on

    def release(self) -> None:
        """Put the handle back to the tool, e.g. because the browser that held it went away."""
        self._held = False
        if self._handle is not None and self._tool is not None:
            set_pose(self._handle, self._tool)

    def put_back(self) -> None:
        """Let all browsers show it where it belongs, also one that has dragged it in vain."""
        if self._handle is not None and (pose := self._tool) is not None:
            size = self._handle.scale / HANDLE
            self._handle.remove()
            self._handle = self._tool = None
            self.set_tool(pose, size)

    async def _on_update(self, event: Any) -> None:
        w, x, y, z = event.target.wxyz
        pose = pose_to_matrix(event.target.position, (x, y, z, w))
        phase = event.phase
        self._queue.post(lambda: self._drag(phase, pose), present_command.get())

    def _drag(self, phase: str, pose: Array) -> None:
        if phase == "end":
            self.release()
            return
        self._held = True
        if phase == "update":
            self._on_drag(pose)
