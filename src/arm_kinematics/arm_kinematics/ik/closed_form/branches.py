# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled branches of a closed form: all solutions, or the one nearest to the seed.

families.py fills in the branches. One is moved by whole turns into the limits, and counts only if
the chain's own forward kinematics confirm it: axes that a plan takes for parallel or meeting may
be off by the rounding of a file's numbers, which steps of the descent correct.

From a seed close to the solution, as when a target is tracked, a few steps of the descent are
faster than all branches; from anywhere else the branches are, and they never need a second start.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from arm_common.jit import allocating_kernel, fix_types, inlined_kernel, kernel
from arm_common.transforms import Array

from arm_kinematics.ik.closed_form import invariants as inv
from arm_kinematics.ik.closed_form.families import SLACK, place_then_turn, turn_then_place
from arm_kinematics.kernels.descent import descend, set_preference
from arm_kinematics.kernels.forward import (
    ERROR,
    LOWER,
    PERIOD,
    PREFERRED,
    UNIT,
    UPPER,
    Q,
    move,
    work,
)
from arm_kinematics.kernels.residuals import EXACT, FAILED, OPTIONS, STARTS, error, quality
from arm_kinematics.kernels.search import (
    BEST,
    FOUND,
    HEAD,
    LEAP,
    LEAP_BY_ERROR,
    SINGULAR,
    SLOT,
    accept_seed,
    check_request,
    is_new,
    prepare_search,
    search,
    set_target,
    write_solution,
)
from arm_kinematics.kernels.vectors import Rotation, Vector, plus, rotated, rotated_back, vector

NEAR = 1e-3
"""Largest error [rad, or share of the arm's length] of a branch that is still polished."""
ROUNDING = 1e-9
"""Excess over a limit [rad] above which a whole turn inside the limits is preferred."""


@inlined_kernel
def into_limits(c: Array, plan: Array, B: Array, row: int, W: Array) -> bool:
    """Fill W[:, Q] with a branch, moved by whole turns and clipped to the limits.

    Returns whether it was inside the limits, up to the slack.
    """
    n, inside = W.shape[0] - 1, True
    for i in range(n):
        k = inv.VALUES + (n - 1 - i if plan[0, inv.REVERSED] != 0.0 else i)
        q = B[row if i < n - plan[0, inv.KEPT] else inv.SEED, k]
        lower, upper, period = c[i + 1, LOWER], c[i + 1, UPPER], c[i + 1, PERIOD]
        gap = W[i, PREFERRED] - q
        if period != 0.0 and abs(gap) > 0.5 * period:
            q += period * math.floor(gap / period + 0.5)
        if not lower <= q <= upper:
            slack = SLACK if period != 0.0 else SLACK * plan[0, inv.LENGTH]
            if period != 0.0:
                q = _turned_inside(q, lower, upper, period)
            inside = inside and lower - slack <= q <= upper + slack
            q = min(max(q, lower), upper)
        W[i, Q] = q
    return inside


@kernel
def _turned_inside(q: float, lower: float, upper: float, period: float) -> float:
    """Return q moved by whole turns inside the limits, up to the slack, if possible."""
    if q > upper + SLACK:
        q -= period * math.ceil((q - upper - SLACK) / period)
    elif q < lower - SLACK:
        q += period * math.ceil((lower - SLACK - q) / period)
    if q > upper + ROUNDING and q - period >= lower:
        q -= period
    elif q < lower - ROUNDING and q + period <= upper:
        q += period
    return q


@kernel
def is_solution(c: Array, opt: Array, plan: Array, W: Array) -> bool:
    """Return whether W[:, Q] is a solution, after polishing it if necessary."""
    n = W.shape[0] - 1
    move(c, W, Q)
    cost = error(opt, W, ERROR)
    if quality(opt, W, ERROR, cost) == EXACT:
        return True
    off, turned = 0.0, 0.0
    for k in range(3):
        off = max(off, abs(W[n, ERROR + k]))
        turned = max(turned, abs(W[n, ERROR + 3 + k]))
    if not (off <= NEAR * plan[0, inv.LENGTH] and turned <= NEAR):
        return False
    return bool(descend(c, opt, W) == EXACT)


@kernel
def insert_sorted(n: int, out: Array, last: int) -> None:
    """Sort the slot in row ``last`` into those above, by distance from the seed."""
    for row in range(last, BEST, -1):
        if not out[row, n + 7] < out[row - 1, n + 7]:
            break
        for k in range(n + SLOT):
            out[row - 1, k], out[row, k] = out[row, k], out[row - 1, k]


SAME = 1e-6
"""Solutions nearer than this in every joint [rad, or units of the joint] are the same."""


@kernel
def solve_all(c: Array, opt: Array, plan: Array, T: Array, seed: Array, out: Array) -> int:
    """Find every solution of a closed form for a pose T (4, 4), nearest to the seed (n,) first.

    Joints are moved by whole turns towards the seed; free joints stay there. Options are those of
    residuals.py; ``out`` is that of `search`, with a slot for each possible branch. Returns the
    number of solutions, BAD_TARGET or BAD_SEED.
    """
    return _solve_all(c, opt, plan, T, seed, out)


@allocating_kernel
def _solve_all(c: Array, opt: Array, plan: Array, T: Array, seed: Array, out: Array) -> int:
    n = c.shape[0] - 1
    sound = check_request(n, T, seed)
    if sound < 0:
        return sound
    W = work(n)
    set_target(T, c, W)
    set_preference(c, opt, W, seed)
    rows = plan.shape[0] - inv.JOINTS if plan[0, inv.FAMILY] == inv.GIVEN else inv.MOST
    B = np.empty((inv.COMPLETE + rows, inv.VALUES + n))
    end = fill_branches(c, plan, T, seed, B)
    found, singular = 0, 0.0
    for row in range(inv.COMPLETE, end):
        unsure = B[row, inv.UNSURE] != 0.0
        if into_limits(c, plan, B, row, W):
            solves = is_solution(c, opt, plan, W)
        else:  # of infinitely many, another one may be inside the limits
            solves = unsure and descend(c, opt, W) == EXACT
        if solves:
            singular = max(singular, B[row, inv.UNSURE])
            if is_new(c, W, out, found, SAME):
                write_solution(c, opt, W, seed, out, BEST + found)
                insert_sorted(n, out, BEST + found)
                found += 1
    out[HEAD, FOUND], out[HEAD, SINGULAR] = found, singular
    return found


@kernel
def fill_branches(c: Array, plan: Array, T: Array, seed: Array, B: Array) -> int:
    """Fill in the seed, clipped to the limits, and all branches; return the end row."""
    n = seed.size
    B[inv.SEED, inv.UNSURE] = B[inv.SEED, inv.TURN] = 0.0
    for i in range(n):
        k = n - 1 - i if plan[0, inv.REVERSED] != 0.0 else i
        B[inv.SEED, inv.VALUES + k] = min(max(seed[i], c[i + 1, LOWER]), c[i + 1, UPPER])
    R, t = _wanted(plan, T)
    if plan[0, inv.FAMILY] == inv.PLACE_THEN_TURN:
        return place_then_turn(c, plan, R, t, B)
    if plan[0, inv.FAMILY] == inv.TURN_THEN_PLACE:
        return turn_then_place(plan, R, t, B)
    for row in range(inv.COMPLETE, B.shape[0]):
        B[row, inv.UNSURE] = 0.0
        for i in range(n):
            B[row, inv.VALUES + i] = plan[inv.JOINTS - inv.COMPLETE + row, i]
    return len(B)


@kernel
def _wanted(plan: Array, T: Array) -> tuple[Rotation, Vector]:
    """Return Q = T inverse(M), or its inverse if the plan reads from the tip."""
    H = vector(plan, 1, inv.HOME), vector(plan, 2, inv.HOME), vector(plan, 3, inv.HOME)
    home = plan[1, inv.HOME + 3], plan[2, inv.HOME + 3], plan[3, inv.HOME + 3]
    A = vector(T, 0, 0), vector(T, 1, 0), vector(T, 2, 0)
    R = rotated_back(H, A[0]), rotated_back(H, A[1]), rotated_back(H, A[2])
    t = plus(rotated(A, home), 1.0, (T[0, 3], T[1, 3], T[2, 3]))
    if plan[0, inv.REVERSED] == 0.0:
        return R, t
    (a0, b0, c0), (a1, b1, c1), (a2, b2, c2) = R
    x, y, z = rotated_back(R, t)
    return ((a0, a1, a2), (b0, b1, b2), (c0, c1, c2)), (-x, -y, -z)


TRACKED = 5  # number of joints from which on a few steps of descent are faster
NEAR_PLACE, NEAR_TURN = 0.2, 0.5  # distance of the seed's tip: share of the arm's length, [rad]
FAR = 0.7  # [rad, or units of the joint] of motion after which another solution may be nearer


@kernel
def solve_nearest(
    c: Array, opt: Array, exact: Array, plan: Array, T: Array, seed: Array, out: Array
) -> int:
    """Find the solution nearest to the seed, as `solve_all`; only that one is counted in ``out``.

    ``opt`` are the options of a descent, ``exact`` those of the branches.
    """
    return _solve_nearest(c, opt, exact, plan, T, seed, out)


@allocating_kernel
def _solve_nearest(
    c: Array, opt: Array, exact: Array, plan: Array, T: Array, seed: Array, out: Array
) -> int:
    n = c.shape[0] - 1
    sound = check_request(n, T, seed)
    if sound < 0:
        return sound
    W = work(n)
    set_target(T, c, W)
    if accept_seed(c, opt, W, seed):
        write_solution(c, opt, W, seed, out, BEST)
        out[HEAD, FOUND] = 1.0
        return 1
    if n >= TRACKED and opt[STARTS] > 0.0 and _descend_nearby(c, opt, plan, seed, W, out):
        return 1
    B = np.empty((inv.COMPLETE + inv.MOST, inv.VALUES + n))
    set_preference(c, exact, W, seed)
    end = fill_branches(c, plan, T, seed, B)
    if _measure(c, exact, plan, seed, W, B, end):
        for _ in range(inv.COMPLETE, end):
            row = _nearest_row(B, end)
            if into_limits(c, plan, B, row, W) and is_solution(c, exact, plan, W):
                write_solution(c, exact, W, seed, out, BEST)
                out[HEAD, FOUND], out[HEAD, SINGULAR] = 1.0, B[row, inv.UNSURE]
                return 1
            B[row, inv.TURN] = math.inf
        out[HEAD, FOUND] = 0.0
        return 0
    found = min(_solve_all(c, exact, plan, T, seed, out), 1)
    out[HEAD, FOUND] = found
    return found


@kernel
def _measure(c: Array, opt: Array, plan: Array, seed: Array, W: Array, B: Array, end: int) -> bool:
    """Fill TURN, no longer needed, with the squared distance of each branch inside the limits.

    Returns False if a branch with free joints is outside: another choice may be inside.
    """
    for row in range(inv.COMPLETE, end):
        square = math.inf
        if into_limits(c, plan, B, row, W):
            square = 0.0
            for i in range(seed.size):
                square += opt[OPTIONS + i] * (W[i, Q] - seed[i]) ** 2
        elif B[row, inv.UNSURE] != 0.0:
            return False
        B[row, inv.TURN] = square
    return True


@kernel
def _nearest_row(B: Array, end: int) -> int:
    """Return the branch of the least distance in TURN."""
    best = inv.COMPLETE
    for row in range(inv.COMPLETE + 1, end):
        if B[row, inv.TURN] < B[best, inv.TURN]:
            best = row
    return best


@kernel
def _descend_nearby(c: Array, opt: Array, plan: Array, seed: Array, W: Array, out: Array) -> bool:
    """Return whether the tip is near the target, and a descent leads to a nearby posture."""
    n = c.shape[0] - 1
    for i in range(n):
        W[i, Q] = min(max(seed[i], c[i + 1, LOWER]), c[i + 1, UPPER])
    move(c, W, Q)
    error(opt, W, ERROR)
    off = math.sqrt(W[n, ERROR] ** 2 + W[n, ERROR + 1] ** 2 + W[n, ERROR + 2] ** 2)
    turned = math.sqrt(W[n, ERROR + 3] ** 2 + W[n, ERROR + 4] ** 2 + W[n, ERROR + 5] ** 2)
    if off > NEAR_PLACE * plan[0, inv.LENGTH] or turned > NEAR_TURN:
        return False
    set_preference(c, opt, W, seed)
    if descend(c, opt, W) == FAILED:
        return False
    write_solution(c, opt, W, seed, out, BEST)
    size = turned + off / (NEAR_PLACE * plan[0, inv.LENGTH])
    far = min(FAR, LEAP + LEAP_BY_ERROR * size)
    for i in range(n):
        if abs(out[BEST, i] - seed[i]) > far * c[i + 1, UNIT]:
            return False
    out[HEAD, FOUND] = 1.0
    return True


@allocating_kernel
def nearest_many(
    c: Array,
    opt: Array,
    exact: Array,
    plan: Array,
    Ts: Array,
    seeds: Array,
    room: Array,
    outs: Array,
) -> None:
    """Call `solve_nearest` for each target (m, 4, 4), and `search` if it finds nothing.

    ``room`` is the buffer of `solve_nearest`; ``outs`` has one slot for each target.
    """
    for k in range(Ts.shape[0]):
        room[HEAD] = 0.0
        if _solve_nearest(c, opt, exact, plan, Ts[k], seeds[k], room) > 0:
            outs[k] = room[: BEST + 1]
        else:
            search(c, opt, Ts[k], seeds[k], outs[k])


@lru_cache(maxsize=1)
def prepare_closed_forms() -> None:
    """Compile closed forms, unless compiled before."""
    prepare_search()
    fix_types(solve_all, (2, 1, 2, 2, 1), (2,))
    fix_types(solve_nearest, (2, 1, 1, 2, 2, 1), (2,))
    fix_types(nearest_many, (2, 1, 1, 2, 3, 2), (2, 3))
