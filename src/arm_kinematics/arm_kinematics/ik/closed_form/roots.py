# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled real roots of equations in one joint, and of polynomials of low degree.

A joint enters linearly through two functions phi(q): (cos q, sin q) if it turns, (q, q^2) if it
slides. The functions return the number of roots and the roots; FREE if every q is one. A root just
lost by rounding (the edge of reach) is returned as the nearest q, once.

Between two neighbouring roots of its derivative a polynomial is monotone, so each of its real
roots is bracketed and found to the last digit, from the derivatives of low degree upwards. Unlike
Ferrari's formulae this loses no accuracy where roots are close.
"""

from __future__ import annotations

import math

import numpy as np
from arm_common.jit import allocating_kernel, inlined_kernel, kernel
from arm_common.transforms import Array

from arm_kinematics.kernels.forward import sine_and_cosine

FREE = -1
LOST = 1e-3  # an equation off by more than this share of its size has no root
VANISHED = 1e-11  # coefficients below this share of their size are zero

Roots = tuple[int, float, float]


@inlined_kernel
def phi(sliding: bool, q: float) -> tuple[float, float]:
    """Return the two functions of q through which a joint enters."""
    if sliding:
        return q, q * q
    s, k = sine_and_cosine(q)
    return k, s


@inlined_kernel
def roots(sliding: bool, a: float, b: float, c: float, size: float) -> Roots:
    """Solve (a, b) . phi(q) = c; ``size`` is the scale of the coefficients."""
    if sliding:
        return _slides(a, b, c, size)
    return _turns(a, b, c, size)


@inlined_kernel
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


DEGREE = 4
TOUCHES = 1e-7
"""A minimum this near to zero, as a share of the sum of the terms' sizes, counts as a root."""
_STEPS = 80


@kernel
def real_roots(P: Array, X: Array) -> int:
    """Fill X[DEGREE] with the real roots of P[DEGREE], ascending; return their number.

    P[DEGREE] holds the coefficients, constant first; the other rows are buffers of derivatives.
    """
    for d in range(DEGREE, 1, -1):
        for i in range(d):
            P[d - 1, i] = (i + 1) * P[d, i + 1]
    found = 0
    for d in range(1, DEGREE + 1):
        found = _next_roots(P, X, d, found)
    return found


@kernel
def _next_roots(P: Array, X: Array, d: int, turns: int) -> int:
    """Fill X[d] with the roots of P[d] from the roots X[d - 1, :turns] of its derivative."""
    end = _bound(P, d)
    if end == 0.0:  # a constant: no roots, or all
        return 0
    found = 0
    left, value = -end, _value(P, d, -end)
    for i in range(turns + 1):
        right = min(max(X[d - 1, i], -end), end) if i < turns else end
        after = _value(P, d, right)
        if value * after < 0.0 or value == 0.0:
            X[d, found] = _between(P, d, left, right, value)
            found += 1
        elif i < turns and d == DEGREE and abs(after) <= TOUCHES * _size(P, d, right):
            X[d, found] = right  # the two roots beside it are one, or just lost by rounding
            found += 1
        left, value = right, after
    return found


@kernel
def _bound(P: Array, d: int) -> float:
    """Return a number that no root of P[d] exceeds (Cauchy), 0 if there are none.

    Negligible leading coefficients are ignored: they only add roots near infinity.
    """
    most, bound = 0.0, 0.0
    for i in range(d + 1):
        most = max(most, abs(P[d, i]))
    for i in range(1, d + 1):
        if abs(P[d, i]) > 1e-14 * most:
            bound = 1.0 + most / abs(P[d, i])
    return bound


@kernel
def _value(P: Array, d: int, x: float) -> float:
    value: float = P[d, d]
    for i in range(d - 1, -1, -1):
        value = value * x + P[d, i]
    return value


@kernel
def _size(P: Array, d: int, x: float) -> float:
    size: float = abs(P[d, d])
    for i in range(d - 1, -1, -1):
        size = size * abs(x) + abs(P[d, i])
    return size


@kernel
def _between(P: Array, d: int, left: float, right: float, value: float) -> float:
    """Return the root between two points of opposite sign, by Newton steps kept in the bracket."""
    x = 0.5 * (left + right)
    if value == 0.0:
        return left
    for _ in range(_STEPS):
        y, slope = P[d, d], 0.0
        for i in range(d - 1, -1, -1):
            slope = slope * x + y
            y = y * x + P[d, i]
        if y == 0.0:
            return x
        if (y > 0.0) == (value > 0.0):
            left = x
        else:
            right = x
        step = x - y / slope if slope != 0.0 else math.inf
        new = step if left < step < right else 0.5 * (left + right)
        if abs(new - x) <= 4e-16 * abs(new):
            return new
        x = new
    return x


@allocating_kernel
def tables() -> tuple[Array, Array]:
    """Return empty tables P and X."""
    return np.zeros((DEGREE + 1, DEGREE + 1)), np.zeros((DEGREE + 1, 2 * DEGREE))
