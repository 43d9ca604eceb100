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


def passing_joints(mechanism: SearchModel, found: Array) -> tuple[tuple[str, ...], str, Array]:
    """Return the joints that pass their limits in the mildest of some postures, a clause, and it.

    Args:
        mechanism: The chain.
        found: Postures (k, size) of which each passes some limits.
    """
    lower, upper = mechanism.lower, mechanism.upper
    near = [_into_range(mechanism, q) for q in found]
    beyond = [np.maximum(lower - q, 0.0) + np.maximum(q - upper, 0.0) for q in near]
    mildest = int(np.argmin([b.sum() for b in beyond]))
    passed = [i for i in range(mechanism.size) if beyond[mildest][i] > 0.0]
    clauses = [_passing(mechanism, i, float(near[mildest][i])) for i in passed]
    return tuple(mechanism.names[i] for i in passed), joint_list(clauses), near[mildest]


def at_limits(mechanism: SearchModel, out: Array) -> tuple[str, ...]:
    """Return the joints that stand at a limit in the first slot of a result."""
    q = out[HEAD : HEAD + mechanism.size]
    at = (q - mechanism.lower < 1e-9) | (mechanism.upper - q < 1e-9)
    return tuple(name for name, there in zip(mechanism.names, at, strict=True) if there)


def _into_range(mechanism: SearchModel, q: Array) -> Array:
    """Return q with each turning joint by whole turns as near to its range as can be."""
    lower, upper = mechanism.lower, mechanism.upper
    middle = 0.5 * (np.maximum(lower, -1e9) + np.minimum(upper, 1e9))
    period = mechanism.constants[1:, PERIOD]
    turning = (period > 0.0) & ((q < lower) | (q > upper))
    turns = np.round((middle - q) / np.where(turning, period, 1.0))
    return np.asarray(np.where(turning, q + period * turns, q))


def _passing(mechanism: SearchModel, i: int, q: float) -> str:
    limit = float(mechanism.lower[i] if q < mechanism.lower[i] else mechanism.upper[i])
    q, limit = q / mechanism.scale[i], limit / mechanism.scale[i]
    name = mechanism.names[i]
    if mechanism.sliding[i]:
        return f"{name} at {1e3 * q:.4g} mm (limit {1e3 * limit:.4g} mm)"
    return f"{name} at {math.degrees(q):.4g} deg (limit {math.degrees(limit):.4g} deg)"


_STARTS = 48 if HAVE_NUMBA else 12
_SLOTS = 16
_WEAK = 1e-5
"""A radian counts like this share of the arm's length where the position is to be met first."""


class Diagnosis(NamedTuple):
    """Why there is no solution, and the best effort (a result of one slot).

    Without a reason, the effort is a solution after all.
    """

    reason: Reason | None
    effort: Array


class _TimeIsUpError(Exception):
    """The deadline passed between two calls of the search."""


class _RelaxedProblems:
    """Easier questions about one target, under one deadline."""

    def __init__(
        self, mechanism: SearchModel, T: Array, seed: Array, deadline: float | None
    ) -> None:
        self._mechanism, self._T, self._seed, self._deadline = mechanism, T, seed, deadline

    def polish(self, opt: Array, out: Array) -> Array:
        """Return the result of going on from the first slot of out to the very minimum."""
        opt = opt.copy()
        opt[PERSIST], opt[STARTS], opt[SPARE] = 1.0, 1.0, 0.0
        size = self._mechanism.size
        polished = np.zeros(HEAD + size + SLOT)
        start = out[HEAD : HEAD + size].copy()
        search(self._mechanism.constants, opt, self._T, start, polished)
        gaps = polished[HEAD : HEAD + size] - self._seed
        polished[-1] = math.sqrt(float(opt[-size:] @ gaps**2))
        polished[:HEAD] = out[:HEAD]
        return polished

    def solution_near(self, opt: Array, q: Array) -> Array:
        """Return the result of one descent from rows q."""
        opt = opt.copy()
        opt[STARTS] = 1.0
        out = np.zeros(HEAD + self._mechanism.size + SLOT)
        search(self._mechanism.constants, opt, self._T, q, out)
        return out

    def run(self, opt: Array, slots: int, free: Array | None = None) -> Array:
        """Return the result of a search, without the limits of the rows that are free."""
        constants = self._mechanism.constants
        if free is not None:
            constants = constants.copy()
            constants[1:, LOWER][free], constants[1:, UPPER][free] = -math.inf, math.inf
        out = np.zeros(HEAD + slots * (self._mechanism.size + SLOT))
        while out[USED] < _STARTS and out[FOUND] < slots:
            if self._deadline is not None and time.monotonic() > self._deadline:
                raise _TimeIsUpError
            search(constants, opt, self._T, self._seed, out)
        return out


def diagnose(
    mechanism: SearchModel,
    T: Array,
    seed: Array,
    opt: Array,
    out: Array,
    deadline: float | None,
    late: bool,
) -> Diagnosis:
    """Return why a target has no solution; out holds the best effort."""
    out = out[: HEAD + mechanism.size + SLOT]
    if not late:
        with suppress(_TimeIsUpError):
            return _reason(mechanism, _RelaxedProblems(mechanism, T, seed, deadline), opt, out)
    starts = int(out[USED])
    clause = f"the time ran out after {starts} starts, before a solution was found"
    return Diagnosis(Reason(IkStatus.TIMEOUT, clause, at_limits(mechanism, out)), out)


def _reason(
    mechanism: SearchModel, questions: _RelaxedProblems, opt: Array, out: Array
) -> Diagnosis:
    beyond = _beyond_limits(mechanism, questions, opt)
    if len(beyond):
        joints, clause, q = passing_joints(mechanism, beyond)
        if not joints and (found := questions.solution_near(opt, q))[FOUND] > 0:
            return Diagnosis(None, found)
        clause = f"joint limits are in the way: {clause}"
        return Diagnosis(Reason(IkStatus.JOINT_LIMIT, clause, joints), questions.polish(opt, out))
    status, clause = IkStatus.UNREACHABLE_POSITION, "the position is out of reach"
    anyhow = opt.copy()
    anyhow[WHAT], anyhow[TURN_BOX] = NOTHING, 0.0
    for part in (WEIGHTS, BOUNDS, EVEN):
        anyhow[part + 3 : part + 6] = 0.0
    if opt[WHAT] != NOTHING and questions.run(anyhow, 1)[FOUND] > 0:
        status = IkStatus.UNREACHABLE_ORIENTATION
        clause = "the position is within reach, but not with this orientation"
        effort = _position_first(mechanism, questions, opt, out)
    else:
        effort = questions.polish(opt, out)
        beyond = _beyond_limits(mechanism, questions, anyhow) if opt[WHAT] != NOTHING else beyond
        if len(beyond):
            joints, passing, _ = passing_joints(mechanism, beyond)
            clause += f" within the joint limits; beyond them, with {passing}, the orientation is"
            return Diagnosis(Reason(status, clause, joints), effort)
    return Diagnosis(Reason(status, clause, at_limits(mechanism, effort)), effort)


def _beyond_limits(mechanism: SearchModel, questions: _RelaxedProblems, opt: Array) -> Array:
    """Return solutions (k, size) of which some rows pass their limits; none without limits too.

    Where there is motion to spare, also those that need but one joint beyond its limits.
    """
    every = np.ones(mechanism.size, dtype=bool)
    unlimited = questions.run(opt, _SLOTS, every)
    if unlimited[FOUND] == 0:
        return np.empty((0, mechanism.size))
    found = [mechanism.slots(unlimited)[:, : mechanism.size]]
    if opt[SPARE] != 0.0:
        for one in np.eye(mechanism.size, dtype=bool):
            out = questions.run(opt, 1, one)
            if out[FOUND] > 0:
                found.append(mechanism.slots(out)[:, : mechanism.size])
    return np.vstack(found)


def _position_first(
    mechanism: SearchModel, questions: _RelaxedProblems, opt: Array, out: Array
) -> Array:
    """Return the effort that meets the position and comes nearest to the orientation there."""
    most = opt[WEIGHTS : WEIGHTS + 3].max()
    if most == 0.0:  # the position is free
        return questions.polish(opt, out)
    weak = opt.copy()
    turns = weak[WEIGHTS + 3 : WEIGHTS + 6]
    turns *= _WEAK * most * mechanism.length / turns.max()
    weak[PERSIST], weak[SPARE] = 1.0, 0.0
    tried = mechanism.slots(questions.run(weak, _SLOTS))
    best = tried[int(np.argmin(tried[:, mechanism.size + 6]))]
    return np.concatenate([out[:HEAD], best])
