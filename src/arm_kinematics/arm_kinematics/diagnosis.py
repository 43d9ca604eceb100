# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Why there is no solution: by solving easier questions until one has an answer.

Without the joint limits: then the limits are in the way, and the joints that pass them are named.
Without the orientation: then the orientation is. Otherwise the position itself is out of reach.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from typing import Protocol

import numpy as np

from arm_kinematics.jit import HAVE_NUMBA
from arm_kinematics.kernels import LOWER, PRISMATIC, UPPER
from arm_kinematics.kernels_error import BOX, NOTHING, PERSIST, POSITION, STARTS, TURN, WHAT
from arm_kinematics.kernels_search import FOUND, HEAD, SLOT, USED, search
from arm_kinematics.lie import Array
from arm_kinematics.result import IkResult, IkStatus, Reason, joint_list

_STARTS = 48 if HAVE_NUMBA else 12
_SLOTS = 8
_WEAK = 1e-5
"""A radian counts like this share of the arm's length where the position is to be met first."""


class SolverLike(Protocol):
    """What a diagnosis needs to know of a solver."""

    constants: Array
    joint_names: tuple[str, ...]
    lower: Array
    upper: Array
    n: int
    length: float


class _TimeIsUpError(Exception):
    """The deadline passed between two calls of the search."""


class _Search:
    """Easier questions about one target, under one deadline."""

    def __init__(self, n: int, T: Array, seed: Array, deadline: float | None) -> None:
        self._n, self._T, self._seed, self._deadline = n, T, seed, deadline

    def polish(self, c: Array, opt: Array, out: Array) -> Array:
        """Return the result of going on from the first slot of out to the very minimum."""
        opt = opt.copy()
        opt[PERSIST], opt[STARTS] = 1.0, 1.0
        polished = np.zeros(HEAD + self._n + SLOT)
        search(c, opt, self._T, out[HEAD : HEAD + self._n].copy(), polished)
        at = HEAD + self._n + 7
        polished[at] = float(np.linalg.norm(polished[HEAD : HEAD + self._n] - self._seed))
        polished[:HEAD] = out[:HEAD]
        return polished

    def run(self, c: Array, opt: Array, slots: int, starts: int) -> Array:
        """Return the result of a search, laid out as in kernels_search.py."""
        out = np.zeros(HEAD + slots * (self._n + SLOT))
        while out[USED] < starts and out[FOUND] < slots:
            if self._deadline is not None and time.monotonic() > self._deadline:
                raise _TimeIsUpError
            search(c, opt, self._T, self._seed, out)
        return out


def diagnose(
    solver: SolverLike,
    T: Array,
    seed: Array,
    opt: Array,
    out: Array,
    allow_approximate: bool,
    deadline: float | None,
    late: bool,
) -> IkResult:
    """Return the result for a target without a solution; out holds the best effort."""
    reason = None
    if not late:
        with suppress(_TimeIsUpError):
            reason, out = _reason(solver, _Search(solver.n, T, seed, deadline), opt, out)
    if reason is None:
        starts = int(out[USED])
        clause = f"the time ran out after {starts} starts, before a solution was found"
        reason = Reason(IkStatus.TIMEOUT, clause, _at_limits(solver, out))
    elif allow_approximate:
        return IkResult(IkStatus.APPROXIMATE, out, solver.n, reason)
    return IkResult(reason.status, out, solver.n, reason)


def _reason(
    solver: SolverLike, questions: _Search, opt: Array, out: Array
) -> tuple[Reason, Array]:
    """Return the reason and the best effort to show."""
    free = solver.constants.copy()
    free[1:, LOWER], free[1:, UPPER] = -math.inf, math.inf
    unlimited = questions.run(free, opt, _SLOTS, _STARTS)
    if unlimited[FOUND] > 0:
        joints, clause = _in_the_way(solver, unlimited)
        effort = questions.polish(solver.constants, opt, out)
        return Reason(IkStatus.JOINT_LIMIT, clause, joints), effort
    if opt[WHAT] != NOTHING:
        anyhow = opt.copy()
        anyhow[WHAT], anyhow[BOX], anyhow[TURN : TURN + 3] = NOTHING, 0.0, 0.0
        if questions.run(solver.constants, anyhow, 1, _STARTS)[FOUND] > 0:
            out = _position_first(solver, questions, opt, out)
            clause = "the position is within reach, but not with this orientation"
            reason = Reason(IkStatus.UNREACHABLE_ORIENTATION, clause, _at_limits(solver, out))
            return reason, out
    out = questions.polish(solver.constants, opt, out)
    clause = "the position is out of reach"
    return Reason(IkStatus.UNREACHABLE_POSITION, clause, _at_limits(solver, out)), out


def _position_first(solver: SolverLike, questions: _Search, opt: Array, out: Array) -> Array:
    """Return the effort that meets the position and comes nearest to the orientation there."""
    weak = opt.copy()
    most = max(weak[TURN : TURN + 3])
    weak[TURN : TURN + 3] *= _WEAK * weak[POSITION] * solver.length / most
    weak[PERSIST] = 1.0
    tried = questions.run(solver.constants, weak, _SLOTS, _STARTS)
    slots = tried[HEAD:].reshape(_SLOTS, solver.n + SLOT)[: max(1, int(tried[FOUND]))]
    best = slots[int(np.argmin(slots[:, solver.n + 6]))]
    result = out[: HEAD + solver.n + SLOT].copy()
    result[HEAD:] = best
    return result


def _in_the_way(solver: SolverLike, unlimited: Array) -> tuple[tuple[str, ...], str]:
    """Return the joints that pass their limits in the mildest unlimited solution, and a clause."""
    found = unlimited[HEAD:].reshape(_SLOTS, solver.n + SLOT)[: int(unlimited[FOUND]), : solver.n]
    nearest = [_into_range(solver, q) for q in found]
    beyond = [
        np.maximum(solver.lower - q, 0.0) + np.maximum(q - solver.upper, 0.0) for q in nearest
    ]
    mildest = int(np.argmin([b.sum() for b in beyond]))
    passed = [i for i in range(solver.n) if beyond[mildest][i] > 0.0]
    q = nearest[mildest]
    clauses = [_passing(solver, i, float(q[i])) for i in passed]
    why = "joint limits are in the way: " + joint_list(clauses)
    return tuple(solver.joint_names[i] for i in passed), why


def _into_range(solver: SolverLike, q: Array) -> Array:
    """Return q with each turning joint by whole turns as near to its range as can be."""
    middle = 0.5 * (np.maximum(solver.lower, -1e9) + np.minimum(solver.upper, 1e9))
    turns = np.round((middle - q) / (2.0 * math.pi))
    turning = (solver.constants[1:, PRISMATIC] == 0.0) & ((q < solver.lower) | (q > solver.upper))
    return np.asarray(np.where(turning, q + 2.0 * math.pi * turns, q))


def _passing(solver: SolverLike, i: int, q: float) -> str:
    limit = float(solver.lower[i] if q < solver.lower[i] else solver.upper[i])
    if solver.constants[i + 1, PRISMATIC] != 0.0:
        return f"{solver.joint_names[i]} at {1e3 * q:.4g} mm (limit {1e3 * limit:.4g} mm)"
    return (
        f"{solver.joint_names[i]} at {math.degrees(q):.4g} deg "
        f"(limit {math.degrees(limit):.4g} deg)"
    )


def _at_limits(solver: SolverLike, out: Array) -> tuple[str, ...]:
    q = out[HEAD : HEAD + solver.n]
    at = (q - solver.lower < 1e-9) | (solver.upper - q < 1e-9)
    return tuple(name for name, there in zip(solver.joint_names, at, strict=True) if there)
