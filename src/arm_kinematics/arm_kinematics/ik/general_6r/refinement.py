# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled polishing by Newton's method on the six equations of the pose, and deduplication.

The error of a pose is its distance from the target over the length of the arm, and the angle
between the two; a solution is a pose whose error is round-off.
"""

from __future__ import annotations

import math

import numpy as np
from arm_common.jit import allocating_kernel, kernel
from arm_common.transforms import Array

from arm_kinematics.ik.general_6r.elimination import copy
from arm_kinematics.kernels.forward import COLUMN, TIP, columns, place

ITERATIONS = 40
LONGEST_STEP = 0.5  # [rad]
HALVINGS = 6
ROUND_OFF = 1e-15
GOOD = 1e-14  # error below which steps are not shortened
SOLVED = 1e-10  # error of a solution
NEGLIGIBLE_PIVOT = 1e-13
SAME = 1e-8  # solutions nearer than this are the same [rad]
NEAR = 1e-2  # ... and those nearer than this, if the point half-way is a solution too


@kernel
def pose_error(T: Array, unit: float, W: Array, e: Array) -> float:
    """Fill e (6,) with the error of the pose in W: position over unit, rotation; return its size.

    The rotation is (R' x R summed over columns) / 2: the rotation vector, if it is small. The size
    is that of the difference of the matrices, which is 0 at the target only.
    """
    n = W.shape[0] - 1
    total = 0.0
    for i in range(3):
        e[i] = (T[i, 3] - W[n, TIP + 9 + i]) / unit
        total += e[i] * e[i]
        j, k = (i + 1) % 3, (i + 2) % 3
        e[3 + i] = 0.0
        for m in range(3):
            rj, rk = W[n, TIP + 3 * j + m], W[n, TIP + 3 * k + m]
            e[3 + i] += 0.5 * (rj * T[k, m] - rk * T[j, m])
            difference = T[i, m] - W[n, TIP + 3 * i + m]
            total += 0.5 * difference * difference
    return math.sqrt(total)


@allocating_kernel
def newton(
    c: Array, T: Array, unit: float, limit: float, q: Array, W: Array
) -> tuple[float, float]:
    """Improve q in place as far as rounding allows; return the errors before and after.

    A q whose error exceeds the limit is not changed. Steps are shortened until they reduce the
    error. Directions in which the arm cannot move are ignored.
    """
    e, A, step, trial = np.empty(6), np.empty((6, 7)), np.empty(6), np.empty(6)
    place(c, q, W)
    error = first = pose_error(T, unit, W, e)
    for _ in range(ITERATIONS):
        if error < ROUND_OFF or first > limit:
            break
        columns(c, W)
        for k in range(6):
            for i in range(6):
                A[k, i] = W[i, COLUMN + k] / (unit if k < 3 else 1.0)
            A[k, 6] = e[k]
        scale = solve_linear(A, step)
        better = False
        for _ in range(HALVINGS):
            for i in range(6):
                trial[i] = q[i] + scale * step[i]
            place(c, trial, W)
            error_new = pose_error(T, unit, W, e)
            better = error_new < error
            if better or error < GOOD:
                break
            scale *= 0.5
        if not better:
            break
        error = error_new
        copy(trial, q)
    for i in range(6):
        q[i] = wrap(q[i])
    return first, error


@allocating_kernel
def solve_linear(A: Array, x: Array) -> float:
    """Solve A[:, :n] x = A[:, n] by elimination with complete pivoting; A (n, n + 1) is used up.

    Unknowns whose pivots are negligible are 0. Returns the factor that keeps the step short.
    """
    n = A.shape[0]
    order = np.arange(n)
    rank = n
    for k in range(n):
        row, column = k, k
        for i in range(k, n):
            for j in range(k, n):
                if abs(A[i, j]) > abs(A[row, column]):
                    row, column = i, j
        if abs(A[row, column]) <= NEGLIGIBLE_PIVOT * (abs(A[0, 0]) if k > 0 else 0.0):
            rank = k
            break
        for j in range(n + 1):
            A[k, j], A[row, j] = A[row, j], A[k, j]
        for i in range(n):
            A[i, k], A[i, column] = A[i, column], A[i, k]
        order[k], order[column] = order[column], order[k]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            for j in range(k, n + 1):
                A[i, j] -= factor * A[k, j]
    for k in range(n):
        x[k] = 0.0
    longest = LONGEST_STEP
    for k in range(rank - 1, -1, -1):
        total = A[k, n]
        for j in range(k + 1, rank):
            total -= A[k, j] * x[order[j]]
        x[order[k]] = total / A[k, k]
        longest = max(longest, abs(x[order[k]]))
    return LONGEST_STEP / longest


@kernel
def wrap(angle: float) -> float:
    """Return the angle in (-pi, pi]."""
    turned = angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)
    return turned if turned > -math.pi else math.pi


@kernel
def distance(p: Array, q: Array) -> float:
    """Return the largest difference of two sets of angles, modulo whole turns."""
    largest = 0.0
    for i in range(p.size):
        largest = max(largest, abs(wrap(p[i] - q[i])))
    return largest


@allocating_kernel
def is_same(c: Array, T: Array, unit: float, p: Array, q: Array, W: Array) -> bool:
    """Return whether two solutions are the same: the posture half-way is about as accurate."""
    apart = distance(p, q)
    if apart < SAME or apart > NEAR:
        return apart < SAME
    middle, e = np.empty(6), np.empty(6)
    for i in range(6):
        middle[i] = q[i] + 0.5 * wrap(p[i] - q[i])
    worse = ROUND_OFF
    for x in (p, q):
        place(c, x, W)
        worse = max(worse, pose_error(T, unit, W, e))
    place(c, middle, W)
    return pose_error(T, unit, W, e) < 2.0 * worse
