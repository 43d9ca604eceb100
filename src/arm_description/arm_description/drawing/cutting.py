# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Cut away what of a face is inside another shape, where it can never be seen.

All shapes are convex: what is outside of one is outside of at least one of its planes. What is
left of all faces does not pass through anything, so that sorting it by depth is enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ..transforms import Matrix, Vector
from .solids import SIDES, Solid, faces, normal

# Nearer than this is on a plane [m].
TOUCHING = 1e-7


def planes(solid: Solid) -> tuple[Matrix, Vector]:
    """Planes of a solid's faces.

    Returns:
        Unit normals out of it (p, 3), and their distances from the origin (p,) [m].
    """
    if solid.kind == "box":
        normals = np.vstack((np.eye(3), -np.eye(3)))
        distances = np.tile(np.array(solid.size) / 2, 2)
    elif solid.kind == "cylinder":
        radius, length = solid.size
        angles = (np.arange(SIDES) + 0.5) * (2 * math.pi / SIDES)
        sides = np.column_stack((np.cos(angles), np.sin(angles), np.zeros(SIDES)))
        normals = np.vstack(((0.0, 0.0, 1.0), (0.0, 0.0, -1.0), sides))
        inner = radius * math.cos(math.pi / SIDES)
        distances = np.array([length / 2, length / 2, *[inner] * SIDES])
    else:
        polygons = list(faces(solid))
        normals = np.array([normal(polygon) for polygon in polygons])
        return normals, np.array([n @ p[0] for n, p in zip(normals, polygons, strict=True)])
    turned = normals @ solid.T[:3, :3].T
    return turned, distances + turned @ solid.T[:3, 3]


def cut(faces: Sequence[Matrix], by: tuple[Matrix, Vector]) -> Iterator[Matrix]:
    """What of some faces, convex polygons (k, 3), is outside of the planes of a shape."""
    normals, distances = by
    starts = np.cumsum([0, *map(len, faces[:-1])])
    over = np.vstack(faces) @ normals.T - distances
    lowest = np.minimum.reduceat(over, starts)
    apart = set(np.flatnonzero((lowest > -TOUCHING).any(axis=1)).tolist())
    for index, face in enumerate(faces):
        if index in apart:
            yield face
        else:
            yield from _outside(face, normals, distances)


def _outside(face: Matrix, normals: Matrix, distances: Vector) -> Iterator[Matrix]:
    """Go round the planes: give away what is beyond each, keep what is before it."""
    for out, distance in zip(normals, distances, strict=True):
        over = face @ out - distance
        if (over < TOUCHING).all():
            continue
        beyond = _half(face, over)
        if len(beyond) > 2:
            yield beyond
        face = _half(face, -over)
        if len(face) < 3:
            return


def _half(face: Matrix, over: Vector) -> Matrix:
    """The part of a convex polygon where a linear function of its corners is not negative."""
    points = []
    for i in range(len(face)):
        j = (i + 1) % len(face)
        if over[i] >= 0.0:
            points.append(face[i])
        if (over[i] < 0.0) != (over[j] < 0.0):
            points.append(face[i] + (face[j] - face[i]) * (over[i] / (over[i] - over[j])))
    return np.array(points)
