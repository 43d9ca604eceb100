# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Shapes as flat faces, small enough to be sorted by depth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ..transforms import Matrix, Vector
from ..urdf.parts import Shape

SIDES = 28
# Length of a piece of a cylinder's side, in its radii.
PIECE = 0.8
_CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_BOX_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def faces(shape: Shape, pose: Matrix, fine: bool = True) -> Iterator[Matrix]:
    """Faces of a shape as polygons (k, 3), counter-clockwise seen from outside.

    Args:
        shape: a cylinder or a box.
        pose: (4, 4) of its link.
        fine: cut long sides into pieces.
    """
    T = pose @ shape.origin.matrix
    for face in _box(shape.size) if shape.kind == "box" else _cylinder(shape.size, fine):
        yield face @ T[:3, :3].T + T[:3, 3]


def normal(face: Matrix) -> Vector:
    """Unit vector (3,) out of a face, by Newell's sum over its sides."""
    area = np.cross(face, np.roll(face, -1, axis=0)).sum(axis=0)
    unit: Vector = area / max(float(np.linalg.norm(area)), 1e-15)
    return unit


def _box(size: tuple[float, ...]) -> Iterator[Matrix]:
    corners = _CORNERS * size
    for face in _BOX_FACES:
        yield corners[list(face)]


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
