# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/pictures/test_solids.py
"""The painting order of faces, by a binary space partition.

What is behind the plane of a face that looks towards the eye is painted before that face, the
rest after it; what is on both sides is cut (Fuchs, Kedem and Naylor, "On visible surface
generation by a priori tree structures", SIGGRAPH 1980).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from arm_common.transforms import Matrix, Vector
from numpy.typing import NDArray

_TOLERANCE = 1e-7  # distance of points in a plane, as a fraction of the picture's size
_CANDIDATES = 6  # planes of which the one that cuts least is taken
_PRICE = 8  # of a cut, in faces of difference between the sides


def back_to_front(faces: Sequence[Matrix], walls: Sequence[bool]) -> list[tuple[int, Matrix]]:
    """Return the faces, or what they are cut into, as number and points (k, 3), back to front.

    Args:
        faces: points (k, 3) of each in a view: right, up, towards the eye; a line has two.
        walls: whether each divides the scene, as the faces of solids do; the others, which may
            be many, are painted by their depth where no wall divides them.
    """
    if not len(faces):
        return []
    points = _padded(faces)
    spread = float(np.ptp(points.reshape(-1, 3), axis=0).max())
    tree = _Tree(faces, np.array(walls, dtype=bool), _TOLERANCE * max(spread, 1e-9))
    painted = list[tuple[int, Matrix]]()
    todo = [(np.arange(len(faces)), points, False)]
    while todo:
        numbers, points, is_flat = todo.pop()
        if is_flat or not tree.walls[numbers].any():
            # In one plane, lines and flat shapes are on the walls.
            key = ~tree.walls[numbers] if is_flat else points[..., 2].mean(axis=1)
            order = np.argsort(key, kind="stable").tolist()
            painted += [(int(numbers[i]), _without_padding(points[i])) for i in order]
            continue
        todo += tree.divided(numbers, points)
    return painted


class _Tree:
    """The planes of the faces, which divide other faces."""

    def __init__(self, faces: Sequence[Matrix], walls: NDArray[np.bool_], near: float) -> None:
        self._near = near
        out = np.array([_newell(face) for face in faces])
        sizes = np.linalg.norm(out, axis=1)
        self.walls = walls & (sizes > near * near)
        self._out = out / np.maximum(sizes, 1e-300)[:, None]
        self._out[self._out[:, 2] < 0.0] *= -1.0
        middles = np.array([face.mean(axis=0) for face in faces])
        self._at = np.einsum("ij,ij->i", self._out, middles)

    def divided(
        self, numbers: NDArray[np.int_], points: Matrix
    ) -> list[tuple[NDArray[np.int_], Matrix, bool]]:
        """Return the parts before, in and behind the plane of one of the walls."""
        walls = numbers[self.walls[numbers]]
        tried = walls[np.linspace(0, len(walls) - 1, min(_CANDIDATES, len(walls))).astype(int)]
        lowest, gaps, sides = np.inf, points[..., 0], np.zeros(len(points), dtype=int)
        for wall in np.unique(tried):
            over = points @ self._out[wall] - self._at[wall]
            side = self._sides(over)
            side[numbers == wall] = 0
            price = _PRICE * (side == 2).sum() + abs((side == 1).sum() - (side == -1).sum())
            if price < lowest:
                lowest, gaps, sides = float(price), over, side
        cut = np.flatnonzero(sides == 2)
        halves = [_halves(points[i], gaps[i]) for i in cut]
        parts = []
        for k, sign in enumerate((1, 0, -1)):
            kept = sides == sign
            pieces = [*points[kept], *(half[k // 2] for half in halves if sign)]
            which = np.concatenate([numbers[kept], numbers[cut] if sign else cut[:0]])
            if len(pieces):
                parts.append((which, _padded(pieces), sign == 0))
        return parts

    def _sides(self, over: Matrix) -> NDArray[np.int_]:
        """Return 1 before, -1 behind, 0 in a plane, 2 on both sides, by distances (n, k)."""
        low, high = over.min(axis=1) >= -self._near, over.max(axis=1) <= self._near
        return np.select([low & high, low, high], [0, 1, -1], 2)


def _newell(face: Matrix) -> Vector:
    """Return the normal by Newell's method."""
    out: Vector = np.cross(face, np.roll(face, -1, axis=0)).sum(axis=0)
    return out


def _halves(points: Matrix, over: Vector) -> tuple[Matrix, Matrix]:
    """Return the parts before and behind a plane of a convex face, at distances (k,) from it."""
    before, behind = list[Vector](), list[Vector]()
    for i in range(len(points)):
        j = (i + 1) % len(points)
        for part, sign in ((before, 1.0), (behind, -1.0)):
            if sign * over[i] >= 0.0:
                part.append(points[i])
        if over[i] * over[j] < 0.0:
            crossing = points[i] + over[i] / (over[i] - over[j]) * (points[j] - points[i])
            before.append(crossing)
            behind.append(crossing)
    return _without_padding(np.array(before)), _without_padding(np.array(behind))


def _without_padding(points: Matrix) -> Matrix:
    """Return points without consecutive duplicates."""
    differs = np.append(True, (points[1:] != points[:-1]).any(axis=1))
    kept: Matrix = points[differs]
    closed = len(kept) > 2 and (kept[0] == kept[-1]).all()
    return kept[: len(kept) - int(closed)]


def _padded(faces: Sequence[Matrix]) -> Matrix:
    """Return faces as one array (n, k, 3), padded with their last points."""
    longest = max(map(len, faces))
    index = np.arange(longest)
    return np.array([face[np.minimum(index, len(face) - 1)] for face in faces])
