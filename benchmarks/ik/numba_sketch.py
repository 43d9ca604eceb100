# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Damped least squares as anybody writes it in an afternoon, compiled by Numba.

One descent from the seed, damped in proportion to the squared error and clipped to the limits: no
restarts, no other answer than joint positions or none.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numba
import numpy as np

from ik.problem import NotForThisError, Problem, Solve

STEPS, DAMPING, LEAST = 100, 0.2, 1e-12
compiled = numba.njit(nogil=True, fastmath=True, error_model="numpy")


def solver(problem: Problem) -> Solve:
    """Return the solver of an arm, for poses and for positions."""
    if problem.mode == "position_axis":
        raise NotForThisError(f"no mode {problem.mode}")
    homes = [np.eye(4), *map(problem.joint_frame, range(problem.n)), problem.M]
    between = np.array([np.linalg.inv(a) @ b for a, b in pairwise(homes)])
    slides, lower, upper = problem.prismatic.astype(bool), problem.lower, problem.upper
    bounds = np.array([problem.position_tolerance, problem.orientation_tolerance])
    if problem.mode == "position":
        bounds[1] = np.inf

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        q, found = descend(between, slides, lower, upper, bounds, T, seed)
        return q if found else None

    return solve


@compiled
def descend(between, slides, lower, upper, bounds, T, seed):
    """Return joint positions (n,), and whether the tip is within the tolerances there."""
    n = seed.size
    q, error, step = seed.copy(), np.empty(6), np.empty(n)
    axes, J, A = np.empty((n, 6)), np.empty((n, 6)), np.empty((n, n))
    tip = np.empty((3, 4))
    rows = 3 if bounds[1] == np.inf else 6
    for _ in range(STEPS):
        forward(between, slides, q, axes, tip)
        off, turned = difference(T, tip, error)
        if off <= bounds[0] and turned <= bounds[1]:
            return q, True
        jacobian(axes, slides, tip, J)
        square = off * off + (turned * turned if rows == 6 else 0.0)
        for i in range(n):
            step[i] = 0.0
            for k in range(rows):
                step[i] += J[i, k] * error[k]
            for m in range(i + 1):
                A[i, m] = 0.0
                for k in range(rows):
                    A[i, m] += J[i, k] * J[m, k]
            A[i, i] += DAMPING * square + LEAST
        solve_in_place(A, step)
        for i in range(n):
            q[i] = min(max(q[i] + step[i], lower[i]), upper[i])
    return q, False


@compiled
def forward(between, slides, q, axes, tip):
    """Fill the pose (3, 4) of the tip, and the point and direction of each axis (n, 6)."""
    n = q.size
    for r in range(3):
        x, y, z, p = between[0, r, 0], between[0, r, 1], between[0, r, 2], between[0, r, 3]
        for i in range(n):
            axes[i, r], axes[i, 3 + r] = p, z
            if slides[i]:
                p += q[i] * z
            else:
                s, c = math.sin(q[i]), math.cos(q[i])
                x, y = c * x + s * y, c * y - s * x
            B = between[i + 1]
            p += x * B[0, 3] + y * B[1, 3] + z * B[2, 3]
            x, y, z = (
                x * B[0, 0] + y * B[1, 0] + z * B[2, 0],
                x * B[0, 1] + y * B[1, 1] + z * B[2, 1],
                x * B[0, 2] + y * B[1, 2] + z * B[2, 2],
            )
        tip[r, 0], tip[r, 1], tip[r, 2], tip[r, 3] = x, y, z, p


@compiled
def jacobian(axes, slides, tip, J):
    """Fill the transpose (n, 6) of the geometric Jacobian at the tip's origin."""
    for i in range(len(axes)):
        a, b, c = axes[i, 3], axes[i, 4], axes[i, 5]
        if slides[i]:
            J[i, 0], J[i, 1], J[i, 2] = a, b, c
            J[i, 3], J[i, 4], J[i, 5] = 0.0, 0.0, 0.0
        else:
            x, y, z = tip[0, 3] - axes[i, 0], tip[1, 3] - axes[i, 1], tip[2, 3] - axes[i, 2]
            J[i, 0], J[i, 1], J[i, 2] = b * z - c * y, c * x - a * z, a * y - b * x
            J[i, 3], J[i, 4], J[i, 5] = a, b, c


@compiled
def difference(T, tip, error):
    """Fill the way from the tip to the target, then the rotation vector; return both lengths."""
    x = y = z = 0.0
    trace = -1.0
    for k in range(3):
        error[k] = T[k, 3] - tip[k, 3]
        x += tip[1, k] * T[2, k] - tip[2, k] * T[1, k]
        y += tip[2, k] * T[0, k] - tip[0, k] * T[2, k]
        z += tip[0, k] * T[1, k] - tip[1, k] * T[0, k]
        trace += tip[0, k] * T[0, k] + tip[1, k] * T[1, k] + tip[2, k] * T[2, k]
    sine = math.sqrt(x * x + y * y + z * z)
    turned = math.atan2(sine, trace)
    scale = turned / sine if sine > 1e-12 else 0.5
    error[3], error[4], error[5] = scale * x, scale * y, scale * z
    return math.sqrt(error[0] ** 2 + error[1] ** 2 + error[2] ** 2), turned


@compiled
def solve_in_place(A, b):
    """Replace b by the solution of A x = b, A symmetric and positive, by Cholesky's method."""
    n = b.size
    for i in range(n):
        for k in range(i + 1):
            total = A[i, k]
            for m in range(k):
                total -= A[i, m] * A[k, m]
            A[i, k] = math.sqrt(max(total, LEAST)) if i == k else total / A[k, k]
        for m in range(i):
            b[i] -= A[i, m] * b[m]
        b[i] /= A[i, i]
    for i in range(n - 1, -1, -1):
        for m in range(i + 1, n):
            b[i] -= A[m, i] * b[m]
        b[i] /= A[i, i]
