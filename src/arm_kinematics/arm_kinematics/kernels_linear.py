# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled normal equations of a step, and their solution."""

from __future__ import annotations

from arm_kinematics.jit import kernel
from arm_kinematics.kernels import COLUMN, DELTA, ERROR, FREE, GRADIENT, SYSTEM, Array


@kernel
def normal_equations(opt: Array, W: Array, weights: int) -> float:
    """Fill the lower half of J' V^2 J (SYSTEM) and J' V^2 e (GRADIENT); return the trace.

    V is diagonal, with the six entries of opt from ``weights`` on.
    """
    n = W.shape[0] - 1
    p, q, r = opt[weights] ** 2, opt[weights + 1] ** 2, opt[weights + 2] ** 2
    a, b, d = opt[weights + 3] ** 2, opt[weights + 4] ** 2, opt[weights + 5] ** 2
    e0, e1, e2 = W[n, ERROR], W[n, ERROR + 1], W[n, ERROR + 2]
    e3, e4, e5 = W[n, ERROR + 3], W[n, ERROR + 4], W[n, ERROR + 5]
    trace = 0.0
    for i in range(n):
        j0, j1, j2 = p * W[i, COLUMN], q * W[i, COLUMN + 1], r * W[i, COLUMN + 2]
        j3, j4, j5 = a * W[i, COLUMN + 3], b * W[i, COLUMN + 4], d * W[i, COLUMN + 5]
        W[i, GRADIENT] = j0 * e0 + j1 * e1 + j2 * e2 + j3 * e3 + j4 * e4 + j5 * e5
        for k in range(i + 1):
            W[i, SYSTEM + k] = (
                j0 * W[k, COLUMN]
                + j1 * W[k, COLUMN + 1]
                + j2 * W[k, COLUMN + 2]
                + j3 * W[k, COLUMN + 3]
                + j4 * W[k, COLUMN + 4]
                + j5 * W[k, COLUMN + 5]
            )
        trace += W[i, SYSTEM + i]
    return trace


@kernel
def damped_step(W: Array, column: int, damping: float, floor: float) -> None:
    """Solve (SYSTEM + damping W[:, column] + floor) DELTA = -GRADIENT for the free joints.

    By L D L'; W[:, column] and floor are on the diagonal.
    """
    n = W.shape[0] - 1
    factor = SYSTEM + n  # here: L D below the diagonal while a row is built, then L; 1/D on it
    for i in range(n):
        free = W[i, FREE]
        right = -free * W[i, GRADIENT]
        pivot = W[i, SYSTEM + i] + damping * W[i, column] + floor
        for k in range(i):
            entry = free * W[k, FREE] * W[i, SYSTEM + k]
            for m in range(k):
                entry -= W[i, factor + m] * W[k, factor + m]
            W[i, factor + k] = entry
        for k in range(i):
            entry = W[i, factor + k]
            scaled = entry * W[k, factor + k]
            W[i, factor + k] = scaled
            pivot -= entry * scaled
            right -= scaled * W[k, DELTA]
        W[i, factor + i] = 1.0 / pivot if pivot > 0.0 else 0.0
        W[i, DELTA] = right
    for i in range(n - 1, -1, -1):
        total = W[i, DELTA] * W[i, factor + i]
        for m in range(i + 1, n):
            total -= W[m, factor + i] * W[m, DELTA]
        W[i, DELTA] = total
