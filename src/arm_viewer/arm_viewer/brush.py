# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where and in which colour something is drawn, as viser wants to be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .quaternion import quaternion
from .shapes import Array, Colour

if TYPE_CHECKING:
    import viser

    from .mesh_files import MeshFiles


@dataclass(frozen=True)
class Brush:
    """All that is needed to draw one shape, but the shape.

    Attributes:
        scene: viser's scene.
        meshes: For mesh files.
        name: The node's name; its parent decides the frame.
        pose: (4, 4), parent <- shape.
        colour: Red, green, blue, alpha.
    """

    scene: viser.SceneApi
    meshes: MeshFiles
    name: str
    pose: Array
    colour: Colour

    @property
    def place(self) -> dict[str, Any]:
        """Position and orientation as viser's keyword arguments."""
        return place(self.pose)

    @property
    def rgb(self) -> tuple[float, float, float]:
        """The colour without its alpha."""
        return self.colour[:3]

    @property
    def surface(self) -> dict[str, Any]:
        """Pose and opacity as viser's keyword arguments for solids."""
        alpha = self.colour[3]
        solid = alpha >= 1.0
        return {"opacity": None if solid else alpha, "cast_shadow": solid, **self.place}


def place(pose: Array) -> dict[str, Any]:
    """Return a (4, 4) pose as viser's keyword arguments position and wxyz."""
    return {"position": pose[:3, 3], "wxyz": quaternion(pose)}
