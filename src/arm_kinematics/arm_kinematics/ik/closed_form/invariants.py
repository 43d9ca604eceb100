# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The table ``plan`` that describes a closed form, and the invariants of a joint.

A plan takes the joints in the order of the chain, or of the chain read from its tip (REVERSED:
inverse(e1 e2 ... en) = inverse(en) ... inverse(e1), with reversed axes). Row 0 selects the method,
rows 1 to 3 hold its data, and from row JOINTS on there is a row for each joint in the plan's
order. The compiled functions compute the path of a point that one joint moves, and the
functions of it that are invariant under the next joint.
"""

from __future__ import annotations

from arm_common.jit import inlined_kernel, kernel
from arm_common.transforms import Array

from arm_kinematics.ik.closed_form.roots import VANISHED
from arm_kinematics.kernels.vectors import (
    Vector,
    angle_to,
    cross,
    dot,
    length,
    minus,
    plus,
    turned,
    vector,
)

COLUMNS = 13  # of the plan; in GIVEN, the joints of a branch

# Row 0.
FAMILY = 0  # PLACE_THEN_TURN, TURN_THEN_PLACE; or GIVEN: the branches are the rows from JOINTS on
REVERSED = 1  # 1 if the plan counts the joints from the tip
BEFORE = 2  # joints that bring a point to its place (0 to 3), or stand before parallel axes (0, 1)
PARALLEL = 3  # parallel axes (2 or 3); 0 in the other family
AFTER = 4  # joints after these, which turn about one point (0 to 3)
KEPT = 5  # last joints of the chain that stay at the seed, since they do not affect the target
FIRST = 6  # which joint of three is found first: 0, 2, or BOTH for a quartic in both; BOTH if
# the axes behind parallel ones do not meet
INVARIANT = 7  # from which invariant: 0 or 1
LENGTH = 8  # length of the arm [m]

PLACE_THEN_TURN, TURN_THEN_PLACE, GIVEN = 0, 1, 2
BOTH = -1

# Row 1: the point that is brought to its place, and where the axes of AFTER meet.
CENTRE, MEET = 0, 3
# Row 2: the second of three joints: a point on its axis or a normal, its direction or a normal.
PIVOT, NORMAL_0, NORMAL_1 = 0, 3, 6
# Row 3: the three axes of a wrist, see subproblems.py.
ZERO, BEND_4, BEND_6 = 0, 1, 2
# Rows 1 to 3: the upper rows of inverse(M).
HOME = 9

JOINTS = 4
# A joint's row: direction, point on the axis, 1 if it slides, its sense among parallel axes.
DIRECTION, ORIGIN, SLIDES, SENSE = 0, 3, 6, 7

# The table of branches, complete or not, one per row. Its columns:
UNSURE = 0  # 1 if a joint was free and kept at the seed
TURN = 1  # turn of all parallel axes together [rad]
VALUES = 2  # the joints, in the plan's order
# Its rows: the seed, partial branches, complete branches.
SEED, HALF, COMPLETE = 0, 1, 5
MOST = 8  # branches of a closed form


Path = tuple[Vector, Vector, Vector]


@inlined_kernel
def copy_row(B: Array, source: int, row: int) -> None:
    """Copy a branch."""
    for k in range(B.shape[1]):
        B[row, k] = B[source, k]


@inlined_kernel
def moved_by(plan: Array, joint: int, q: float, x: Vector) -> Vector:
    """Return the point x moved by a joint."""
    w = vector(plan, JOINTS + joint, DIRECTION)
    if plan[JOINTS + joint, SLIDES] != 0.0:
        return plus(x, q, w)
    origin = vector(plan, JOINTS + joint, ORIGIN)
    return plus(turned(w, q, minus(x, origin)), 1.0, origin)


@inlined_kernel
def path(plan: Array, joint: int, x: Vector, sense: float) -> Path:
    """Return o, C, D of the path o + (C, D) . phi(q) of a point moved by a joint, or back."""
    w = vector(plan, JOINTS + joint, DIRECTION)
    if plan[JOINTS + joint, SLIDES] != 0.0:
        return x, (sense * w[0], sense * w[1], sense * w[2]), (0.0, 0.0, 0.0)
    origin = vector(plan, JOINTS + joint, ORIGIN)
    foot = plus(origin, dot(w, minus(x, origin)), w)
    C = minus(x, foot)
    x0, x1, x2 = cross(w, C)
    return foot, C, (sense * x0, sense * x1, sense * x2)


@kernel
def on_path(on: Path, f0: float, f1: float) -> Vector:
    """Return the point o + (C, D) . (f0, f1)."""
    return plus(plus(on[0], f0, on[1]), f1, on[2])


@inlined_kernel
def invariant(
    plan: Array, which: int, middle: int, joint: int, on: Path
) -> tuple[float, float, float]:
    """Return k, a, b of the invariant k + (a, b) . phi(q) of joint ``middle`` along a path."""
    o, C, D = on
    from_pivot = minus(o, vector(plan, 2, PIVOT))
    if which == 0:
        n = vector(plan, 2, NORMAL_0)
        return dot(n, from_pivot), dot(n, C), dot(n, D)
    if plan[JOINTS + middle, SLIDES] != 0.0:
        n = vector(plan, 2, NORMAL_1)
        return dot(n, from_pivot), dot(n, C), dot(n, D)
    square, a = dot(from_pivot, from_pivot), 2.0 * dot(from_pivot, C)
    if plan[JOINTS + joint, SLIDES] != 0.0:
        return square, a, 1.0
    return square + dot(C, C), a, 2.0 * dot(from_pivot, D)


@kernel
def size_of(plan: Array, which: int, middle: int) -> float:
    """Return the order of magnitude of an invariant."""
    size: float = plan[0, LENGTH]
    return size if which == 0 or plan[JOINTS + middle, SLIDES] != 0.0 else size * size


@inlined_kernel
def swing(plan: Array, joint: int, x: Vector, y: Vector, B: Array, row: int) -> None:
    """Solve for the joint that brings x to y; with x on its axis it stays at the seed."""
    w = vector(plan, JOINTS + joint, DIRECTION)
    if plan[JOINTS + joint, SLIDES] != 0.0:
        B[row, VALUES + joint] = dot(w, minus(y, x))
        return
    origin = vector(plan, JOINTS + joint, ORIGIN)
    a = minus(x, origin)
    if length(cross(w, a)) <= VANISHED * plan[0, LENGTH]:
        B[row, UNSURE] = 1.0
        return
    B[row, VALUES + joint] = angle_to(w, a, minus(y, origin))
