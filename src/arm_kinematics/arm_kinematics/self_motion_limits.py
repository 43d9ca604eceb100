# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Self-motions inside joint limits: a traced curve, cut where a joint comes to its limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_kinematics.lie import Array

TURN = 2.0 * math.pi
ROUND_OFF = 1e-10
Finder = Callable[[Array, int, float], Array | None]
"""Point of the curve near q (7,) where joint i is at a value; None if there is none."""


class Limits(NamedTuple):
    """Joint limits (7,) each [rad], infinite where there are none."""

    lower: Array
    upper: Array

    def turns(self, q: Array, near: Array) -> Array:
        """Return the whole turns to be added to q (m, 7) to come inside, next to a posture."""
        turns: Array = TURN * np.round((near - q) / TURN)
        turns -= TURN * (q + turns > self.upper)
        turns += TURN * (q + turns < self.lower)
        return turns

    def hold(self, q: Array) -> NDArray[np.bool_]:
        """Return whether each q (m, 7) is inside (m,)."""
        return np.asarray(np.all((q >= self.lower) & (q <= self.upper), axis=-1))


class Arc(NamedTuple):
    """A part of a curve inside limits: points (m, 7); joints at whose limits it ends, or -1."""

    q: Array
    closed: bool
    ends: tuple[int, int]


def arcs_within(
    curve: Array, closed: bool, limits: Limits, near: Array, find: Finder
) -> list[Arc]:
    """Return the parts of a curve (m, 7) that are inside the limits, in turns next to a posture.

    A closed curve is laid out three times in a row, so that a part may go over its seam, and may
    wind on as far as limits of more than a turn allow.
    """
    ring, way = (curve[:-1], curve[-1] - curve[0]) if closed else (curve, 0.0 * curve[0])
    m = len(ring)
    path = np.concatenate([ring - way, ring, ring + way]) if closed else ring
    turns = limits.turns(ring, near)
    todo = limits.hold(ring + turns)
    arcs = []
    for i in np.argsort(np.linalg.norm(ring + turns - near, axis=1), kind="stable"):
        if not todo[i]:
            continue
        here, moved = (m + int(i) if closed else int(i)), path + turns[i]
        start, stop = _stretch(limits.hold(moved), here)
        todo[np.arange(start, stop) % m] = False
        if closed and stop - start == 3 * m:
            arcs.append(Arc(moved[here : here + m + 1], True, (-1, -1)))
        else:
            arcs.append(_arc(moved, start, stop, limits, find))
    return arcs


def _stretch(inside: NDArray[np.bool_], here: int) -> tuple[int, int]:
    """Return start and stop of the run of True about a place."""
    outside = np.flatnonzero(~inside)
    k = int(np.searchsorted(outside, here))
    start = int(outside[k - 1]) + 1 if k > 0 else 0
    return start, int(outside[k]) if k < len(outside) else len(inside)


def _arc(moved: Array, start: int, stop: int, limits: Limits, find: Finder) -> Arc:
    """Return points start to stop of a curve and its ends on the limits."""
    points, ends = [moved[start:stop]], [-1, -1]
    if start > 0:
        joint, end = _end(moved[start], moved[start - 1], limits, find)
        points, ends[0] = [end, *points], joint
    if stop < len(moved):
        joint, end = _end(moved[stop - 1], moved[stop], limits, find)
        points, ends[1] = [*points, end], joint
    return Arc(np.concatenate(points), False, (ends[0], ends[1]))


def _end(inside: Array, outside: Array, limits: Limits, find: Finder) -> tuple[int, Array]:
    """Return the joint that meets its limit first between two points, and where (1 or 0, 7)."""
    bound = np.clip(outside, limits.lower, limits.upper)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(outside == bound, np.inf, (bound - inside) / (outside - inside))
    for joint in np.argsort(share, kind="stable"):
        if share[joint] > 1.0:
            break
        point = find(inside, int(joint), float(bound[joint]))
        if point is None:
            continue
        kept = np.clip(point, limits.lower, limits.upper)
        if np.abs(kept - point).max() < ROUND_OFF:
            return int(joint), kept[None]
    return int(np.argmin(share)), np.empty((0, 7))
