# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled: the path of a point that one joint moves, and what the next joint leaves alone."""

from __future__ import annotations

from arm_kinematics.closed_form.kernels_equations import VANISHED
from arm_kinematics.closed_form.kernels_plan import (
    DIRECTION,
    JOINTS,
    LENGTH,
    NORMAL_0,
    NORMAL_1,
    ORIGIN,
    PIVOT,
    SLIDES,
    UNSURE,
    VALUES,
)
from arm_kinematics.jit import kernel
from arm_kinematics.kernels import Array
from arm_kinematics.kernels_vectors import (
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

Path = tuple[Vector, Vector, Vector]


@kernel
def copy_row(B: Array, source: int, row: int) -> None:
    """Copy a branch."""
    for k in range(B.shape[1]):
        B[row, k] = B[source, k]


@kernel
def moved_by(plan: Array, joint: int, q: float, x: Vector) -> Vector:
    """Return the point x, moved by a joint."""
    w = vector(plan, JOINTS + joint, DIRECTION)
    if plan[JOINTS + joint, SLIDES] != 0.0:
        return plus(x, q, w)
    origin = vector(plan, JOINTS + joint, ORIGIN)
    return plus(turned(w, q, minus(x, origin)), 1.0, origin)


@kernel
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


@kernel
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
    """Return how large an invariant is at most, about."""
    size: float = plan[0, LENGTH]
    return size if which == 0 or plan[JOINTS + middle, SLIDES] != 0.0 else size * size


@kernel
def swing(plan: Array, joint: int, x: Vector, y: Vector, B: Array, row: int) -> None:
    """Let one joint bring x to y; a point on its axis leaves it at the seed."""
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
