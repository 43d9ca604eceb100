# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Solids as flat faces, small enough to be sorted by depth.

Cut away what of a face is inside another shape, where it can never be seen.

All shapes are convex: what is outside of one is outside of at least one of its planes. What is
left of all faces does not pass through anything, so that sorting it by depth is enough.

Which solids are painted before all others, such as the table that everything stands on.

What is left over is sorted face by face; of a large face beside small ones the depth says little.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from arm_common.transforms import Matrix, Vector

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


def ranks(
    solids: Sequence[Solid],
    planes: Sequence[tuple[Matrix, Vector]],
    besides: Sequence[Matrix],
    view: Matrix,
) -> list[int]:
    """Return a rank of each solid: lower ones are painted first, equal ones by their depth.

    A solid is painted before all that is beyond one of its planes that looks at the eye.

    Args:
        solids: what is painted.
        planes: of their faces.
        besides: points (k, 3) of what has the last rank anyhow.
        view: rows right, up, towards the eye.
    """
    corners = [np.vstack(list(faces(solid, fine=False))) for solid in solids]
    result, left = [len(solids)] * len(solids), list(range(len(solids)))
    for rank in range(len(solids)):
        for index in left:
            others = [corners[other] for other in left if other != index] + [*besides]
            if others and _behind(planes[index], np.vstack(others), view):
                result[index] = rank
                left.remove(index)
                break
        else:
            break
    return result


def _behind(planes: tuple[Matrix, Vector], points: Matrix, view: Matrix) -> bool:
    """Whether all points (k, 3) are beyond one of the planes that look at the eye."""
    normals, distances = planes
    towards = normals @ view[2] > TOUCHING
    over = points @ normals[towards].T - distances[towards]
    return bool((over > -TOUCHING).all(axis=0).any())
