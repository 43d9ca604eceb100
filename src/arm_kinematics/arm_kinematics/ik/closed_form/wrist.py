# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled: a rotation as turns about one, two or three given axes.

R = R4, R4 R5 or R4 R5 R6. With three axes the polar angle of R w6 from w4 is that of R5 w6, which
gives q5 by the spherical law of cosines, in the half-angle form that keeps its digits where the
wrist is straight. The rest is subproblem 1 of Paden and Kahan (Murray, Li and Sastry, "A
Mathematical Introduction to Robotic Manipulation", 1994, section 3.3.2): q4 turns R5 w6 to R w6,
and since R5 w5 = w5, q6 turns R' R4 w5 to w5.
"""

from __future__ import annotations

import math

from arm_common.jit import kernel
from arm_common.transforms import Array

from arm_kinematics.ik.closed_form.invariants import (
    BEND_4,
    BEND_6,
    DIRECTION,
    JOINTS,
    UNSURE,
    VALUES,
    ZERO,
    copy_row,
)
from arm_kinematics.ik.closed_form.roots import LOST
from arm_kinematics.kernels.vectors import (
    Rotation,
    Vector,
    angle_of,
    angle_to,
    cross,
    dot,
    length,
    rotated,
    rotated_back,
    turned,
    vector,
)

STRAIGHT = 1e-10
"""Sine of the angle below which two axes are in line."""


@kernel
def turn(
    plan: Array, w: Vector, at: int, more: int, R: Rotation, B: Array, source: int, row: int
) -> int:
    """Write R as turns about w and about the joints behind it; return in how many ways.

    Args:
        plan: See invariants.py.
        w: The first axis.
        at: The column of B for the turn about it: of a joint, or TURN.
        more: How many joints come after the first axis, 0 to 2; they are the last of the plan.
        R: The rotation.
        B: Branches; each way becomes a row, from ``row`` on.
        source: The row of B that has been found so far.
        row: See B.
    """
    copy_row(B, source, row)
    if more == 0:
        B[row, at] = angle_of(w, R)
        return 1
    five = plan.shape[0] - more
    w5 = vector(plan, five, DIRECTION)
    five += VALUES - JOINTS
    if more == 1:
        B[row, five] = angle_to(w5, rotated_back(R, w), w)
        B[row, at] = angle_to(w, w5, rotated(R, w5))
        return 1
    return _three_turns(plan, w, at, R, B, source, row)


@kernel
def _three_turns(
    plan: Array, w: Vector, at: int, R: Rotation, B: Array, source: int, row: int
) -> int:
    five = plan.shape[0] - 2
    w5, w6 = vector(plan, five, DIRECTION), vector(plan, five + 1, DIRECTION)
    five += VALUES - JOINTS
    v = rotated(R, w6)
    aside = length(cross(w, v))
    square = plan[3, BEND_4] == 0.5 * math.pi and plan[3, BEND_6] == 0.5 * math.pi
    bend = math.atan2(aside, dot(w, v))
    if not square:
        bend = _bend(bend, plan[3, BEND_4], plan[3, BEND_6])
        if bend < 0.0:
            return 0
    ways = 1 if bend <= STRAIGHT or math.pi - bend <= STRAIGHT else 2
    for i in range(row, row + ways):
        copy_row(B, source, i)
        B[i, five] = plan[3, ZERO] + (bend if i == row else -bend)
        if i > row and square:  # the same wrist, turned over
            B[i, at], B[i, five + 1] = B[row, at] + math.pi, B[row, five + 1] + math.pi
            break
        if aside > STRAIGHT:
            B[i, at] = angle_to(w, turned(w5, B[i, five], w6), v)
        else:  # axes 4 and 6 are in line, so that one of them is kept at the seed
            B[i, UNSURE] = 1.0
            if at < VALUES:
                B[i, at] = angle_to(w, w5, rotated(R, turned(w6, -B[i, five + 1], w5)))
        B[i, five + 1] = angle_to(w6, rotated_back(R, turned(w, B[i, at], w5)), w5)
    return ways


@kernel
def _bend(polar: float, b4: float, b6: float) -> float:
    """Return the angle at joint 5 of the triangle on the sphere with sides b4, b6 and ``polar``.

    tan^2(x/2) = sin((c-a+b)/2) sin((c+a-b)/2) / (sin((a+b-c)/2) sin((a+b+c)/2)); -1 if there is no
    such triangle.
    """
    over = math.sin(0.5 * (polar - b4 + b6)) * math.sin(0.5 * (polar + b4 - b6))
    under = math.sin(0.5 * (b4 + b6 - polar)) * math.sin(0.5 * (b4 + b6 + polar))
    if over < -LOST or under < -LOST:
        return -1.0
    return 2.0 * math.atan2(math.sqrt(max(over, 0.0)), math.sqrt(max(under, 0.0)))
