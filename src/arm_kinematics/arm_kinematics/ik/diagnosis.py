# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of targets without a solution: solves relaxed problems until one has a solution.

If dropping the joint limits helps, the limits are the reason, and the joints that violate them
are named. If dropping the orientation helps, it is the orientation. Otherwise the position itself
is out of reach.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array
from arm_description.model.units import SHOWN

from arm_kinematics.ik.result import IkStatus, Reason, joint_list
from arm_kinematics.ik.search_model import SearchModel
from arm_kinematics.kernels.compiled import search
from arm_kinematics.kernels.layout import (
    Orientation,
    Records,
    empty_result,
    used_slots,
    with_slots,
)

_TIGHT = 1e3
"""One over the smallest tolerance [m or rad] that is loose."""
_STARTS = 48
_SLOTS = 16
_POLISHED, _BEST_STARTS = 8, 32
"""Descents for the best effort: of one weighting, of several."""
_DIGITS = 6
"""Decimals to which two minima are the same."""
_WEAK = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
"""Weights of a radian, as shares of the arm's length, until the position has priority."""


def has_loose_bounds(opt: Records) -> bool:
    """Return whether a component that counts has a loose tolerance."""
    return bool((opt["bounds"] * (opt["bounds"] < _TIGHT)).any())


class _TimeIsUpError(Exception):
    """The deadline passed between two calls of the search."""


def diagnose(
    model: SearchModel, T: Array, seed: Array, opt: Records, out: Records, deadline: float
) -> tuple[Reason | None, Records]:
    """Return why a target has no solution, and the best effort (a single-slot result).

    ``out`` is the result of the search. If the reason is None, the best effort is a solution.
    """
    out = with_slots(out, out["slots"][:1], int(out["solutions"]))
    diagnosis = _Diagnosis(model, T, seed, opt, out, deadline)
    try:
        reason, best = diagnosis.result()
        found = diagnosis.descent(opt, best["slots"]["q"][0].copy())
        return (None, found) if found["solutions"] else (reason, best)
    except _TimeIsUpError:
        clause = f"the time ran out after {int(out['starts'])} starts, before a solution was found"
        return Reason(IkStatus.TIMEOUT, clause, _joints_at_limits(model, out)), out


@dataclass(frozen=True)
class _Diagnosis:
    """Relaxed problems for one target, under the deadline of its options; as in `diagnose`."""

    model: SearchModel
    T: Array
    seed: Array
    opt: Records
    out: Records
    deadline: float

    def result(self) -> tuple[Reason | None, Records]:
        """Return the reason and the best effort, as `diagnose` does."""
        opt, model = self.opt, self.model
        if (found := self._within_loose_tolerances())["solutions"]:
            return None, found
        beyond = self._beyond_limits(opt)
        if len(beyond):
            joints, clause, q = _limit_violations(model, beyond)
            if not joints and (found := self.descent(opt, q))["solutions"]:
                return None, found
            clause = f"joint limits are in the way: {clause}"
            return Reason(IkStatus.JOINT_LIMIT, clause, joints), self._polished()
        position_only = opt.copy()
        position_only["orientation"] = Orientation.NOTHING
        position_only["orientation_box"] = 0.0
        for part in ("weights", "bounds", "even"):
            position_only[part][3:] = 0.0
        if opt["orientation"] != Orientation.NOTHING and (there := self._meeting(position_only)):
            status = IkStatus.UNREACHABLE_ORIENTATION
            clause = "the position is within reach, but not with this orientation"
            best_effort = self._position_first(there)
            return Reason(status, clause, _joints_at_limits(model, best_effort)), best_effort
        status, clause = IkStatus.UNREACHABLE_POSITION, "the position is out of reach"
        best_effort = self._polished()
        joints = _joints_at_limits(model, best_effort)
        if opt["orientation"] != Orientation.NOTHING and len(
            beyond := self._beyond_limits(position_only)
        ):
            joints, passing, _ = _limit_violations(model, beyond)
            clause += f" within the joint limits; beyond them, with {passing}, the orientation is"
        return Reason(status, clause, joints), best_effort

    def _within_loose_tolerances(self) -> Records:
        """Return a solution that a search gives up too early.

        It is at an edge of unequal tolerances, whose weights make a valley too narrow for steps,
        or near an exact minimum.
        """
        opt, found = self.opt, self.out
        if not has_loose_bounds(opt):
            return found
        even = opt.copy()
        even["weights"], even["reachable_cost"] = opt["even"], math.inf
        inside = self._search(even, 1)
        if inside["solutions"]:
            found = self.descent(opt, inside["slots"]["q"][0].copy())
        tried: set[bytes] = set()  # most starts end in the same few minima
        for start in range(_BEST_STARTS):
            if found["solutions"] or self._is_late():
                break
            minimum = self._descent_to_minimum(opt, self.seed, start)["slots"]["q"][0]
            if (rounded := np.round(minimum, _DIGITS).tobytes()) not in tried:
                tried.add(rounded)
                found = self.descent(opt, minimum.copy())
        return found

    def _beyond_limits(self, opt: Records) -> Array:
        """Return solutions (k, size) that ignore the limits of some rows.

        A redundant arm also gets those with a single joint beyond its limits.
        """
        size = self.model.size
        relaxed = [(_SLOTS, np.ones(size, dtype=bool))]
        if opt["smallest_gain"]:
            relaxed += [(1, row) for row in np.eye(size, dtype=bool)]
        solutions = [np.empty((0, size))]
        for slots, free in relaxed:
            out = self._search(opt, slots, free)
            if out["solutions"]:
                solutions.append(used_slots(out)["q"])
            elif slots > 1:
                break
        return np.vstack(solutions)

    def _search(self, opt: Records, slots: int, free: Array | None = None) -> Records:
        """Return the result of a search, without the limits of the rows that are free."""
        constants = self.model.constants
        if free is not None:
            constants = constants.copy()
            constants["lower"][1:][free], constants["upper"][1:][free] = -math.inf, math.inf
        out = empty_result(self.model.size, slots)
        while out["starts"] < _STARTS and out["solutions"] < slots:
            if self._is_late():
                raise _TimeIsUpError
            search(constants, opt, self.T, self.seed, out)
        return out

    def descent(self, opt: Records, q: Array, start: int = 0) -> Records:
        """Return the result of one descent from rows q, or from another start about them.

        Its distance is that from the seed.
        """
        opt, out = opt.copy(), empty_result(self.model.size, 1)
        opt["starts"] = 1.0
        out["starts"] = start
        search(self.model.constants, opt, self.T, q, out)
        gaps = out["slots"]["q"][0] - self.seed
        out["slots"]["distance"] = math.sqrt(float(opt["joint_weights"] @ gaps**2))
        return out

    def _polished(self) -> Records:
        """Return the best exact minimum of the error."""
        return self._best_effort([self.opt], _POLISHED)

    def _meeting(self, position_only: Records) -> list[Records]:
        """Return results that meet the position with any orientation; empty if none was found."""
        if not self._search(position_only, 1)["solutions"]:
            return []
        postures = used_slots(self._search(position_only, _SLOTS))["q"]
        results = [empty_result(self.model.size, 1) for _ in postures]
        for result, q in zip(results, postures, strict=True):
            result["slots"]["q"] = q
        return results

    def _position_first(self, there: Sequence[Records]) -> Records:
        """Return the best effort that meets the position and is nearest to the orientation.

        ``there`` meets the position: the last weighting lets no descent from it leave that again.
        """
        heaviest = self.opt["weights"][:3].max()
        if heaviest == 0.0:  # the position is free
            return self._polished()
        weightings = []
        for weak in _WEAK:
            opt = self.opt.copy()
            turns = opt["weights"][3:]
            turns *= weak * heaviest * self.model.length / turns.max()
            weightings.append(opt)
        return self._best_effort(weightings, _BEST_STARTS, there)

    def _best_effort(
        self, weightings: Sequence[Records], starts: int, last: Sequence[Records] = ()
    ) -> Records:
        """Return the best minimum from many starts, followed from one weighting to the next.

        A small weight right away would allow only tiny steps along the curved set of postures
        that meet the position. All minima are followed to the last weighting: that of the least
        error with the first one is often not the best in the end. Others start at the last.
        """
        results = [self.out]
        for start in range(starts):
            if self._is_late():
                break
            results.append(self._descent_to_minimum(weightings[0], self.seed, start))
        for opt in weightings:
            if self._is_late():
                break
            results = [self._descent_to_minimum(opt, out["slots"]["q"][0]) for out in results]
        final = weightings[-1]
        results += [self._descent_to_minimum(final, out["slots"]["q"][0]) for out in last]
        best = min(results, key=lambda out: float(out["slots"]["cost"][0]))
        return with_slots(self.out, best["slots"], int(self.out["solutions"]))

    def _is_late(self) -> bool:
        return time.monotonic() > self.deadline

    def _descent_to_minimum(self, opt: Records, q: Array, start: int = 0) -> Records:
        """Return the result of a descent from a start about rows q, however small the gains."""
        opt = opt.copy()
        opt["exact_minimum"], opt["smallest_gain"] = 1.0, 0.0
        return self.descent(opt, np.ascontiguousarray(q), start)


def _joints_at_limits(model: SearchModel, out: Records) -> tuple[str, ...]:
    """Return the joints that are at a limit in the first slot of a result."""
    q = out["slots"]["q"][0]
    at_limit = (q - model.lower < 1e-9) | (model.upper - q < 1e-9)
    return tuple(name for name, at in zip(model.names, at_limit, strict=True) if at)


def _limit_violations(model: SearchModel, found: Array) -> tuple[tuple[str, ...], str, Array]:
    """Return the joints beyond limits in the mildest of postures (k, size), a clause, and it."""
    near = _into_range(model, found)
    beyond = np.maximum(model.lower - near, 0.0) + np.maximum(near - model.upper, 0.0)
    mildest = int(np.argmin(beyond.sum(axis=1)))
    q, passed = near[mildest], np.flatnonzero(beyond[mildest])
    clauses = [_violation_text(model, int(i), float(q[i])) for i in passed]
    return tuple(model.names[i] for i in passed), joint_list(clauses), q


def _into_range(model: SearchModel, q: Array) -> Array:
    """Return q (k, size) with revolute joints moved by whole turns as near as can be to range."""
    lower, upper = model.lower, model.upper
    middle = 0.5 * (np.maximum(lower, -1e9) + np.minimum(upper, 1e9))
    period = model.constants["period"][1:]
    turning = (period > 0.0) & ((q < lower) | (q > upper))
    turns = np.round((middle - q) / np.where(turning, period, 1.0))
    return np.asarray(np.where(turning, q + period * turns, q))


def _violation_text(model: SearchModel, i: int, q: float) -> str:
    limit = float(model.lower[i] if q < model.lower[i] else model.upper[i])
    q, limit = q / model.scale[i], limit / model.scale[i]
    kind = "prismatic" if model.sliding[i] else "revolute"
    return f"{model.names[i]} at {SHOWN.text(q, kind, 4)} (limit {SHOWN.text(limit, kind, 4)})"
