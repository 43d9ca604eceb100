# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Solids as flat faces, small enough to be sorted by depth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from ..transforms import Matrix, Vector

Rgb: TypeAlias = tuple[float, float, float]

SIDES = 28
# Length of a piece of a cylinder's side, in its radii.
PIECE = 0.8
MOST_CELLS = 12  # along an edge of a box
_SLICES = 10  # of a sphere, from pole to pole
_CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_BOX_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex body where it stands.

    Attributes:
        kind: what it is; a cylinder is along its z.
        size: edges of a box, radius and length of a cylinder, radius of a sphere [m].
        T: (4, 4) base_link <- solid, which is centred there [m].
        colour: red, green, blue, 0 .. 1.
    """

    kind: Literal["box", "cylinder", "sphere"]
    size: tuple[float, ...]
    T: Matrix
    colour: Rgb = (0.5, 0.5, 0.5)


def faces(solid: Solid, fine: bool = True) -> Iterator[Matrix]:
    """Faces of a solid as polygons (k, 3), counter-clockwise seen from outside.

    Args:
        solid: what they enclose.
        fine: cut long sides into pieces.
    """
    made = {"box": _box, "cylinder": _cylinder, "sphere": _sphere}[solid.kind]
    for face in made(solid.size, fine):
        yield face @ solid.T[:3, :3].T + solid.T[:3, 3]


def normal(face: Matrix) -> Vector:
    """Unit vector (3,) out of a face, by Newell's sum over its sides."""
    x = y = z = 0.0
    corners = face.tolist()  # plain numbers: of four corners faster than arrays
    for (ax, ay, az), (bx, by, bz) in zip(corners, corners[1:] + corners[:1], strict=True):
        x += ay * bz - az * by
        y += az * bx - ax * bz
        z += ax * by - ay * bx
    return np.array((x, y, z)) / max(math.hypot(x, y, z), 1e-15)


def _box(size: tuple[float, ...], fine: bool) -> Iterator[Matrix]:
    corners = _CORNERS * size
    cell = max(min(size), max(size) / MOST_CELLS) if fine else max(size)
    for face in _BOX_FACES:
        yield from _cells(corners[list(face)], cell)


def _cells(face: Matrix, cell: float) -> Iterator[Matrix]:
    """Cut a rectangle (4, 3) into cells about as long and wide as said [m]."""
    corner, right, up = face[0], face[1] - face[0], face[3] - face[0]
    columns, rows = (max(1, round(float(np.linalg.norm(e)) / cell)) for e in (right, up))
    for i in range(columns):
        for j in range(rows):
            ends = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
            yield np.array([corner + a / columns * right + b / rows * up for a, b in ends])


def _sphere(size: tuple[float, ...], fine: bool) -> Iterator[Matrix]:
    del fine
    heights = np.linspace(0.0, math.pi, _SLICES + 1)
    angles = np.arange(2 * _SLICES) * (math.pi / _SLICES)
    around = np.column_stack((np.cos(angles), np.sin(angles), np.zeros(len(angles))))
    rings = [size[0] * (math.sin(h) * around - (0.0, 0.0, math.cos(h))) for h in heights]
    for low, high in pairwise(rings):
        for i in range(len(angles)):
            j = (i + 1) % len(angles)
            corners = [low[i], low[j], high[j], high[i]]
            if low is rings[0]:
                del corners[0]
            if high is rings[-1]:
                del corners[3]
            yield np.array(corners)


def _cylinder(size: tuple[float, ...], fine: bool) -> Iterator[Matrix]:
    radius, length = size
    angles = np.arange(SIDES) * (2 * math.pi / SIDES)
    x, y = radius * np.cos(angles), radius * np.sin(angles)
    pieces = max(1, math.ceil(length / (PIECE * radius))) if fine else 1
    heights = np.linspace(-length / 2, length / 2, pieces + 1)
    rings = [np.column_stack((x, y, np.full(SIDES, z))) for z in heights]
    yield from _cap(rings[0][::-1], fine)
    yield from _cap(rings[-1], fine)
    for low, high in pairwise(rings):
        for i in range(SIDES):
            j = (i + 1) % SIDES
            yield np.array((low[i], low[j], high[j], high[i]))


def _cap(rim: Matrix, fine: bool) -> Iterator[Matrix]:
    """The end of a cylinder, in sectors of two sides and these in two parts if fine."""
    if not fine:
        yield rim
        return
    centre = rim.mean(axis=0)
    inner = (rim + centre) / 2
    for i in range(0, SIDES, 2):
        sector = [i, i + 1, (i + 2) % SIDES]
        yield np.vstack((centre, inner[sector]))
        yield np.vstack((rim[sector], inner[sector[::-1]]))
