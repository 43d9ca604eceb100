# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of many triangles by a depth buffer, in numpy: no graphics card, no display."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from arm_common.transforms import Matrix, Vector
from numpy.typing import NDArray

Pixels: TypeAlias = NDArray[np.uint8]
Indices: TypeAlias = NDArray[np.intp]
_FINER = 2  # points per pixel and axis


@dataclass(frozen=True)
class Camera:
    """A parallel projection."""

    view: Matrix  # rows right, up, towards the eye (3, 3), in base_link
    centre: Vector  # point in the middle of the picture (3,) [m]
    width: float  # of the picture [m]
    size: tuple[int, int]  # of the picture, width and height [pixel]

    def project(self, points: Matrix) -> Matrix:
        """Return column, row [pixel] and depth towards the eye [m] of points (..., 3)."""
        seen: Matrix = (points - self.centre) @ self.view.T
        scale = self.size[0] / self.width
        columns = self.size[0] / 2.0 + seen[..., 0] * scale
        rows = self.size[1] / 2.0 - seen[..., 1] * scale
        return np.stack([columns, rows, seen[..., 2]], axis=-1)


def render(
    triangles: Matrix, colours: Matrix, camera: Camera, paper: tuple[float, float, float]
) -> Pixels:
    """Return the picture (height, width, 3) of triangles (n, 3, 3) [m], each of one colour (n, 3).

    The nearest one is visible in each point; colours and paper are 0 .. 1.
    """
    width, height = (side * _FINER for side in camera.size)
    corners = camera.project(triangles)
    corners[..., :2] *= _FINER
    index, place, near = _points(corners, width, height)
    depth = np.full(width * height, -np.inf)
    np.maximum.at(depth, place, near)
    nearest = near == depth[place]
    owner = np.full(width * height, len(triangles))
    owner[place[nearest]] = index[nearest]
    shown = np.vstack([colours, paper])[owner]
    grid = (height // _FINER, _FINER, width // _FINER, _FINER, 3)
    picture: Pixels = (255.0 * shown.reshape(grid).mean(axis=(1, 3)) + 0.5).astype(np.uint8)
    return picture


def _points(corners: Matrix, width: int, height: int) -> tuple[Indices, Indices, Vector]:
    """Return triangle, place in the picture, and depth of the points inside the triangles.

    A triangle covers a span of columns in each row that it crosses.
    """
    y = corners[..., 1]
    first, rows = _span(y.min(axis=1), y.max(axis=1), height)
    which = np.repeat(np.arange(len(corners)), rows)
    row = first[which] + _counted(rows)
    left, right = _crossed(corners[which], np.asarray(row + 0.5, dtype=np.float64))
    begin, columns = _span(left, right, width)
    line = np.repeat(np.arange(len(which)), columns)
    column = begin[line] + _counted(columns)
    origin, slope = _depths(corners)
    at_row = origin[which] + slope[which, 1] * (row + 0.5)
    depth = at_row[line] + slope[which, 0][line] * (column + 0.5)
    return which[line], row[line] * width + column, depth


def _span(low: Vector, high: Vector, limit: int) -> tuple[Indices, Indices]:
    """Return the first cell whose middle lies between two numbers, and how many do."""
    begin, end = (np.clip(np.ceil(v - 0.5), 0, limit).astype(np.intp) for v in (low, high))
    return begin, np.maximum(end - begin, 0)


def _counted(counts: Indices) -> Indices:
    """Return 0, 1, ... for each count, one after the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _crossed(corners: Matrix, y: Vector) -> tuple[Vector, Vector]:
    """Return where triangles (n, 3, 3) begin and end in a row (n,)."""
    left, right = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for i in range(3):
        a, b = corners[:, i], corners[:, (i + 1) % 3]
        crosses = (a[:, 1] <= y) != (b[:, 1] <= y)
        rise = np.where(crosses, b[:, 1] - a[:, 1], 1.0)
        x = a[:, 0] + (y - a[:, 1]) / rise * (b[:, 0] - a[:, 0])
        left = np.where(crosses, np.minimum(left, x), left)
        right = np.where(crosses, np.maximum(right, x), right)
    return left, np.maximum(right, -1.0)


def _depths(corners: Matrix) -> tuple[Vector, Matrix]:
    """Return the depth at column and row 0, and its slopes (n, 2), of the triangles' planes."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    out = np.cross(b - a, c - a)
    slope = -out[:, :2] / np.where(out[:, 2:] == 0.0, np.inf, out[:, 2:])
    return a[:, 2] - np.einsum("ij,ij->i", slope, a[:, :2]), slope
