# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled: which branches count, and in which order.

A branch is turned into the limits, and counts only if the chain's own forward kinematics say so:
what a plan takes for parallel or meeting may be off by the rounding of a file's numbers, which
steps of the descent put right.
"""

from __future__ import annotations

import math

from arm_kinematics.closed_form.kernels_plan import KEPT, LENGTH, REVERSED, SEED, VALUES
from arm_kinematics.jit import kernel
from arm_kinematics.kernels import ERROR, LOWER, PERIOD, TOWARD, UPPER, Array, Q, move
from arm_kinematics.kernels_descent import descend
from arm_kinematics.kernels_error import EXACT, error, quality
from arm_kinematics.kernels_search import HEAD, SLOT

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
            q += period * math.floor((W[i, TOWARD] - q) / period + 0.5)
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
def sort_in(n: int, out: Array, last: int) -> None:
    """Move the last slot before those that are farther from the seed."""
    width = n + SLOT
    for s in range(last, 0, -1):
        at = HEAD + s * width
        if not out[at + width - 1] < out[at - 1]:
            break
        for k in range(at, at + width):
            out[k - width], out[k] = out[k], out[k - width]
