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
Finder = Callable[[Array, Array], Array | None]
"""Point of the curve that is a step (7,) from a point (7,), or beside that; None if none is."""


class Limits(NamedTuple):
    """Joint limits (7,) each [rad], infinite where there are none."""

    lower: Array
    upper: Array

    def turns(self, q: Array, near: Array) -> Array:
        """Return the whole turns to be added to q (m, 7) to come inside, next to a posture."""
        turns: Array = TURN * np.round((near - q) / TURN)
        over, under = q + turns > self.upper, q + turns < self.lower
        other = turns - TURN * over + TURN * under
        helps = (q + other >= self.lower) & (q + other <= self.upper)
        return np.where(helps, other, turns)

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
    curve = _with_short_visits(curve, limits, near, find)
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


def _with_short_visits(curve: Array, limits: Limits, near: Array, find: Finder) -> Array:
    """Return the curve with a point more wherever it is inside limits between two points only."""
    start, way = curve[:-1] + limits.turns(curve[:-1], near), np.diff(curve, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        to_lower, to_upper = (limits.lower - start) / way, (limits.upper - start) / way
    enter = np.fmin(to_lower, to_upper).max(axis=1)
    leave = np.fmax(to_lower, to_upper).min(axis=1)
    visits = np.flatnonzero((enter > 0.0) & (leave < 1.0) & (enter < leave))
    for j in visits[::-1]:
        point = find(curve[j], 0.5 * (enter[j] + leave[j]) * way[j])
        if point is not None:
            curve = np.insert(curve, j + 1, point, axis=0)
    return curve


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
        way = np.zeros(7)
        way[joint] = bound[joint] - inside[joint]
        point = find(inside, way) if way[joint] else None
        if point is None:
            continue
        kept = np.clip(point, limits.lower, limits.upper)
        if np.abs(kept - point).max() < ROUND_OFF:
            return int(joint), kept[None]
    return int(np.argmin(share)), np.empty((0, 7))
