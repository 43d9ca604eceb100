# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled back-substitution from eigenvectors to joint angles, without duplicates."""

from __future__ import annotations

import math

import numpy as np
from arm_common.jit import allocating_kernel, kernel
from arm_common.transforms import Array

from arm_kinematics.ik.general_6r.elimination import (
    COSINES,
    JOINT,
    PRODUCTS,
    SINES,
    SIZE,
    UNIT,
    copy,
    turn,
)
from arm_kinematics.ik.general_6r.refinement import SOLVED, is_same, newton
from arm_kinematics.kernels.forward import work

BRANCHES = 4
MIXED = 1e-6  # relative difference from 1 of a squared sine and cosine
ONE_EQUATION = 1e-14  # relative determinant up to which two equations are dependent
ALPHA_RE, ALPHA_IM, BETA = 0, 1, 2  # rows of the eigenvalues, as LAPACK's ggev gives them


@allocating_kernel
def candidate(
    t: Array, lines: Array, Z: Array, values: Array, vectors: Array, i: int, branch: int, q: Array
) -> bool:
    """Fill q (6,), in the order of the arm, with the angles of the i-th eigenvalue.

    A complex one is replaced by the real one nearest in angle; of a pair, i is the first.
    ``t``, ``lines`` and ``Z`` are those of `eliminate`; ``values`` (3, 16) the real and imaginary
    parts of alpha, and beta; ``vectors`` (16, 16) have a row each, and the imaginary part of a
    pair is its second row. Where several solutions share the eigenvalue, ``branch``, below
    BRANCHES, selects one. Returns whether branches differ.
    """
    a, b, beta = values[ALPHA_RE, i], values[ALPHA_IM, i], values[BETA, i]
    # exp(i q3) = (1 + i x) / (1 - i x) with x = (a + i b) / beta, up to a positive factor
    q3 = math.atan2(2.0 * a * beta, beta * beta - a * a - b * b)
    v = np.empty(PRODUCTS)
    _real_vector(Z, vectors, i, b != 0.0, v)
    q4, q5, mixed = _angles_of_products(v, branch // 2)
    x, u = np.empty(6), np.empty(6)
    copy(lines[6], x)
    copy(lines[8], u)
    _turn_both(lines[4], q5, x, u)
    _turn_both(lines[3], q4, x, u)
    _turn_both(lines[2], q3, x, u)
    q2, forked = _second(lines[0], lines[1], x, lines[7], branch % 2)
    _turn_both(lines[1], q2, x, u)
    q1 = _angle_between(lines[0], x, lines[7])
    _turn_both(lines[0], q1, x, u)
    q6 = _angle_between(lines[7], u, lines[9])
    for j, angle in enumerate((q1, q2, q3, q4, q5, q6)):
        q[int(t[j, JOINT])] = angle
    return forked or mixed


@kernel
def imaginary_part(values: Array, i: int) -> float:
    """Return the size of the imaginary part of q3 [rad] of the i-th eigenvalue."""
    a, b, beta = values[ALPHA_RE, i], values[ALPHA_IM, i], values[BETA, i]
    above, below = (beta - b) * (beta - b) + a * a, (beta + b) * (beta + b) + a * a
    if above <= 0.0 or below <= 0.0:
        return math.inf
    return 0.5 * abs(math.log(above / below))


@allocating_kernel
def _turn_both(axis: Array, angle: float, x: Array, u: Array) -> None:
    """Turn two line elements in place."""
    s, k, y = math.sin(angle), math.cos(angle), np.empty(6)
    turn(axis, s, k, x, y)
    copy(y, x)
    turn(axis, s, k, u, y)
    copy(y, u)


@allocating_kernel
def _real_vector(Z: Array, vectors: Array, i: int, pair: bool, v: Array) -> None:
    """Fill v (12,) with the products of an eigenvector, real at its largest entry."""
    imaginary = np.zeros(PRODUCTS)
    largest = 0
    for m in range(PRODUCTS):
        v[m] = 0.0
        for k in range(SIZE):
            v[m] += vectors[i, k] * Z[k, m]
            if pair:
                imaginary[m] += vectors[i + 1, k] * Z[k, m]
        if math.hypot(v[m], imaginary[m]) > math.hypot(v[largest], imaginary[largest]):
            largest = m
    x, y = v[largest], imaginary[largest]
    for m in range(PRODUCTS):
        v[m] = x * v[m] + y * imaginary[m]


@kernel
def _angles_of_products(v: Array, branch: int) -> tuple[float, float, bool]:
    """Return the angles a, b of v = (cos 3a/2, sin 3a/2, cos a/2, sin a/2) x (cos b, sin b, 1).

    If solutions with b and b + pi share the eigenvalue (a spherical wrist), v is a mixture of
    both; then the third value is True, and each branch takes one.
    """
    largest = 0
    for m in range(PRODUCTS):
        if abs(v[m]) > abs(v[largest]):
            largest = m
    row, column = 3 * (largest // 3), largest % 3
    k, s, one = v[row], v[row + 1], v[row + 2]
    sign = 1.0 if (one >= 0.0) == (branch == 0) else -1.0
    b = math.atan2(sign * s, sign * k)
    mixed = abs(k * k + s * s - one * one) > MIXED * (k * k + s * s + one * one)
    c3, s3, c1, s1 = v[column], v[3 + column], v[6 + column], v[9 + column]
    return math.atan2(s3 * c1 - c3 * s1, c3 * c1 + s3 * s1), b, mixed


@allocating_kernel
def _second(first: Array, second: Array, x: Array, y: Array, branch: int) -> tuple[float, bool]:
    """Return the turn of x about the second axis after which the first can bring it to y.

    The invariants of a turn about the first axis are linear in cosine and sine of the second: five
    equations, solved by least squares. If they are all dependent (parallel or intersecting axes),
    there are two solutions, and the second value is True.
    """
    wanted, z = np.empty(5), np.empty(6)
    f = np.empty((3, 5))
    _invariants(first, y, wanted)
    for j in range(3):
        turn(second, SINES[j], COSINES[j], x, z)
        _invariants(first, z, f[j])
    kk = ks = ss = kd = sd = 0.0
    for m in range(5):
        k = (2.0 * f[0, m] - f[1, m] - f[2, m]) / 3.0
        s = (f[1, m] - f[2, m]) / (2.0 * SINES[1])
        d = wanted[m] - (f[0, m] + f[1, m] + f[2, m]) / 3.0
        kk, ks, ss, kd, sd = kk + k * k, ks + k * s, ss + s * s, kd + k * d, sd + s * d
    if kk * ss - ks * ks > ONE_EQUATION * (kk + ss) ** 2:
        return math.atan2(kk * sd - ks * kd, ss * kd - ks * sd), False
    k, s, d = (kk, ks, kd) if kk > ss else (ks, ss, sd)
    middle = math.atan2(s, k)
    half = math.acos(min(1.0, max(-1.0, d / math.hypot(k, s)))) if k != 0.0 or s != 0.0 else 0.0
    return (middle + half if branch == 0 else middle - half), True


@kernel
def _invariants(axis: Array, x: Array, f: Array) -> None:
    """Fill f (5,) with the invariants of a line element under a turn about the axis."""
    for m in range(5):
        f[m] = 0.0
    reach = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        r, rj, rk = x[i] - axis[i], x[j] - axis[j], x[k] - axis[k]
        f[0] += axis[3 + i] * x[3 + i]
        f[1] += axis[3 + i] * r
        f[2] += r * r
        f[3] += axis[3 + i] * (rj * x[3 + k] - rk * x[3 + j])
        reach += r * x[3 + i]
    f[4] = f[2] * f[0] - 2.0 * reach * f[1]


@kernel
def _angle_between(axis: Array, x: Array, y: Array) -> float:
    """Return the turn about the axis that brings the line element x nearest to y."""
    s = k = 0.0
    for part in range(2):
        for i in range(3):
            m, n = (i + 1) % 3, (i + 2) % 3
            o, om, on = (axis[i], axis[m], axis[n]) if part == 0 else (0.0, 0.0, 0.0)
            a, b, c = 3 * part + i, 3 * part + m, 3 * part + n
            s += axis[3 + i] * ((x[b] - om) * (y[c] - on) - (x[c] - on) * (y[b] - om))
            k += (x[a] - o) * (y[a] - o)
    along_x = along_y = straight_x = straight_y = 0.0
    for i in range(3):
        along_x += axis[3 + i] * (x[i] - axis[i])
        along_y += axis[3 + i] * (y[i] - axis[i])
        straight_x += axis[3 + i] * x[3 + i]
        straight_y += axis[3 + i] * y[3 + i]
    return math.atan2(s, k - along_x * along_y - straight_x * straight_y)


# Row 0 of the result: number of solutions, which follow; then for the last order: how many it
# found, whether they are consistent, the largest error of a real eigenvalue's candidate.
COUNT, FOUND, SOUND, WORST = 0, 1, 2, 3
CAPACITY = 64
NEARLY_REAL = 0.01  # imaginary part of an angle [rad] that may be due to rounding
CLOSE = (1e-4, 1e-2)  # largest error of a valid candidate of a real, a nearly real eigenvalue
FAR = 0.2  # imaginary part of an angle [rad] above which no real solution is near
WORTHWHILE = 0.03  # error up to which candidates of complex eigenvalues are polished


@allocating_kernel
def collect(
    c: Array,
    T: Array,
    t: Array,
    lines: Array,
    Z: Array,
    values: Array,
    vectors: Array,
    out: Array,
) -> None:
    """Add the solutions that belong to the eigenvalues to those in out (1 + CAPACITY, 6).

    The order is SOUND if each real eigenvalue's candidate nearly is a solution, these are all
    different, and further ones are even in number and come from complex pairs that rounding may
    have made of real ones. That is so for a general arm; not if the arm is special (the pencil is
    singular, or several solutions share the angle of the third joint), or its pose is singular.
    Arguments are those of `candidate`, the chain's constants, and the target T (4, 4).
    """
    W, q, unit = work(6), np.empty(6), t[6, UNIT]
    mine = np.zeros((1 + 2 * SIZE, 6))
    real, nearly, worst, sound = 0, 0, 0.0, True
    i = 0
    while i < SIZE:
        is_real = values[ALPHA_IM, i] == 0.0
        off = 0.0 if is_real else imaginary_part(values, i)
        for branch in range(BRANCHES if off < FAR else 0):
            several = candidate(t, lines, Z, values, vectors, i, branch, q)
            first, last = newton(c, T, unit, math.inf if is_real else WORTHWHILE, q, W)
            if branch == 0 and is_real:
                real += 1
                worst = max(worst, first)
            elif branch == 0 and off < NEARLY_REAL:
                nearly += 2
                sound = sound and first < CLOSE[1]
            if last < SOLVED:
                _add(c, T, unit, q, W, mine)
            if not several:
                break
        i += 1 if is_real else 2
    found = int(mine[0, COUNT])
    for k in range(found):
        _add(c, T, unit, mine[1 + k], W, out)
    sound = sound and worst < CLOSE[0] and real <= found <= real + nearly and found % 2 == 0
    out[0, FOUND], out[0, SOUND], out[0, WORST] = found, 1.0 if sound else 0.0, worst


@kernel
def _add(c: Array, T: Array, unit: float, q: Array, W: Array, known: Array) -> None:
    """Append q to the known solutions unless it is one of them or they are full."""
    count = int(known[0, COUNT])
    for k in range(count):
        if is_same(c, T, unit, known[1 + k], q, W):
            return
    if 1 + count < known.shape[0]:
        copy(q, known[1 + count])
        known[0, COUNT] += 1.0
