# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled: every branch of a closed form that is a solution, nearest to the seed first.

Both families of arms solve e1 e2 ... en = Q with Q = T inverse(M), or its inverse, read from the
tip, by ``place`` (a point) and ``turn`` (a rotation).

PLACE_THEN_TURN: the last axes meet in c. The joints before place it: e1 e2 e3 c = Q c. The others
turn: R4 R5 R6 = R3' R2' R1' R.

TURN_THEN_PLACE: some neighbouring axes are parallel to h; before them is at most one joint, behind
them are at most two. What parallel axes leave alone gives the joint before:

    h . (inverse(e1) Q c) = h . c    c on all axes behind (two axes have to meet)
    h . (inverse(R1) R w) = h . w    w the axis behind, if it is only one
    inverse(R1) R h = h              if there is none

(Hawkins, "Analytic inverse kinematics for the Universal Robots", 2013, for one such arm; Elias and
Wen, "IK-Geo", Mechanism and Machine Theory 2025, for the general view.) Then the parallel axes are
one turn about h, and with the axes behind make up a rotation; what is left is a planar arm.

A branch is turned into the limits, and counts only if the chain's own forward kinematics confirm
it: what a plan takes for parallel or meeting may be off by the rounding of a file's numbers, which
steps of the descent correct.
"""

from __future__ import annotations

import math

import numpy as np
from arm_common.jit import kernel
from arm_common.transforms import Array

from arm_kinematics.ik.closed_form.invariants import (
    AFTER,
    BEFORE,
    CENTRE,
    COMPLETE,
    DIRECTION,
    FAMILY,
    GIVEN,
    HALF,
    HOME,
    JOINTS,
    KEPT,
    LENGTH,
    MEET,
    MOST,
    NORMAL_0,
    ORIGIN,
    PARALLEL,
    PLACE_THEN_TURN,
    REVERSED,
    SEED,
    SENSE,
    SLIDES,
    TURN,
    TURN_THEN_PLACE,
    UNSURE,
    VALUES,
    copy_row,
    moved_by,
    swing,
)
from arm_kinematics.ik.closed_form.roots import FREE, Roots, roots
from arm_kinematics.ik.closed_form.subproblems import place, place_by_two
from arm_kinematics.ik.closed_form.wrist import turn
from arm_kinematics.kernels.descent import descend
from arm_kinematics.kernels.forward import (
    ERROR,
    LOWER,
    PERIOD,
    PREFERRED,
    UPPER,
    Q,
    move,
    work,
)
from arm_kinematics.kernels.nullspace import set_preference
from arm_kinematics.kernels.residuals import EXACT, error, quality
from arm_kinematics.kernels.search import (
    FOUND,
    HEAD,
    SLOT,
    check_request,
    is_new,
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
    """Fill B from row COMPLETE on with all branches; return the row behind the last one.

    Args:
        plan: See invariants.py.
        R: Rotation of Q.
        t: Translation of Q.
        B: (COMPLETE + MOST, VALUES + n), of which row SEED is given.
    """
    before, after = int(plan[0, BEFORE]), int(plan[0, AFTER])
    c = vector(plan, 1, CENTRE)
    first = HALF if after > 0 else COMPLETE
    ways = place(plan, before, c, plus(rotated(R, c), 1.0, t), B, SEED, first)
    if after == 0:
        return COMPLETE + ways
    w = vector(plan, JOINTS + before, DIRECTION)
    row = COMPLETE
    for half in range(HALF, HALF + ways):
        rest = R
        for joint in range(before):
            rest = _back(plan, joint, B[half, VALUES + joint], rest)
        row += turn(plan, w, VALUES + before, after - 1, rest, B, half, row)
    return row


@kernel
def _back(plan: Array, joint: int, q: float, R: Rotation) -> Rotation:
    """Return inverse(Rot(joint, q)) R."""
    if plan[JOINTS + joint, SLIDES] != 0.0:
        return R
    return turned_columns(vector(plan, JOINTS + joint, DIRECTION), -q, R)


@kernel
def turn_then_place(plan: Array, R: Rotation, t: Vector, B: Array) -> int:
    """Do the same for the other family."""
    if plan[0, BEFORE] == 0.0:
        return _planar(plan, R, t, B, SEED, COMPLETE)
    found, q0, q1 = _joint_before(plan, R, t)
    row = COMPLETE
    for i in range(abs(found)):
        half = HALF + i
        copy_row(B, SEED, half)
        if found == FREE:
            B[half, UNSURE] = 1.0
        else:
            B[half, VALUES] = q0 if i == 0 else q1
        rest = _back(plan, 0, B[half, VALUES], R)
        row = _planar(plan, rest, moved_by(plan, 0, -B[half, VALUES], t), B, half, row)
    return row


@kernel
def _joint_before(plan: Array, R: Rotation, t: Vector) -> Roots:
    """Return the roots for the joint before the parallel axes."""
    h, c = vector(plan, 2, NORMAL_0), vector(plan, 1, MEET)
    w, origin = vector(plan, JOINTS, DIRECTION), vector(plan, JOINTS, ORIGIN)
    after = int(plan[0, AFTER])
    target = plus(rotated(R, c), 1.0, t)
    if plan[JOINTS, SLIDES] != 0.0:
        return roots(True, -dot(h, w), 0.0, dot(h, minus(c, target)), plan[0, LENGTH])
    if after == 0:
        return 1, angle_to(w, h, rotated(R, h)), 0.0
    arm, size = minus(target, origin), plan[0, LENGTH]
    wanted = dot(h, minus(c, origin))
    if after == 1:
        axis = vector(plan, JOINTS + 1 + int(plan[0, PARALLEL]), DIRECTION)
        seen = rotated(R, axis)
        reach, tilt = cross(w, arm), cross(w, seen)
        if dot(reach, reach) < size * size * dot(tilt, tilt):
            arm, wanted, size = seen, dot(h, axis), 1.0
    level = dot(h, w) * dot(w, arm)  # h . inverse(R1) arm = level + a cos q + b sin q
    return roots(False, dot(h, arm) - level, dot(h, cross(arm, w)), wanted - level, size)


@kernel
def _planar(plan: Array, R: Rotation, t: Vector, B: Array, source: int, row: int) -> int:
    """Solve for parallel axes and those behind; Q is (R, t)."""
    before, parallel, after = int(plan[0, BEFORE]), int(plan[0, PARALLEL]), int(plan[0, AFTER])
    h, c = vector(plan, 2, NORMAL_0), vector(plan, 1, CENTRE)
    last = before + parallel - 1
    turned = HALF + 2
    for i in range(turned, turned + turn(plan, h, TURN, after, R, B, source, turned)):
        target = c
        for joint in range(last + 1, last + 1 + after):
            target = moved_by(plan, joint, -B[i, VALUES + joint], target)
        target = plus(rotated(R, target), 1.0, t)
        ways = 1
        if parallel == 3:
            ways = place_by_two(plan, before, c, target, B, i, row)
        else:
            copy_row(B, i, row)
            swing(plan, before, c, target, B, row)
        for k in range(row, row + ways):
            rest = B[k, TURN]
            for joint in range(before, last):
                rest -= plan[JOINTS + joint, SENSE] * B[k, VALUES + joint]
            B[k, VALUES + last] = plan[JOINTS + last, SENSE] * rest
        row += ways
    return row


NEAR = 1e-3
"""A branch off by more [rad, or share of the arm's length] is none; less is polished away."""
SLACK = 5e-5
"""A joint so far beyond its limit [rad, or share of the arm's length] is tried at the limit."""
ROUNDING = 1e-9
"""A joint farther beyond its limit [rad] rather takes the whole turn that is inside, if any."""


@kernel
def into_limits(c: Array, plan: Array, B: Array, row: int, W: Array) -> bool:
    """Fill W[:, Q] with a branch by whole turns as preferred, inside the limits.

    False if that took more of it than a little.
    """
    n, inside = W.shape[0] - 1, True
    for i in range(n):
        k = VALUES + (n - 1 - i if plan[0, REVERSED] != 0.0 else i)
        q = B[row if i < n - plan[0, KEPT] else SEED, k]
        lower, upper, period = c[i + 1, LOWER], c[i + 1, UPPER], c[i + 1, PERIOD]
        slack = SLACK if period != 0.0 else SLACK * plan[0, LENGTH]
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
    """Return whether W[:, Q] is one, after polishing it if need be."""
    n = W.shape[0] - 1
    move(c, W, Q)
    cost = error(opt, W, ERROR)
    if quality(opt, W, ERROR, cost) == EXACT:
        return True
    off, turned = 0.0, 0.0
    for k in range(3):
        off = max(off, abs(W[n, ERROR + k]))
        turned = max(turned, abs(W[n, ERROR + 3 + k]))
    if not (off <= NEAR * plan[0, LENGTH] and turned <= NEAR):
        return False
    return bool(descend(c, opt, W) == EXACT)


@kernel
def insert_sorted(n: int, out: Array, last: int) -> None:
    """Move the last slot before those that are farther from the seed."""
    width = n + SLOT
    for s in range(last, 0, -1):
        at = HEAD + s * width
        if not out[at + width - 1] < out[at - 1]:
            break
        for k in range(at, at + width):
            out[k - width], out[k] = out[k], out[k - width]


SAME = 1e-6
"""Solutions nearer than this in every joint [rad, or units of the joint] are one."""


@kernel
def solve_all(
    c: Array, opt: Array, plan: Array, T: Array, seed: Array, out: Array
) -> tuple[int, bool]:
    """Find every solution of a closed form, nearest to the seed first.

    Args:
        c: Constants of the chain, see kernels/forward.py.
        opt: Options, see residuals.py.
        plan: The closed form, see invariants.py.
        T: Wanted pose (4, 4).
        seed: What solutions are turned to by whole turns, and where free joints stay, (n,).
        out: Result as of `search`, with a slot for each branch there may be.

    Returns:
        Solutions found, and whether one of them stands for infinitely many; BAD_TARGET or BAD_SEED
        if T or seed make no sense.
    """
    n = c.shape[0] - 1
    sound = check_request(n, T, seed)
    if sound < 0:
        return sound, False
    W = work(n)
    set_target(T, c, W)
    set_preference(c, opt, W, seed)
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
                write_solution(c, opt, W, seed, out, HEAD + found * (n + SLOT))
                insert_sorted(n, out, found)
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
