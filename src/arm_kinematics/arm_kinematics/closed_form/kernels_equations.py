# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled equations in one joint, in closed form.

A joint enters linearly through two functions phi(q): (cos q, sin q) if it turns, (q, q^2) if it
slides. What comes out is how many roots there are, and these; FREE if the equation holds for
every q. A root that rounding has just lost (the edge of reach) is given as the nearest q, once.
"""

from __future__ import annotations

import math

from arm_kinematics.jit import kernel
from arm_kinematics.kernels_trig import sine_and_cosine

FREE = -1
LOST = 1e-3  # an equation off by more than this share of its size has no root
VANISHED = 1e-11  # coefficients below this share of their size are zero

Roots = tuple[int, float, float]


@kernel
def phi(sliding: bool, q: float) -> tuple[float, float]:
    """Return the two functions through which a joint enters."""
    if sliding:
        return q, q * q
    s, k = sine_and_cosine(q)
    return k, s


@kernel
def roots(sliding: bool, a: float, b: float, c: float, size: float) -> Roots:
    """Solve (a, b) . phi(q) = c, where size tells what counts as zero."""
    if sliding:
        return _slides(a, b, c, size)
    return _turns(a, b, c, size)


@kernel
def _turns(a: float, b: float, c: float, size: float) -> Roots:
    """Solve a cos q + b sin q = c (subproblem 4 of Murray, Li and Sastry; also 3)."""
    r = math.sqrt(a * a + b * b)
    if r <= VANISHED * size:
        return (FREE if abs(c) <= LOST * size else 0), 0.0, 0.0
    middle = math.atan2(b, a)
    rest = (r - c) * (r + c)
    if rest <= 0.0:
        if abs(c) - r > LOST * size:
            return 0, 0.0, 0.0
        return 1, (middle if c > 0.0 else middle + math.pi), 0.0
    half = math.atan2(math.sqrt(rest), c)
    return 2, middle + half, middle - half


@kernel
def _slides(a: float, b: float, c: float, size: float) -> Roots:
    """Solve a q + b q^2 = c without cancellation."""
    if abs(b) <= VANISHED:
        if abs(a) <= VANISHED:
            return (FREE if abs(c) <= LOST * size else 0), 0.0, 0.0
        return 1, c / a, 0.0
    middle = -0.5 * a / b
    rest = middle * middle + c / b
    if rest <= 0.0:
        return (1 if -rest <= LOST * size else 0), middle, 0.0
    far = middle + math.copysign(math.sqrt(rest), middle)
    return 2, far, (-c / b / far if far != 0.0 else 0.0)
