# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled branches of both families of arms, not yet inside any limits.

Both solve e1 e2 ... en = Q with Q = T inverse(M), or its inverse, read from the tip, by ``place``
(a point) and ``turn`` (a rotation).

PLACE_THEN_TURN: the last axes meet in c. The joints before place it: e1 e2 e3 c = Q c. The others
turn: R4 R5 R6 = R3' R2' R1' R.

TURN_THEN_PLACE: neighbouring axes are parallel to h, with at most one joint before and two behind
them. The invariants of parallel axes give the joint before:

    h . (inverse(e1) Q c) = h . c    c on all axes behind, if they meet
    h . (inverse(R1) R w) = h . w    w the only axis behind
    inverse(R1) R h = h              if there is none

(Hawkins, "Analytic inverse kinematics for the Universal Robots", 2013, for one such arm; Elias and
Wen, "IK-Geo", Mechanism and Machine Theory 2025, for the general view.) If two axes behind do not
meet, both equations hold for a point and the direction of the last one, and give the joint before
and the first one behind together (``both_ends``). Then the parallel axes act as one turn about h,
which makes up a rotation with the axes behind; a planar arm is left.
"""

from __future__ import annotations

import math

from arm_common.jit import inlined_kernel, kernel
from arm_common.transforms import Array

from arm_kinematics.ik.closed_form import invariants as inv
from arm_kinematics.ik.closed_form.invariants import copy_row, moved_by, swing
from arm_kinematics.ik.closed_form.roots import FREE, Roots, roots
from arm_kinematics.ik.closed_form.subproblems import (
    both_ends,
    outer_turns,
    place,
    place_by_two,
    turn,
)
from arm_kinematics.kernels.forward import LOWER, PERIOD, UPPER
from arm_kinematics.kernels.vectors import (
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

SLACK = 5e-5
"""Excess over a limit [rad, or share of the arm's length] up to which the limit is tried."""


@kernel
def place_then_turn(c: Array, plan: Array, R: Rotation, t: Vector, B: Array) -> int:
    """Fill B from row COMPLETE on with all branches of Q = (R, t); return the end row.

    Row SEED of B, (COMPLETE + MOST, VALUES + n), is an input. Branches whose first joints cannot
    be inside the limits in the table c are left out.
    """
    before, after = int(plan[0, inv.BEFORE]), int(plan[0, inv.AFTER])
    centre = vector(plan, 1, inv.CENTRE)
    first = inv.HALF if after > 0 else inv.COMPLETE
    ways = place(plan, before, centre, plus(rotated(R, centre), 1.0, t), B, inv.SEED, first)
    if after == 0:
        return inv.COMPLETE + ways
    w = vector(plan, inv.JOINTS + before, inv.DIRECTION)
    row = inv.COMPLETE
    for half in range(inv.HALF, inv.HALF + ways):
        if B[half, inv.UNSURE] == 0.0 and not _fits(c, plan, before, B, half):
            continue
        rest = R
        for joint in range(before):
            rest = _back(plan, joint, B[half, inv.VALUES + joint], rest)
        row += turn(plan, w, inv.VALUES + before, after - 1, rest, B, half, row)
    return row


@inlined_kernel
def _fits(c: Array, plan: Array, joints: int, B: Array, row: int) -> bool:
    """Return whether whole turns bring the first joints of a plan inside the limits."""
    n, fits = c.shape[0] - 1, True
    for joint in range(joints):
        i = n - joint if plan[0, inv.REVERSED] != 0.0 else joint + 1
        width, period = c[i, UPPER] - c[i, LOWER], c[i, PERIOD]
        if width < period and i <= n - plan[0, inv.KEPT]:
            above = B[row, inv.VALUES + joint] - c[i, LOWER]
            above -= period * math.floor((above + SLACK) / period)
            fits = fits and above <= width + SLACK
    return fits


@inlined_kernel
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
    if plan[0, inv.FIRST] == inv.BOTH:
        return _from_both_ends(plan, R, t, B)
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
def _from_both_ends(plan: Array, R: Rotation, t: Vector, B: Array) -> int:
    """Solve for the joints before and behind the parallel axes together, then for the others."""
    h, row = vector(plan, 2, inv.NORMAL_0), inv.COMPLETE
    for half in range(inv.HALF, inv.HALF + both_ends(plan, R, t, B, inv.SEED, inv.HALF)):
        q = B[half, inv.VALUES]
        rest = _back(plan, 0, q, R)
        outer_turns(plan, h, inv.TURN, rest, B, half)
        row = _placed(plan, rest, moved_by(plan, 0, -q, t), B, half, row)
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
    h, after = vector(plan, 2, inv.NORMAL_0), int(plan[0, inv.AFTER])
    turned = inv.HALF + 2
    for i in range(turned, turned + turn(plan, h, inv.TURN, after, R, B, source, turned)):
        row = _placed(plan, R, t, B, i, row)
    return row


@kernel
def _placed(plan: Array, R: Rotation, t: Vector, B: Array, source: int, row: int) -> int:
    """Solve for the parallel axes, whose turn together and the joints behind are known."""
    before, after = int(plan[0, inv.BEFORE]), int(plan[0, inv.AFTER])
    parallel, c = int(plan[0, inv.PARALLEL]), vector(plan, 1, inv.CENTRE)
    last = before + parallel - 1
    target = c
    for joint in range(last + 1, last + 1 + after):
        target = moved_by(plan, joint, -B[source, inv.VALUES + joint], target)
    target = plus(rotated(R, target), 1.0, t)
    ways = 1
    if parallel == 3:
        ways = place_by_two(plan, before, c, target, B, source, row)
    else:
        copy_row(B, source, row)
        swing(plan, before, c, target, B, row)
    for k in range(row, row + ways):
        rest = B[k, inv.TURN]
        for joint in range(before, last):
            rest -= plan[inv.JOINTS + joint, inv.SENSE] * B[k, inv.VALUES + joint]
        B[k, inv.VALUES + last] = plan[inv.JOINTS + last, inv.SENSE] * rest
    return row + ways
