# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled: every branch of a closed form that is a solution, nearest to the seed first."""

from __future__ import annotations

import numpy as np

from arm_kinematics.closed_form.kernels_accept import into_limits, is_solution, sort_in
from arm_kinematics.closed_form.kernels_branches import place_then_turn, turn_then_place
from arm_kinematics.closed_form.kernels_plan import (
    COMPLETE,
    FAMILY,
    GIVEN,
    HOME,
    JOINTS,
    MOST,
    PLACE_THEN_TURN,
    REVERSED,
    SEED,
    TURN,
    TURN_THEN_PLACE,
    UNSURE,
    VALUES,
)
from arm_kinematics.jit import kernel
from arm_kinematics.kernels import LOWER, UPPER, Array, work
from arm_kinematics.kernels_descent import descend
from arm_kinematics.kernels_error import EXACT
from arm_kinematics.kernels_search import FOUND, HEAD, SLOT, is_new, is_question, keep, see_from
from arm_kinematics.kernels_settle import prefer
from arm_kinematics.kernels_vectors import (
    Rotation,
    Vector,
    plus,
    rotated,
    rotated_back,
)

SAME = 1e-6
"""Solutions nearer than this in every joint [rad, or units of the joint] are one."""


@kernel
def solve_all(
    c: Array, opt: Array, plan: Array, T: Array, seed: Array, out: Array
) -> tuple[int, bool]:
    """Find every solution of a closed form, nearest to the seed first.

    Args:
        c: Constants of the chain, see kernels.py.
        opt: Options, see kernels_error.py.
        plan: The closed form, see kernels_plan.py.
        T: Wanted pose (4, 4).
        seed: What solutions are turned to by whole turns, and where free joints stay, (n,).
        out: Result as of kernels_search.search, with a slot for each branch there may be.

    Returns:
        Solutions found, and whether one of them stands for infinitely many; NO_MOTION or NO_SEED
        if T or seed make no sense.
    """
    n = c.shape[0] - 1
    sound = is_question(n, T, seed)
    if sound < 0:
        return sound, False
    W = work(n)
    see_from(T, c, W)
    prefer(c, opt, W, seed)
    rows = plan.shape[0] - JOINTS if plan[0, FAMILY] == GIVEN else MOST
    B = np.empty((COMPLETE + rows, VALUES + n))
    end = _fill(c, plan, T, seed, B)
    found, singular = 0, False
    for row in range(COMPLETE, end):
        unsure = B[row, UNSURE] != 0.0
        if into_limits(c, plan, B, row, W):
            solves = is_solution(c, opt, plan, W)
        else:  # of infinitely many, another one may be inside the limits
            solves = unsure and descend(c, opt, W) == EXACT
        if solves:
            singular = singular or unsure
            if is_new(c, W, out, found, SAME):
                keep(c, opt, W, seed, out, HEAD + found * (n + SLOT))
                sort_in(n, out, found)
                found += 1
    out[FOUND] = found
    return found, singular


@kernel
def _fill(c: Array, plan: Array, T: Array, seed: Array, B: Array) -> int:
    """Fill in the seed, inside the limits, and all branches; return the row behind the last."""
    n = seed.size
    B[SEED, UNSURE] = B[SEED, TURN] = 0.0
    for i in range(n):
        k = n - 1 - i if plan[0, REVERSED] != 0.0 else i
        B[SEED, VALUES + k] = min(max(seed[i], c[i + 1, LOWER]), c[i + 1, UPPER])
    R, t = _wanted(plan, T)
    if plan[0, FAMILY] == PLACE_THEN_TURN:
        return place_then_turn(plan, R, t, B)
    if plan[0, FAMILY] == TURN_THEN_PLACE:
        return turn_then_place(plan, R, t, B)
    for row in range(COMPLETE, B.shape[0]):
        B[row, UNSURE] = 0.0
        for i in range(n):
            B[row, VALUES + i] = plan[JOINTS - COMPLETE + row, i]
    return len(B)


@kernel
def _wanted(plan: Array, T: Array) -> tuple[Rotation, Vector]:
    """Return Q = T inverse(M), or its inverse if the plan reads from the tip."""
    A = (
        (T[0, 0], T[0, 1], T[0, 2]),
        (T[1, 0], T[1, 1], T[1, 2]),
        (T[2, 0], T[2, 1], T[2, 2]),
    )
    (a0, a1, a2), (b0, b1, b2), (c0, c1, c2) = (
        rotated(A, (plan[1, HOME], plan[2, HOME], plan[3, HOME])),
        rotated(A, (plan[1, HOME + 1], plan[2, HOME + 1], plan[3, HOME + 1])),
        rotated(A, (plan[1, HOME + 2], plan[2, HOME + 2], plan[3, HOME + 2])),
    )
    t = rotated(A, (plan[1, HOME + 3], plan[2, HOME + 3], plan[3, HOME + 3]))
    t = plus(t, 1.0, (T[0, 3], T[1, 3], T[2, 3]))
    R = (a0, b0, c0), (a1, b1, c1), (a2, b2, c2)
    if plan[0, REVERSED] == 0.0:
        return R, t
    x, y, z = rotated_back(R, t)
    return ((a0, a1, a2), (b0, b1, b2), (c0, c1, c2)), (-x, -y, -z)
