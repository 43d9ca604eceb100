# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A scene as what can be drawn on paper: solids, loose faces and lines, words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from arm_description.drawing import Loose, Solid

from .. import shapes
from ..errors import ViewerError
from ..mesh_files import MeshFiles, share_folder
from ..shapes import Array, Colour, Shape
from .scenes import Scene

PATH_COLOUR = (0.15, 0.39, 0.92)
PATH_WIDTH = 0.004  # of the robot's reach
SEEN = 0.05  # opacity; what is fainter is left out, all else is drawn solid


@dataclass
class Drawn:
    """What is drawn.

    Attributes:
        solids: Bodies.
        loose: Faces and lines.
        words: Texts and their places (3,) [m].
    """

    solids: list[Solid] = field(default_factory=list)
    loose: list[Loose] = field(default_factory=list)
    words: list[tuple[str, Array]] = field(default_factory=list)


def drawn(scene: Scene) -> Drawn:
    """Return all that is drawn of a scene, in the frame of the robot's root link."""
    result = Drawn()
    for shape, T, colour in _all(scene):
        if colour[3] >= SEEN and type(shape) in _KINDS:
            _KINDS[type(shape)](result, shape, T, colour)
    result.words = [word for word in result.words if word[0] != scene.text]
    width = PATH_WIDTH * scene.robot.reach
    result.loose += [Loose(np.array(ends), PATH_COLOUR, width) for ends in pairwise(scene.path)]
    return result


def _all(scene: Scene) -> Iterator[tuple[Shape, Array, Colour]]:
    for visual in scene.robot.visuals:
        yield visual.shape, scene.frames[visual.link] @ visual.pose, visual.colour
    for placed in scene.markers:
        if placed.frame in scene.frames or not placed.frame:
            frame = scene.frames[placed.frame] if placed.frame else np.eye(4)
            yield placed.drawing.shape, frame @ placed.pose, placed.drawing.colour


def _box(to: Drawn, shape: shapes.Box, T: Array, colour: Colour) -> None:
    to.solids.append(Solid("box", shape.size, T, colour[:3]))


def _cylinder(to: Drawn, shape: shapes.Cylinder, T: Array, colour: Colour) -> None:
    size = (0.25 * sum(shape.diameters), shape.length)
    to.solids.append(Solid("cylinder", size, T, colour[:3]))


def _sphere(to: Drawn, shape: shapes.Ellipsoid, T: Array, colour: Colour) -> None:
    to.solids.append(Solid("sphere", (sum(shape.diameters) / 6.0,), T, colour[:3]))


def _mesh(to: Drawn, shape: shapes.MeshFile, T: Array, colour: Colour) -> None:
    """Draw the box that holds a mesh; one that cannot be read is left out."""
    try:
        low, high = np.array(_MESHES.load(shape.uri).bounds) * shape.scale
    except ViewerError:
        return
    middle = T.copy()
    middle[:3, 3] += T[:3, :3] @ (0.5 * (low + high))
    x, y, z = np.abs(high - low).tolist()
    to.solids.append(Solid("box", (x, y, z), middle, colour[:3]))


def _triangles(to: Drawn, shape: shapes.Triangles, T: Array, colour: Colour) -> None:
    corners = shape.vertices @ T[:3, :3].T + T[:3, 3]
    own = shape.colours
    for i in range(0, len(corners), 3):
        rgb = colour[:3] if own is None else own[i : i + 3].mean(axis=0)
        to.loose.append(Loose(corners[i : i + 3], tuple(rgb)))


def _lines(to: Drawn, shape: shapes.Lines, T: Array, colour: Colour) -> None:
    ends = shape.points @ T[:3, :3].T + T[:3, 3]
    own = shape.colours
    for i, pair in enumerate(ends):
        rgb = colour[:3] if own is None else own[i].mean(axis=0)
        to.loose.append(Loose(pair, tuple(rgb), shape.width))


def _text(to: Drawn, shape: shapes.Text, T: Array, colour: Colour) -> None:
    to.words.append((shape.text, T[:3, 3]))


_MESHES = MeshFiles(share_folder)
_KINDS: dict[type[Shape], Callable[[Drawn, Any, Array, Colour], None]] = {
    shapes.Box: _box,
    shapes.Cylinder: _cylinder,
    shapes.Ellipsoid: _sphere,
    shapes.MeshFile: _mesh,
    shapes.Triangles: _triangles,
    shapes.Lines: _lines,
    shapes.Text: _text,
}
