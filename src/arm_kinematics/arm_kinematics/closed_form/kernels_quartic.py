# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled: three joints whose axes are neither parallel nor meet, by a polynomial of degree four.

The two invariants (see kernels_place.py) give phi(q1) as a linear function of phi(q3). With
t = tan(q3 / 2), or t = q3 if it slides, both parts are quadratics over 1 + t^2, or over 1, and
what ties them together (c^2 + s^2 = 1, or the second is the square of the first) has degree four.
"""

from __future__ import annotations

import math

from arm_kinematics.closed_form.kernels_equations import FREE, VANISHED, phi, roots
from arm_kinematics.closed_form.kernels_invariants import (
    Path,
    copy_row,
    invariant,
    on_path,
    size_of,
    swing,
)
from arm_kinematics.closed_form.kernels_plan import JOINTS, SLIDES, UNSURE, VALUES
from arm_kinematics.closed_form.kernels_polynomial import DEGREE, real_roots, tables
from arm_kinematics.jit import kernel
from arm_kinematics.kernels import Array

Linear = tuple[float, float, float]


@kernel
def quartic_branches(plan: Array, on_1: Path, on_3: Path, B: Array, source: int, row: int) -> int:
    """Fill in three joints from the paths of z and y; arguments and result as of ``place``."""
    k1, a1, b1 = invariant(plan, 0, 1, 0, on_1)
    m1, d1, e1 = invariant(plan, 1, 1, 0, on_1)
    r3 = invariant(plan, 0, 1, 2, on_3)
    s3 = invariant(plan, 1, 1, 2, on_3)
    size = size_of(plan, 0, 1) * size_of(plan, 1, 1)
    if plan[JOINTS, SLIDES] != 0.0:
        size /= size_of(plan, 0, 1)
    det = a1 * e1 - b1 * d1
    if abs(det) <= VANISHED * size:
        found = _third_alone(plan, r3[0] - k1, r3[1], r3[2], B, source, row)
    else:
        r3, s3 = (r3[0] - k1, r3[1], r3[2]), (s3[0] - m1, s3[1], s3[2])
        f = _combined(e1 / det, r3, -b1 / det, s3)
        g = _combined(-d1 / det, r3, a1 / det, s3)
        found = _both(plan, f, g, B, source, row)
    for i in range(row, row + found):
        f0, f1 = phi(plan[JOINTS + 2, SLIDES] != 0.0, B[i, VALUES + 2])
        y = on_path(on_3, f0, f1)
        f0, f1 = phi(plan[JOINTS, SLIDES] != 0.0, B[i, VALUES])
        swing(plan, 1, y, on_path(on_1, f0, f1), B, i)
    return found


@kernel
def _combined(k: float, a: Linear, m: float, b: Linear) -> Linear:
    return k * a[0] + m * b[0], k * a[1] + m * b[1], k * a[2] + m * b[2]


@kernel
def _third_alone(
    plan: Array, k: float, a: float, b: float, B: Array, source: int, row: int
) -> int:
    """Joint 1 does not move the target: it stays at the seed, and joint 3 is alone."""
    sliding = plan[JOINTS + 2, SLIDES] != 0.0
    found, q0, q1 = roots(sliding, a, b, -k, size_of(plan, 0, 1))
    for i in range(abs(found)):
        copy_row(B, source, row + i)
        B[row + i, UNSURE] = 1.0
        if found != FREE:
            B[row + i, VALUES + 2] = q0 if i == 0 else q1
    return abs(found)


@kernel
def _both(plan: Array, f: Linear, g: Linear, B: Array, source: int, row: int) -> int:
    """Fill in joints 1 and 3 from phi(q1) = (f, g) . (1, phi(q3))."""
    slides_1 = plan[JOINTS, SLIDES] != 0.0
    slides_3 = plan[JOINTS + 2, SLIDES] != 0.0
    start = 0.0
    if not slides_3:
        start = _away_from_roots(slides_1, f, g)
        f, g = _started(f, start), _started(g, start)
    P, X = tables()
    _fill_quartic(slides_1, slides_3, f, g, P)
    found = min(real_roots(P, X), DEGREE)
    for i in range(found):
        t = X[DEGREE, i]
        q = t if slides_3 else 2.0 * math.atan(t)
        p0, p1 = phi(slides_3, q)
        u, v = f[0] + f[1] * p0 + f[2] * p1, g[0] + g[1] * p0 + g[2] * p1
        copy_row(B, source, row + i)
        B[row + i, VALUES + 2] = start + q
        B[row + i, VALUES] = u if slides_1 else math.atan2(v, u)
    return found


@kernel
def _away_from_roots(slides_1: bool, f: Linear, g: Linear) -> float:
    """Return the quarter turn q3 opposite to which the equation is farthest from holding.

    There t is infinite, so that no root must be there.
    """
    best, start = -1.0, 0.0
    for quarter in range(4):
        k, s = (1.0 - quarter, 0.0) if quarter % 2 == 0 else (0.0, 2.0 - quarter)
        u, v = f[0] - f[1] * k - f[2] * s, g[0] - g[1] * k - g[2] * s
        off = abs(u * u - v) if slides_1 else abs(u * u + v * v - 1.0)
        if off > best:
            best, start = off, 0.5 * math.pi * quarter
    return start


@kernel
def _started(f: Linear, start: float) -> Linear:
    """Return f with q3 counted from ``start``."""
    k, s = math.cos(start), math.sin(start)
    return f[0], f[1] * k + f[2] * s, f[2] * k - f[1] * s


@kernel
def _fill_quartic(slides_1: bool, slides_3: bool, f: Linear, g: Linear, P: Array) -> None:
    """Fill P[DEGREE] with the coefficients in t."""
    if slides_3:
        d0, d2 = 1.0, 0.0
        x0, x1, x2 = f
        y0, y1, y2 = g
    else:
        d0, d2 = 1.0, 1.0
        x0, x1, x2 = f[0] + f[1], 2.0 * f[2], f[0] - f[1]
        y0, y1, y2 = g[0] + g[1], 2.0 * g[2], g[0] - g[1]
    P[DEGREE, 0], P[DEGREE, 1] = x0 * x0, 2.0 * x0 * x1
    P[DEGREE, 2] = x1 * x1 + 2.0 * x0 * x2
    P[DEGREE, 3], P[DEGREE, 4] = 2.0 * x1 * x2, x2 * x2
    if slides_1:  # x^2 = y d
        P[DEGREE, 0] -= y0 * d0
        P[DEGREE, 1] -= y1 * d0
        P[DEGREE, 2] -= y2 * d0 + y0 * d2
        P[DEGREE, 3] -= y1 * d2
        P[DEGREE, 4] -= y2 * d2
    else:  # x^2 + y^2 = d^2
        P[DEGREE, 0] += y0 * y0 - d0 * d0
        P[DEGREE, 1] += 2.0 * y0 * y1
        P[DEGREE, 2] += y1 * y1 + 2.0 * y0 * y2 - 2.0 * d0 * d2
        P[DEGREE, 3] += 2.0 * y1 * y2
        P[DEGREE, 4] += y2 * y2 - d2 * d2
