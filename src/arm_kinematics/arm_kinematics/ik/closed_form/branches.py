# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled branches of a closed form: all solutions, or the one nearest to the seed.

Both families of arms solve e1 e2 ... en = Q with Q = T inverse(M), or its inverse, read from the
tip, by ``place`` (a point) and ``turn`` (a rotation).

PLACE_THEN_TURN: the last axes meet in c. The joints before place it: e1 e2 e3 c = Q c. The others
turn: R4 R5 R6 = R3' R2' R1' R.

TURN_THEN_PLACE: neighbouring axes are parallel to h, with at most one joint before and two behind
them. The invariants of parallel axes give the joint before:

    h . (inverse(e1) Q c) = h . c    c on all axes behind (two axes must meet)
    h . (inverse(R1) R w) = h . w    w the only axis behind
    inverse(R1) R h = h              if there is none

(Hawkins, "Analytic inverse kinematics for the Universal Robots", 2013, for one such arm; Elias and
Wen, "IK-Geo", Mechanism and Machine Theory 2025, for the general view.) Then the parallel axes act
as one turn about h, which makes up a rotation with the axes behind; a planar arm is left.

A branch is moved by whole turns into the limits, and counts only if the chain's own forward
kinematics confirm it: axes that a plan takes for parallel or meeting may be off by the rounding of
a file's numbers, which steps of the descent correct.

From a seed close to the solution, as when a target is tracked, a few steps of the descent are
faster than all branches; from anywhere else the branches are, and they never need a second start.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from arm_common.jit import fix_types, kernel
from arm_common.transforms import Array

from arm_kinematics.ik.closed_form import invariants as inv
from arm_kinematics.ik.closed_form.invariants import copy_row, moved_by, swing
from arm_kinematics.ik.closed_form.roots import FREE, Roots, roots
from arm_kinematics.ik.closed_form.subproblems import place, place_by_two, turn
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
    FOUND,
    HEAD,
    LEAP,
    LEAP_BY_ERROR,
    SLOT,
    check_request,
    is_new,
    prepare_search,
    search,
    set_target,
    write_solution,
)
from arm_kinematics.kernels.vectors import (
    Rotation,
    Vector,
    angle_to,
    cross,
    dot,
    minus,
    plus,
    rotated,
    rotated_back,
    turned_columns,
    vector,
)


@kernel
def place_then_turn(plan: Array, R: Rotation, t: Vector, B: Array) -> int:
    """Fill B from row COMPLETE on with all branches of Q = (R, t); return the end row.

    Row SEED of B, (COMPLETE + MOST, VALUES + n), is an input.
    """
    before, after = int(plan[0, inv.BEFORE]), int(plan[0, inv.AFTER])
    c = vector(plan, 1, inv.CENTRE)
    first = inv.HALF if after > 0 else inv.COMPLETE
    ways = place(plan, before, c, plus(rotated(R, c), 1.0, t), B, inv.SEED, first)
    if after == 0:
        return inv.COMPLETE + ways
    w = vector(plan, inv.JOINTS + before, inv.DIRECTION)
    row = inv.COMPLETE
    for half in range(inv.HALF, inv.HALF + ways):
        rest = R
        for joint in range(before):
            rest = _back(plan, joint, B[half, inv.VALUES + joint], rest)
        row += turn(plan, w, inv.VALUES + before, after - 1, rest, B, half, row)
    return row


@kernel
def _back(plan: Array, joint: int, q: float, R: Rotation) -> Rotation:
    """Return inverse(Rot(joint, q)) R."""
    if plan[inv.JOINTS + joint, inv.SLIDES] != 0.0:
        return R
    return turned_columns(vector(plan, inv.JOINTS + joint, inv.DIRECTION), -q, R)


@kernel
def turn_then_place(plan: Array, R: Rotation, t: Vector, B: Array) -> int:
    """Fill B like ``place_then_turn``, for the other family."""
    if plan[0, inv.BEFORE] == 0.0:
        return _planar(plan, R, t, B, inv.SEED, inv.COMPLETE)
    found, q0, q1 = _joint_before(plan, R, t)
    row = inv.COMPLETE
    for i in range(abs(found)):
        half = inv.HALF + i
        copy_row(B, inv.SEED, half)
        if found == FREE:
            B[half, inv.UNSURE] = 1.0
        else:
            B[half, inv.VALUES] = q0 if i == 0 else q1
        rest = _back(plan, 0, B[half, inv.VALUES], R)
        row = _planar(plan, rest, moved_by(plan, 0, -B[half, inv.VALUES], t), B, half, row)
    return row


@kernel
def _joint_before(plan: Array, R: Rotation, t: Vector) -> Roots:
    """Return the roots for the joint before the parallel axes."""
    h, c = vector(plan, 2, inv.NORMAL_0), vector(plan, 1, inv.MEET)
    w, origin = vector(plan, inv.JOINTS, inv.DIRECTION), vector(plan, inv.JOINTS, inv.ORIGIN)
    after = int(plan[0, inv.AFTER])
    target = plus(rotated(R, c), 1.0, t)
    if plan[inv.JOINTS, inv.SLIDES] != 0.0:
        return roots(True, -dot(h, w), 0.0, dot(h, minus(c, target)), plan[0, inv.LENGTH])
    if after == 0:
        return 1, angle_to(w, h, rotated(R, h)), 0.0
    arm, size = minus(target, origin), plan[0, inv.LENGTH]
    wanted = dot(h, minus(c, origin))
    if after == 1:
        axis = vector(plan, inv.JOINTS + 1 + int(plan[0, inv.PARALLEL]), inv.DIRECTION)
        seen = rotated(R, axis)
        reach, tilt = cross(w, arm), cross(w, seen)
        if dot(reach, reach) < size * size * dot(tilt, tilt):
            arm, wanted, size = seen, dot(h, axis), 1.0
    level = dot(h, w) * dot(w, arm)  # h . inverse(R1) arm = level + a cos q + b sin q
    return roots(False, dot(h, arm) - level, dot(h, cross(arm, w)), wanted - level, size)


@kernel
def _planar(plan: Array, R: Rotation, t: Vector, B: Array, source: int, row: int) -> int:
    """Solve for the parallel axes and those behind them; Q is (R, t)."""
    before, after = int(plan[0, inv.BEFORE]), int(plan[0, inv.AFTER])
    parallel = int(plan[0, inv.PARALLEL])
    h, c = vector(plan, 2, inv.NORMAL_0), vector(plan, 1, inv.CENTRE)
    last = before + parallel - 1
    turned = inv.HALF + 2
    for i in range(turned, turned + turn(plan, h, inv.TURN, after, R, B, source, turned)):
        target = c
        for joint in range(last + 1, last + 1 + after):
            target = moved_by(plan, joint, -B[i, inv.VALUES + joint], target)
        target = plus(rotated(R, target), 1.0, t)
        ways = 1
        if parallel == 3:
            ways = place_by_two(plan, before, c, target, B, i, row)
        else:
            copy_row(B, i, row)
            swing(plan, before, c, target, B, row)
        for k in range(row, row + ways):
            rest = B[k, inv.TURN]
            for joint in range(before, last):
                rest -= plan[inv.JOINTS + joint, inv.SENSE] * B[k, inv.VALUES + joint]
            B[k, inv.VALUES + last] = plan[inv.JOINTS + last, inv.SENSE] * rest
        row += ways
    return row


NEAR = 1e-3
"""Largest error [rad, or share of the arm's length] of a branch that is still polished."""
SLACK = 5e-5
"""Excess over a limit [rad, or share of the arm's length] up to which the limit is tried."""
ROUNDING = 1e-9
"""Excess over a limit [rad] above which a whole turn inside the limits is preferred."""


@kernel
def into_limits(c: Array, plan: Array, B: Array, row: int, W: Array) -> bool:
    """Fill W[:, Q] with a branch, moved by whole turns and clipped to the limits.

    Returns whether it was inside the limits, up to the slack.
    """
    n, inside = W.shape[0] - 1, True
    for i in range(n):
        k = inv.VALUES + (n - 1 - i if plan[0, inv.REVERSED] != 0.0 else i)
        q = B[row if i < n - plan[0, inv.KEPT] else inv.SEED, k]
        lower, upper, period = c[i + 1, LOWER], c[i + 1, UPPER], c[i + 1, PERIOD]
        slack = SLACK if period != 0.0 else SLACK * plan[0, inv.LENGTH]
        if period != 0.0:
            q += period * math.floor((W[i, PREFERRED] - q) / period + 0.5)
            if q > upper + slack:
                q -= period * math.ceil((q - upper - slack) / period)
            elif q < lower - slack:
                q += period * math.ceil((lower - slack - q) / period)
            if q > upper + ROUNDING and q - period >= lower:
                q -= period
            elif q < lower - ROUNDING and q + period <= upper:
                q += period
        inside = inside and lower - slack <= q <= upper + slack
        W[i, Q] = min(max(q, lower), upper)
    return inside


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
    """Sort the last slot into the others, by distance from the seed."""
    width = n + SLOT
    for s in range(last, 0, -1):
        at = HEAD + s * width
        if not out[at + width - 1] < out[at - 1]:
            break
        for k in range(at, at + width):
            out[k - width], out[k] = out[k], out[k - width]


SAME = 1e-6
"""Solutions nearer than this in every joint [rad, or units of the joint] are the same."""


@kernel
def solve_all(
    c: Array, opt: Array, plan: Array, T: Array, seed: Array, out: Array
) -> tuple[int, bool]:
    """Find every solution of a closed form for a pose T (4, 4), nearest to the seed (n,) first.

    Joints are moved by whole turns towards the seed; free joints stay there. Options are those of
    residuals.py; ``out`` is that of `search`, with a slot for each possible branch. Returns the
    number of solutions, BAD_TARGET or BAD_SEED, and whether one represents infinitely many.
    """
    n = c.shape[0] - 1
    sound = check_request(n, T, seed)
    if sound < 0:
        return sound, False
    W = work(n)
    set_target(T, c, W)
    set_preference(c, opt, W, seed)
    rows = plan.shape[0] - inv.JOINTS if plan[0, inv.FAMILY] == inv.GIVEN else inv.MOST
    B = np.empty((inv.COMPLETE + rows, inv.VALUES + n))
    end = fill_branches(c, plan, T, seed, B)
    found, singular = 0, False
    for row in range(inv.COMPLETE, end):
        unsure = B[row, inv.UNSURE] != 0.0
        if into_limits(c, plan, B, row, W):
            solves = is_solution(c, opt, plan, W)
        else:  # of infinitely many, another one may be inside the limits
            solves = unsure and descend(c, opt, W) == EXACT
        if solves:
            singular = singular or unsure
            if is_new(c, W, out, found, SAME):
                write_solution(c, opt, W, seed, out, HEAD + found * (n + SLOT))
                insert_sorted(n, out, found)
                found += 1
    out[FOUND] = found
    return found, singular


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
        return place_then_turn(plan, R, t, B)
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
) -> tuple[int, bool]:
    """Find the solution nearest to the seed, as `solve_all`; only that one is counted in ``out``.

    ``opt`` are the options of a descent, ``exact`` those of the branches.
    """
    n = c.shape[0] - 1
    sound = check_request(n, T, seed)
    if sound < 0:
        return sound, False
    W = work(n)
    set_target(T, c, W)
    if n >= TRACKED and opt[STARTS] > 0.0 and _descend_nearby(c, opt, plan, seed, W, out):
        return 1, False
    B = np.empty((inv.COMPLETE + inv.MOST, inv.VALUES + n))
    set_preference(c, exact, W, seed)
    end = fill_branches(c, plan, T, seed, B)
    if _measure(c, exact, plan, seed, W, B, end):
        for _ in range(inv.COMPLETE, end):
            row = _nearest_row(B, end)
            if into_limits(c, plan, B, row, W) and is_solution(c, exact, plan, W):
                write_solution(c, exact, W, seed, out, HEAD)
                out[FOUND] = 1.0
                return 1, B[row, inv.UNSURE] != 0.0
            B[row, inv.TURN] = math.inf
        out[FOUND] = 0.0
        return 0, False
    found, singular = solve_all(c, exact, plan, T, seed, out)
    found = min(found, 1)
    out[FOUND] = found
    return found, singular


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
    write_solution(c, opt, W, seed, out, HEAD)
    size = turned + off / (NEAR_PLACE * plan[0, inv.LENGTH])
    far = min(FAR, LEAP + LEAP_BY_ERROR * size)
    for i in range(n):
        if abs(out[HEAD + i] - seed[i]) > far * c[i + 1, UNIT]:
            return False
    out[FOUND] = 1.0
    return True


@kernel
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
        room[:HEAD] = 0.0
        found, _ = solve_nearest(c, opt, exact, plan, Ts[k], seeds[k], room)
        if found > 0:
            outs[k] = room[: outs.shape[1]]
        else:
            search(c, opt, Ts[k], seeds[k], outs[k])


@lru_cache(maxsize=1)
def prepare_closed_forms() -> None:
    """Compile closed forms, unless compiled before."""
    prepare_search()
    fix_types(solve_all, (2, 1, 2, 2, 1), (1,))
    fix_types(solve_nearest, (2, 1, 1, 2, 2, 1), (1,))
    fix_types(nearest_many, (2, 1, 1, 2, 3, 2), (1, 2))
