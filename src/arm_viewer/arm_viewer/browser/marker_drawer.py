# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Draws markers; of a marker that is published again only the changes are sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arm_viewer.browser.frame_drawer import node_of, quoted
from arm_viewer.browser.shape_drawer import DrawContext, draw, set_pose
from arm_viewer.errors import ViewerError
from arm_viewer.scene.marker_store import MarkerKey, PlacedMarker
from arm_viewer.scene.shapes import TextLabel

if TYPE_CHECKING:
    import viser

    from arm_viewer.scene.meshes import MeshFiles


@dataclass
class _Drawn:
    name: str
    placed: PlacedMarker
    handle: Any


class MarkerDrawer:
    """The nodes of all markers. Not thread-safe: used by one thread."""

    def __init__(self, scene: viser.SceneApi, meshes: MeshFiles) -> None:
        self._scene, self._meshes = scene, meshes
        self._drawn: dict[MarkerKey, _Drawn] = {}

    def draw(self, key: MarkerKey, placed: PlacedMarker) -> list[ViewerError]:
        """Draw a marker that is new, has changed, or was only published again."""
        name = node_name(key, placed)
        drawn = self._drawn.get(key)
        if drawn is not None and drawn.name == name and _adapt(drawn, placed):
            return []
        if drawn is not None and drawn.name != name:
            self.erase(key)
        drawing = placed.drawing
        context = DrawContext(self._scene, self._meshes, name, placed.pose, drawing.colour)
        try:
            handle = draw(drawing.shape, context)  # Replaces a node of the same name.
        except ViewerError as error:
            self.erase(key)
            return [error]
        self._drawn[key] = _Drawn(name, placed, handle)
        return []

    def erase(self, key: MarkerKey) -> None:
        """Remove a marker, if it was drawn."""
        drawn = self._drawn.pop(key, None)
        if drawn is not None:
            drawn.handle.remove()


def node_name(key: MarkerKey, placed: PlacedMarker) -> str:
    """Return the name of a marker's node, a child of its frame's node."""
    parent = node_of(placed.frame) if placed.frame else ""
    return f"{parent}/markers/{quoted(key.topic)}/{quoted(key.namespace)}/{key.id}"


def _adapt(drawn: _Drawn, placed: PlacedMarker) -> bool:
    """Update a drawn marker's pose and text; return False if it must be redrawn."""
    old, new = drawn.placed.drawing, placed.drawing
    if isinstance(old.shape, TextLabel) and isinstance(new.shape, TextLabel):
        if old.shape.height != new.shape.height:
            return False
        drawn.handle.text = new.shape.text
    elif old.shape != new.shape or old.colour != new.colour:
        return False
    if not np.array_equal(drawn.placed.pose, placed.pose):
        set_pose(drawn.handle, placed.pose)
    drawn.placed = placed
    return True
