# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Brings the changes of a scene into viser's scene tree, and places the camera.

The tree is flat: a node a tf frame; visuals, the frame's label and locked markers hang on it, so
that a moving arm costs two small messages a frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from arm_viewer.browser.cameras import Cameras, Postures, round_length
from arm_viewer.browser.frame_drawer import FrameDrawer
from arm_viewer.browser.marker_drawer import MarkerDrawer
from arm_viewer.errors import ViewerError
from arm_viewer.scene.robot import VisualRobot
from arm_viewer.scene.shapes import Array
from arm_viewer.scene.store import Changes
from arm_viewer.scene.tool_trace import PIECES, TraceChanges

if TYPE_CHECKING:
    import viser

    from arm_viewer.scene.meshes import MeshFiles

TRACE_COLOUR = (37, 99, 235)
CAPTION_WIDTH = 36  # Characters a line: so many fit on a phone.
START_SIZE = 0.5  # The view's size before a robot is known [m].


class SceneDrawer:
    """Draws into one viser server. Not thread-safe: used by one thread.

    Args:
        server: viser's server.
        meshes: For visuals and markers that are mesh files.
        switches: `axes` (three axes for each frame), `labels` (its name) and `trace` (the
            tool's path) -> whether they are drawn at first.
        postures: Gives the postures that the cameras are to hold.

    Attributes:
        cameras: Those of the browsers.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        meshes: MeshFiles,
        switches: Mapping[str, bool],
        postures: Postures = tuple,
    ) -> None:
        self._server, self._scene = server, server.scene
        self._on = dict(switches)
        self.cameras = Cameras(server, postures)
        self._frames = FrameDrawer(
            server.scene, meshes, START_SIZE, switches["axes"], switches["labels"]
        )
        self._markers = MarkerDrawer(server.scene, meshes)
        self._trace: dict[int, Any] = {}
        self._caption: Any = None
        self._ground = 0.0
        self._floor(START_SIZE)

    @property
    def size(self) -> float:
        """The length by which frames, floor and path are sized [m]."""
        return START_SIZE if self.cameras.view is None else self.cameras.view.size

    def apply(self, changes: Changes) -> list[ViewerError]:
        """Draw what changed; browsers see it all at once.

        Returns:
            One error for each thing that could not be drawn; all else is drawn.
        """
        problems: list[ViewerError] = []
        with self._server.atomic():
            for name in changes.gone:
                self._frames.remove(name)
            if changes.robot is not None:
                problems += self._set_robot(changes.robot)
            problems += self._frames.move(changes.moved)
            for key in changes.erased:
                self._markers.erase(key)
            for key, placed in changes.drawn.items():
                problems += self._markers.draw(key, placed)
        return problems

    def stand(self, corners: Array) -> None:
        """Take a thing's corners, (n, 3): the floor lies under it, cameras hold it."""
        if not len(corners):
            return
        height = float(corners[:, 2].min())
        if -self.size < height < self._ground:
            self._ground = height
            self._floor(self.size)
        self.cameras.hold(corners)

    def set_caption(self, text: str) -> None:
        """Show a line of text over the arm; empty to hide it."""
        if self._caption is None:
            self._caption = self._scene.add_label(
                "/caption", "", font_screen_scale=0.9, anchor="bottom-center"
            )
        self._caption.text = "\n".join(wrap(text, CAPTION_WIDTH))
        self._caption.visible = bool(text)
        if self.cameras.view is not None:
            self._caption.position = self.cameras.view.caption

    def apply_trace(self, changes: TraceChanges) -> None:
        """Draw what the tool's path grew by."""
        for number in changes.dropped & self._trace.keys():
            self._trace.pop(number).remove()
        for number, points in changes.grown.items():
            pairs = np.stack([points[:-1], points[1:]], axis=1)
            if number in self._trace:
                self._trace[number].points = pairs
                continue
            self._trace[number] = self._scene.add_line_segments(
                # As few names as pieces: the server keeps a word on each name it ever heard.
                f"/trace/{number % (PIECES + 1)}",
                pairs,
                TRACE_COLOUR,
                thickness=0.004 * self.size,
                visible=self._on["trace"],
            )

    def switch(self, name: str, on: bool) -> None:
        """Switch `axes`, `labels` or `trace` on or off."""
        self._on[name] = on
        with self._server.atomic():
            self._frames.switch(self._on["axes"], self._on["labels"])
            for piece in self._trace.values():
                piece.visible = self._on["trace"]

    def _set_robot(self, robot: VisualRobot) -> list[ViewerError]:
        if self.cameras.set_robot(robot):
            self._floor(self.size)
        return self._frames.set_robot(robot, self.size)

    def _floor(self, size: float) -> None:
        cell = round_length(size / 6.0)
        self._scene.add_grid(
            "/floor",
            position=(0.0, 0.0, self._ground - 0.003 * size),  # Just below what lies on it.
            infinite_grid=True,
            cell_size=cell,
            section_size=5.0 * cell,
            cell_color=(216, 222, 230),
            section_color=(180, 190, 203),
            fade_distance=5.0 * size,
            fade_from="origin",
            shadow_opacity=0.22,
        )
