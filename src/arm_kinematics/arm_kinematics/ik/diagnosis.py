# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Why there is no solution, by solving relaxed problems until one has a solution.

Without the joint limits: then the limits are in the way, and the joints that violate them are
named. Without the orientation: then the orientation is. Otherwise the position itself is out of
reach.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from arm_common.jit import HAVE_NUMBA
from arm_common.transforms import Array

from arm_kinematics.ik.result import IkStatus, Reason, joint_list
from arm_kinematics.ik.search_model import SearchModel
from arm_kinematics.kernels.forward import LOWER, PERIOD, UPPER
from arm_kinematics.kernels.residuals import (
    BOUNDS,
    EVEN,
    NOTHING,
    PERSIST,
    SPARE,
    STARTS,
    TURN_BOX,
    WEIGHTS,
    WHAT,
)
from arm_kinematics.kernels.search import FOUND, HEAD, SLOT, USED, search


def limit_violations(model: SearchModel, found: Array) -> tuple[tuple[str, ...], str, Array]:
    """Return the joints that pass their limits in the mildest of some postures, a clause, and it.

    Args:
        model: The chain.
        found: Postures (k, size) of which each passes some limits.
    """
    lower, upper = model.lower, model.upper
    near = [_into_range(model, q) for q in found]
    beyond = [np.maximum(lower - q, 0.0) + np.maximum(q - upper, 0.0) for q in near]
    mildest = int(np.argmin([b.sum() for b in beyond]))
    passed = [i for i in range(model.size) if beyond[mildest][i] > 0.0]
    clauses = [_violation_text(model, i, float(near[mildest][i])) for i in passed]
    return tuple(model.names[i] for i in passed), joint_list(clauses), near[mildest]


def joints_at_limits(model: SearchModel, out: Array) -> tuple[str, ...]:
    """Return the joints that stand at a limit in the first slot of a result."""
    q = out[HEAD : HEAD + model.size]
    at = (q - model.lower < 1e-9) | (model.upper - q < 1e-9)
    return tuple(name for name, there in zip(model.names, at, strict=True) if there)


def _into_range(model: SearchModel, q: Array) -> Array:
    """Return q with each turning joint by whole turns as near to its range as can be."""
    lower, upper = model.lower, model.upper
    middle = 0.5 * (np.maximum(lower, -1e9) + np.minimum(upper, 1e9))
    period = model.constants[1:, PERIOD]
    turning = (period > 0.0) & ((q < lower) | (q > upper))
    turns = np.round((middle - q) / np.where(turning, period, 1.0))
    return np.asarray(np.where(turning, q + period * turns, q))


def _violation_text(model: SearchModel, i: int, q: float) -> str:
    limit = float(model.lower[i] if q < model.lower[i] else model.upper[i])
    q, limit = q / model.scale[i], limit / model.scale[i]
    name = model.names[i]
    if model.sliding[i]:
        return f"{name} at {1e3 * q:.4g} mm (limit {1e3 * limit:.4g} mm)"
    return f"{name} at {math.degrees(q):.4g} deg (limit {math.degrees(limit):.4g} deg)"


_STARTS = 48 if HAVE_NUMBA else 12
_SLOTS = 16
_WEAK = 1e-5
"""A radian counts like this share of the arm's length where the position is to be met first."""


class Diagnosis(NamedTuple):
    """Why there is no solution, and the best effort (a result of one slot).

    Without a reason, the best effort is a solution after all.
    """

    reason: Reason | None
    best_effort: Array


class _TimeIsUpError(Exception):
    """The deadline passed between two calls of the search."""


class _RelaxedProblems:
    """Easier problems about one target, under one deadline."""

    def __init__(self, model: SearchModel, T: Array, seed: Array, deadline: float | None) -> None:
        self._model, self._T, self._seed, self._deadline = model, T, seed, deadline

    def polish(self, opt: Array, out: Array) -> Array:
        """Return the result of going on from the first slot of out to the very minimum."""
        opt = opt.copy()
        opt[PERSIST], opt[STARTS], opt[SPARE] = 1.0, 1.0, 0.0
        size = self._model.size
        polished = np.zeros(HEAD + size + SLOT)
        start = out[HEAD : HEAD + size].copy()
        search(self._model.constants, opt, self._T, start, polished)
        gaps = polished[HEAD : HEAD + size] - self._seed
        polished[-1] = math.sqrt(float(opt[-size:] @ gaps**2))
        polished[:HEAD] = out[:HEAD]
        return polished

    def solution_near(self, opt: Array, q: Array) -> Array:
        """Return the result of one descent from rows q."""
        opt = opt.copy()
        opt[STARTS] = 1.0
        out = np.zeros(HEAD + self._model.size + SLOT)
        search(self._model.constants, opt, self._T, q, out)
        return out

    def run(self, opt: Array, slots: int, free: Array | None = None) -> Array:
        """Return the result of a search, without the limits of the rows that are free."""
        constants = self._model.constants
        if free is not None:
            constants = constants.copy()
            constants[1:, LOWER][free], constants[1:, UPPER][free] = -math.inf, math.inf
        out = np.zeros(HEAD + slots * (self._model.size + SLOT))
        while out[USED] < _STARTS and out[FOUND] < slots:
            if self._deadline is not None and time.monotonic() > self._deadline:
                raise _TimeIsUpError
            search(constants, opt, self._T, self._seed, out)
        return out


def diagnose(
    model: SearchModel,
    T: Array,
    seed: Array,
    opt: Array,
    out: Array,
    deadline: float | None,
    late: bool,
) -> Diagnosis:
    """Return why a target has no solution; out holds the best effort."""
    out = out[: HEAD + model.size + SLOT]
    if not late:
        with suppress(_TimeIsUpError):
            return _reason(model, _RelaxedProblems(model, T, seed, deadline), opt, out)
    starts = int(out[USED])
    clause = f"the time ran out after {starts} starts, before a solution was found"
    return Diagnosis(Reason(IkStatus.TIMEOUT, clause, joints_at_limits(model, out)), out)


def _reason(model: SearchModel, problems: _RelaxedProblems, opt: Array, out: Array) -> Diagnosis:
    beyond = _beyond_limits(model, problems, opt)
    if len(beyond):
        joints, clause, q = limit_violations(model, beyond)
        if not joints and (found := problems.solution_near(opt, q))[FOUND] > 0:
            return Diagnosis(None, found)
        clause = f"joint limits are in the way: {clause}"
        return Diagnosis(Reason(IkStatus.JOINT_LIMIT, clause, joints), problems.polish(opt, out))
    status, clause = IkStatus.UNREACHABLE_POSITION, "the position is out of reach"
    position_only = opt.copy()
    position_only[WHAT], position_only[TURN_BOX] = NOTHING, 0.0
    for part in (WEIGHTS, BOUNDS, EVEN):
        position_only[part + 3 : part + 6] = 0.0
    if opt[WHAT] != NOTHING and problems.run(position_only, 1)[FOUND] > 0:
        status = IkStatus.UNREACHABLE_ORIENTATION
        clause = "the position is within reach, but not with this orientation"
        best_effort = _position_first(model, problems, opt, out)
    else:
        best_effort = problems.polish(opt, out)
        beyond = _beyond_limits(model, problems, position_only) if opt[WHAT] != NOTHING else beyond
        if len(beyond):
            joints, passing, _ = limit_violations(model, beyond)
            clause += f" within the joint limits; beyond them, with {passing}, the orientation is"
            return Diagnosis(Reason(status, clause, joints), best_effort)
    return Diagnosis(Reason(status, clause, joints_at_limits(model, best_effort)), best_effort)


def _beyond_limits(model: SearchModel, problems: _RelaxedProblems, opt: Array) -> Array:
    """Return solutions (k, size) of which some rows pass their limits; none without limits too.

    Where there is motion to spare, also those that need but one joint beyond its limits.
    """
    every = np.ones(model.size, dtype=bool)
    unlimited = problems.run(opt, _SLOTS, every)
    if unlimited[FOUND] == 0:
        return np.empty((0, model.size))
    found = [model.slots(unlimited)[:, : model.size]]
    if opt[SPARE] != 0.0:
        for one in np.eye(model.size, dtype=bool):
            out = problems.run(opt, 1, one)
            if out[FOUND] > 0:
                found.append(model.slots(out)[:, : model.size])
    return np.vstack(found)


def _position_first(
    model: SearchModel, problems: _RelaxedProblems, opt: Array, out: Array
) -> Array:
    """Return the best effort that meets the position, nearest to the orientation there."""
    most = opt[WEIGHTS : WEIGHTS + 3].max()
    if most == 0.0:  # the position is free
        return problems.polish(opt, out)
    weak = opt.copy()
    turns = weak[WEIGHTS + 3 : WEIGHTS + 6]
    turns *= _WEAK * most * model.length / turns.max()
    weak[PERSIST], weak[SPARE] = 1.0, 0.0
    tried = model.slots(problems.run(weak, _SLOTS))
    best = tried[int(np.argmin(tried[:, model.size + 6]))]
    return np.concatenate([out[:HEAD], best])
