# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled: the two families of arms, made of ``place`` (a point) and ``turn`` (a rotation).

Both solve e1 e2 ... en = Q with Q = T inverse(M), or its inverse, read from the tip.

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
"""

from __future__ import annotations

from arm_kinematics.closed_form.kernels_equations import FREE, Roots, roots
from arm_kinematics.closed_form.kernels_invariants import copy_row, moved_by, swing
from arm_kinematics.closed_form.kernels_place import place, place_by_two
from arm_kinematics.closed_form.kernels_plan import (
    AFTER,
    BEFORE,
    CENTRE,
    COMPLETE,
    DIRECTION,
    HALF,
    JOINTS,
    LENGTH,
    MEET,
    NORMAL_0,
    ORIGIN,
    PARALLEL,
    SEED,
    SENSE,
    SLIDES,
    TURN,
    UNSURE,
    VALUES,
)
from arm_kinematics.closed_form.kernels_wrist import turn
from arm_kinematics.jit import kernel
from arm_kinematics.kernels import Array
from arm_kinematics.kernels_vectors import (
    Rotation,
    Vector,
    angle_to,
    cross,
    dot,
    minus,
    plus,
    rotated,
    turned_columns,
    vector,
)


@kernel
def place_then_turn(plan: Array, R: Rotation, t: Vector, B: Array) -> int:
    """Fill B from row COMPLETE on with all branches; return the row behind the last one.

    Args:
        plan: See kernels_plan.py.
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
