# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Solids as small flat faces, and how they are seen.

A projection maps the points of a scene to a view, in parallel or through a camera's pinhole;
straight lines stay straight in it, and faces flat. Its `axes` are the rows right, up, towards the
eye (3, 3), in base_link.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from arm_common.transforms import Matrix, Vector
from arm_common.yaml.colours import Rgba
from arm_description.model.elements import LookKind
from arm_description.urdf.appearance import profile
from numpy.typing import ArrayLike

# Direction to the light, in base_link.
LIGHT = np.array((0.35, -0.45, 0.82))
_AMBIENT = 0.62
_SIDES = 28  # of a cylinder
_SLICES = 10  # of a sphere, from pole to pole
_PIECE = 0.4  # length of a face along a cylinder, in radii
_MAX_PIECES = 24  # along a cylinder, or an edge of a box
_CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_BOX_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


@dataclass(frozen=True, eq=False)
class ParallelProjection:
    """A view from far away: right, up and towards the eye in metres."""

    axes: Matrix

    def seen(self, points: Matrix) -> Matrix:
        """Return points (..., 3) in base_link [m] as right, up and towards the eye [m]."""
        turned: Matrix = points @ self.axes.T
        return turned

    def magnification(self, towards: float) -> float:
        """Return how long a metre across is in the view: 1, as all lengths are true."""
        del towards
        return 1.0


@dataclass(frozen=True, eq=False)
class PinholeProjection:
    """The view of a camera at a point: right and up are tangents of angles.

    The third coordinate is one over the depth [1/m]. With it the map is projective, so that the
    order and the visible sides of faces are found as in a parallel projection.
    """

    axes: Matrix
    position: Vector  # of the eye (3,) in base_link [m]
    near: float  # depth from which things are drawn [m]

    def seen(self, points: Matrix) -> Matrix:
        """Return points (..., 3) in base_link [m] as right, up, and what grows towards the eye.

        Points that are nearer than `near` cannot be drawn: they are NaN.
        """
        turned = (points - self.position) @ self.axes.T
        depth = -turned[..., 2:]
        depth = np.where(depth < self.near, np.nan, depth)
        return np.concatenate((turned[..., :2], np.ones_like(depth)), axis=-1) / depth

    def magnification(self, towards: float) -> float:
        """Return how long a metre across is in the view, where the third coordinate is given."""
        return towards


Projection: TypeAlias = ParallelProjection | PinholeProjection


Rgb: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Solid:
    """A body at a pose; those of revolution are about its z."""

    kind: LookKind
    size: tuple[float, ...]  # [m] as in LookShape
    T: Matrix  # (4, 4) base_link <- centre of the solid [m]
    colour: Rgb = (0.5, 0.5, 0.5)  # red, green, blue, 0 .. 1
    opacity: float = 1.0

    def faces(self) -> Matrix:
        """Return small faces (n, 4, 3) in base_link [m], counter-clockwise seen from outside."""
        known = {"box": _box, "cylinder": _cylinder, "sphere": _sphere}
        local = (
            known[self.kind](self.size) if self.kind in known else _turned(self.kind, self.size)
        )
        faces: Matrix = local @ self.T[:3, :3].T + self.T[:3, 3]
        return faces


def solid(kind: LookKind, size: tuple[float, ...], T: Matrix, colour: Rgba) -> Solid:
    """Return a solid of a colour with opacity."""
    return Solid(kind, size, T, colour[:3], colour[3])


def normals(faces: ArrayLike) -> Matrix:
    """Return the outward unit normals (n, 3) of faces (n, k, 3), by Newell's method."""
    corners = np.asarray(faces, dtype=float)
    out = np.cross(corners, np.roll(corners, -1, axis=1)).sum(axis=1)
    unit: Matrix = out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-15)
    return unit


def shaded(colour: Rgb, out: Matrix) -> Matrix:
    """Return the colours (n, 3) of faces by Lambert's law and ambient light."""
    lit = np.maximum(out @ LIGHT, 0.0) / float(np.linalg.norm(LIGHT))
    return np.clip(np.outer(_AMBIENT + (1.0 - _AMBIENT) * lit, colour), 0.0, 1.0)


def _box(size: tuple[float, ...]) -> Matrix:
    corners = _CORNERS * size
    cell = max(min(size), max(size) / _MAX_PIECES)
    return np.vstack([_cells(corners[list(face)], cell) for face in _BOX_FACES])


def _cells(face: Matrix, cell: float) -> Matrix:
    """Divide a rectangle (4, 3) into cells of about the given size [m]."""
    right, up = face[1] - face[0], face[3] - face[0]
    columns, rows = (max(1, math.ceil(np.linalg.norm(edge) / cell - 0.5)) for edge in (right, up))
    a, b = np.arange(columns + 1) / columns, np.arange(rows + 1) / rows
    grid = face[0] + a[:, None, None] * right + b[None, :, None] * up
    return _quads(grid)


def _sphere(size: tuple[float, ...]) -> Matrix:
    angles = np.linspace(0.0, math.pi, _SLICES + 1)
    return _revolved(size[0] * np.column_stack((np.sin(angles), -np.cos(angles))))


def _cylinder(size: tuple[float, ...]) -> Matrix:
    radius, length = size
    pieces = min(max(1, math.ceil(length / (_PIECE * radius))), _MAX_PIECES)
    side = [(radius, z) for z in np.linspace(-0.5 * length, 0.5 * length, pieces + 1)]
    ends = [[(r * radius, z * length) for r in (0.0, 0.5)] for z in (-0.5, 0.5)]
    return _revolved(np.array([*ends[0], *side, *ends[1][::-1]]))


def _turned(kind: LookKind, size: tuple[float, ...]) -> Matrix:
    """Return the faces of a cone, ring or fillet, in pieces as a cylinder's."""
    outline, widest = profile(kind, size), max(size[:2])
    pieces = []
    for start, end in pairwise(outline):
        length = float(np.linalg.norm(end - start))
        count = min(max(1, math.ceil(length / (_PIECE * widest))), _MAX_PIECES)
        pieces.append(start + np.arange(count)[:, None] / count * (end - start))
    return _revolved(np.vstack((*pieces, outline[-1:])))


def _revolved(outline: Matrix) -> Matrix:
    """Return the faces of a surface of revolution about z: outline (k, 2) of radius, height."""
    angles = np.arange(_SIDES + 1) * (2.0 * math.pi / _SIDES)
    radius, height = outline.T
    x, y = np.outer(np.cos(angles), radius), np.outer(np.sin(angles), radius)
    return _quads(np.stack((x, y, np.broadcast_to(height, x.shape)), axis=-1))


def _quads(grid: Matrix) -> Matrix:
    """Return the faces (n, 4, 3) between the points of a grid (i, j, 3)."""
    corners = (grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:])
    return np.stack(corners, axis=2).reshape(-1, 4, 3)
