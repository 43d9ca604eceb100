# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Clearance along a joint path, proven between its points, too.

During a straight joint motion by dq, two bodies approach by at most sum(lever |dq|). Between two
points with distances d1 and d2 they cannot touch if that bound is below d1 + d2. Otherwise the
segment is halved, until no pair approaches by more than a millimetre (Schwarzer, Saha and
Latombe, "Adaptive dynamic collision checking", IEEE Transactions on Robotics 21, 2005).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array

from arm_tasks.planning.collision.checker import AllowedContact, Clearance, CollisionChecker

_FINE = 1e-3  # m; segments on which no pair approaches by more are not divided


@dataclass(frozen=True)
class PathClearance:
    """Clearance of a path."""

    nearest: Clearance  # the nearest pair on the whole path; if it penetrates, the deepest
    hit_at: float | None = None  # fraction of the joint path at the first collision, or None


class _PathCheck:
    """Check of one path through rows (m, n) of joint positions [rad or m]."""

    def __init__(
        self, checker: CollisionChecker, rows: Array, width: float, allowed: AllowedContact | None
    ) -> None:
        self._checker, self._rows, self._width = checker, rows, width
        self._allowed = checker.allowed_contacts(allowed) if allowed else 0.0
        steps = np.abs(np.diff(rows, axis=0))
        self._travel = np.vstack([np.zeros(rows.shape[1]), np.cumsum(steps, axis=0)])
        self._nearest = Clearance(math.inf)
        self._hit: float | None = None

    def run(self) -> PathClearance:
        end = float(len(self._rows) - 1)
        first = self._distances(0.0)
        if end > 0.0:
            self._between(0.0, end, first, self._distances(end))
        travel = self._travel.sum(axis=1)
        if self._hit is None:
            return PathClearance(self._nearest)
        share = float(self._at(travel[:, None], self._hit)[0]) / max(float(travel[-1]), 1e-12)
        return PathClearance(self._nearest, share)

    def _between(self, a: float, b: float, at_a: Array, at_b: Array) -> None:
        approach = self._checker.levers @ (self._at(self._travel, b) - self._at(self._travel, a))
        unproven = approach >= at_a + at_b
        if not unproven.any() or approach[unproven].max() < _FINE:
            return
        middle = 0.5 * (a + b)
        at_middle = self._distances(middle)
        self._between(a, middle, at_a, at_middle)
        self._between(middle, b, at_middle, at_b)

    def _distances(self, s: float) -> Array:
        """Return the distances of all pairs at row s, which may be fractional."""
        distances = self._checker.distances(self._at(self._rows, s), self._width)
        found = self._checker.clearance(distances, self._allowed)
        if found.penetrates:
            self._hit = s if self._hit is None else min(s, self._hit)
        if found.distance < self._nearest.distance:
            self._nearest = found
        return np.asarray(distances + self._allowed)

    def _at(self, rows: Array, s: float) -> Array:
        i = max(min(int(s), len(rows) - 2), 0)
        following = rows[min(i + 1, len(rows) - 1)]
        return np.asarray(rows[i] + (s - i) * (following - rows[i]))


def clearance_along(
    checker: CollisionChecker,
    rows: Array,
    width: float,
    allowed: AllowedContact | None = None,
) -> PathClearance:
    """Return the clearance of a path through rows (m, n), straight between them [rad or m].

    The jaws have a width [m]; a contact may be allowed.
    """
    return _PathCheck(checker, rows, width, allowed).run()


def clearance_with_jaws(
    checker: CollisionChecker,
    rows: Array,
    widths: tuple[float, float],
    allowed: AllowedContact | None = None,
) -> PathClearance:
    """Return the clearance of a path while the jaws move from one width to another [m].

    They may have any width between at any point of the path. The collision found first along the
    path counts, else the nearest pair.
    """
    if widths[0] == widths[1]:
        return clearance_along(checker, rows, widths[0], allowed)
    paths = [clearance_along(checker, rows, w, allowed) for w in _sampled(*widths)]
    hits = [path for path in paths if path.hit_at is not None]
    if hits:
        return min(hits, key=lambda path: path.hit_at or 0.0)
    return min(paths, key=lambda path: path.nearest.distance)


def _sampled(start: float, end: float) -> Array:
    return np.linspace(start, end, 1 + math.ceil(abs(end - start) / _FINE))


def clearance_of_jaws(checker: CollisionChecker, q: Array, start: float, end: float) -> Clearance:
    """Return the clearance while the jaws move from one width to another [m].

    Closing jaws may touch payloads.
    """
    allowed = checker.allowed_contacts() if end < start else 0.0
    widths = _sampled(start, end)[1:]
    near = [checker.clearance(checker.distances(q, float(w)) + allowed) for w in widths]
    return min(near, key=lambda found: found.distance, default=Clearance(math.inf))
