# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled elimination: from the loop equations of a 6R arm to an eigenvalue problem of size 16.

A line is 6 numbers: a point on it, its unit direction. A line element is the same: a point and a
direction at it. The loop of a 6R arm that holds its tip at T is

    e1(q1) e2(q2) e3(q3) e4(q4) e5(q5) e6(q6) = H,    H = T M^-1,

where ei turns about the axis of joint i. It may be opened at any joint and read in either
direction: twelve orders of the same loop (Raghavan and Roth 1990 use the first). An order is a
table of 7 rows:

    t[i, 0:6]  axis of the i-th joint of this order at q = 0 (lengths over UNIT)
    t[i, 6]    1 if the loop was opened after this joint, so that H^-1 carries it
    t[i, 7]    index of the joint
    t[6, 0:2]  UNIT: unit of length [m]; REVERSED: 1 if the loop is read backwards

With C(x) the 14 coordinates of a line element, the loop requires

    C(e3 e4 e5 x) = C(e2^-1 e1^-1 H x),    x on axis 6, which e6 leaves where it is.

1. Both sides are bilinear in (cos, sin, 1) of two joints; e3, about z, turns the first 8
   coordinates (x and y parts) and leaves the last 6. Six combinations V of the 14 equations are
   free of joints 1 and 2 (the orthogonal complement of their 8 coefficients; Raghavan and Roth
   1990, 1993 pick rows instead). With u the 9 products of joints 4 and 5:

       V1 R(q3) f u + (V0 h - d) u = 0,    6 equations, R a rotation of pairs.

2. Times cos(q4/2) and times sin(q4/2): 12 equations in the 12 products v of
   (cos 3q4/2, sin 3q4/2, cos q4/2, sin q4/2) and (cos q5, sin q5, 1): the dialytic step, in a
   basis that is orthogonal and finite at half a turn:

       B v + G R(q3) F v = 0,    B 12 x 12, G 12 x 16, F 16 x 12.

3. With w = R(q3) F v: (v, w) is in the null space of [B G], of dimension 16, with the basis
   (Zv, Zw), and R(q3) F Zv s = Zw s. The Cayley transform R = (1 + xJ)/(1 - xJ), x = tan(q3/2),
   J a quarter turn of all pairs, leaves

       (F Zv - Zw) s = -x J (F Zv + Zw) s.

The 8 eigenvalues x = +-i of Manocha and Canny's pencil of size 24 ("Efficient inverse kinematics
for general 6R manipulators", IEEE Trans. Robotics and Automation 10(5), 1994) never appear: the
other 16 belong to the 16 solutions. All steps but the products are orthogonal.
"""

from __future__ import annotations

import math

import numpy as np
from arm_common.jit import allocating_kernel, kernel
from arm_common.transforms import Array

CARRIED, JOINT = 6, 7
UNIT, REVERSED = 0, 1
COORDINATES = 14
_SQRT_3 = math.sqrt(3.0)
# Thirds of a turn.
SINES = (0.0, 0.5 * _SQRT_3, -0.5 * _SQRT_3)
COSINES = (1.0, -0.5, -0.5)


@kernel
def turn(axis: Array, s: float, k: float, x: Array, y: Array) -> None:
    """Fill y with the line (element) x turned about an axis by the angle of sine s, cosine k."""
    wx, wy, wz = axis[3], axis[4], axis[5]
    for part in range(2):
        ox, oy, oz = (axis[0], axis[1], axis[2]) if part == 0 else (0.0, 0.0, 0.0)
        rx, ry, rz = x[3 * part] - ox, x[3 * part + 1] - oy, x[3 * part + 2] - oz
        along = (1.0 - k) * (wx * rx + wy * ry + wz * rz)
        y[3 * part] = ox + k * rx + s * (wy * rz - wz * ry) + along * wx
        y[3 * part + 1] = oy + k * ry + s * (wz * rx - wx * rz) + along * wy
        y[3 * part + 2] = oz + k * rz + s * (wx * ry - wy * rx) + along * wz


@kernel
def carry(G: Array, x: Array, y: Array) -> None:
    """Fill y with the line x moved by the motion G (4, 4)."""
    for i in range(3):
        y[i] = G[i, 0] * x[0] + G[i, 1] * x[1] + G[i, 2] * x[2] + G[i, 3]
        y[3 + i] = G[i, 0] * x[3] + G[i, 1] * x[4] + G[i, 2] * x[5]


@kernel
def invert(G: Array, Y: Array) -> None:
    """Fill Y (4, 4) with the inverse of the motion G."""
    for i in range(3):
        for j in range(3):
            Y[i, j] = G[j, i]
        Y[i, 3] = -(G[0, i] * G[0, 3] + G[1, i] * G[1, 3] + G[2, i] * G[2, 3])
        Y[3, i] = 0.0
    Y[3, 3] = 1.0


@kernel
def copy(x: Array, y: Array) -> None:
    """Copy x into y; plain loops compile ten times as fast as slices."""
    for i in range(y.size):
        y[i] = x[i]


@allocating_kernel
def open_loop(t: Array, H: Array, lines: Array) -> None:
    """Fill the 10 lines of one order of the loop, seen from a frame whose z axis is axis 3.

    Rows 0 to 5 are the axes. e1 ... e5 have to bring row 6, which is axis 6, to row 7, which is
    axis 6 carried by H; and e1 ... e6 bring row 8, perpendicular to it, to row 9.
    """
    forth, back, F = np.empty((4, 4)), np.empty((4, 4)), np.empty((4, 4))
    for i in range(4):
        for j in range(4):
            forth[i, j] = H[i, j]
        if i < 3:
            forth[i, 3] /= t[6, UNIT]
    invert(forth, back)
    if t[6, REVERSED] == 1.0:
        forth, back = back, forth
    line = np.empty(6)
    for i in range(6):
        copy(t[i], line)
        if t[i, CARRIED] == 1.0:
            carry(back, line, lines[i])
        else:
            copy(line, lines[i])
    copy(lines[5], lines[6])
    carry(forth, lines[6], lines[7])
    copy(lines[5], lines[8])
    _make_perpendicular(lines[8])
    carry(forth, lines[8], lines[9])
    _frame_on(lines[2], lines[1], lines[3], F)
    for i in range(10):
        copy(lines[i], line)
        carry(F, line, lines[i])


@kernel
def _make_perpendicular(x: Array) -> None:
    """Turn the direction of a line into one that is perpendicular to it."""
    least = 3
    for i in range(4, 6):
        if abs(x[i]) < abs(x[least]):
            least = i
    part = x[least]
    size = math.sqrt(1.0 - part * part)
    for i in range(3, 6):
        x[i] = ((1.0 if i == least else 0.0) - part * x[i]) / size


@allocating_kernel
def _frame_on(axis: Array, before: Array, behind: Array, F: Array) -> None:
    """Fill F with the motion to a frame on an axis: z along it, origin amid its neighbours."""
    x = np.empty(6)
    copy(axis, x)
    _make_perpendicular(x)
    slide = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        F[0, i] = x[3 + i]
        F[1, i] = axis[3 + j] * x[3 + k] - axis[3 + k] * x[3 + j]
        F[2, i] = axis[3 + i]
        slide += axis[3 + i] * (0.5 * (before[i] + behind[i]) - axis[i])
    for i in range(3):
        F[i, 3], F[3, i] = 0.0, 0.0
        for j in range(3):
            F[i, 3] -= F[i, j] * (axis[j] + slide * axis[3 + j])
    F[3, 3] = 1.0


@kernel
def coordinates(x: Array, y: Array) -> None:
    """Fill y with the 14 coordinates of a line element (p, l) that are bilinear in two joints.

    p, l, p x l, (p.p) l - 2 (p.l) p, p.p and p.l (Raghavan and Roth 1990): those of the point and
    of the element in conformal geometry, where a rotation acts as a matrix of its sine, its cosine
    and 1. First the x, then the y components of the four vectors, then the invariants of a turn
    about z: their z components, p.p and p.l.
    """
    pp = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
    pl = x[0] * x[3] + x[1] * x[4] + x[2] * x[5]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        y[4 * i] = x[i]
        y[4 * i + 1] = x[3 + i]
        y[4 * i + 2] = x[j] * x[3 + k] - x[k] * x[3 + j]
        y[4 * i + 3] = pp * x[3 + i] - 2.0 * pl * x[i]
    y[12], y[13] = pp, pl


@allocating_kernel
def bilinear(inner: Array, outer: Array, x: Array, C: Array) -> None:
    """Fill C (9, 14): coordinates of x turned about inner by b, then about outer by a.

    Row 3 i + j holds the coefficients of the i-th of (cos a, sin a, 1) times the j-th of
    (cos b, sin b, 1): the Fourier transform of samples at thirds of a turn.
    """
    y, z = np.empty(6), np.empty(6)
    for j in range(3):
        turn(inner, SINES[j], COSINES[j], x, y)
        for i in range(3):
            turn(outer, SINES[i], COSINES[i], y, z)
            coordinates(z, C[3 * i + j])
    for i in range(3):
        _fourier(C[3 * i], C[3 * i + 1], C[3 * i + 2])
    for j in range(3):
        _fourier(C[j], C[3 + j], C[6 + j])


@kernel
def _fourier(a: Array, b: Array, c: Array) -> None:
    """Turn samples at 0, 1/3 and 2/3 of a turn into coefficients of cos, sin and 1, in place."""
    for k in range(COORDINATES):
        f, g, h = a[k], b[k], c[k]
        a[k] = (2.0 * f - g - h) / 3.0
        b[k] = (g - h) / _SQRT_3
        c[k] = (f + g + h) / 3.0


TURNED = 8  # coordinates that a turn about z mixes: 4 x parts, 4 y parts
FREE = 6  # equations without joints 1 and 2
PRODUCTS = 12  # entries of v
SIZE = 16  # of the eigenvalue problem


@allocating_kernel
def eliminate(t: Array, H: Array, lines: Array, Z: Array, P: Array) -> None:
    """Set up the eigenvalue problem of one order t (7, 8) of the loop for a motion H (4, 4).

    Fills the lines (10, 6) of the loop, the null space Z (16, 28), a row (v, w) for each entry of
    s, and the transposes P (32, 16) of both sides of the pencil.
    """
    open_loop(t, H, lines)
    left, right = np.empty((9, COORDINATES)), np.empty((9, COORDINATES))
    bilinear(lines[0], lines[1], lines[7], left)
    bilinear(lines[4], lines[3], lines[6], right)
    V = np.empty((FREE, COORDINATES))
    Q = np.empty((TURNED, COORDINATES))
    for i in range(TURNED):
        for k in range(COORDINATES):
            Q[i, k] = left[i, k]
    complement(Q, V)
    F, BG = np.zeros((SIZE, PRODUCTS)), np.zeros((2 * FREE, PRODUCTS + SIZE))
    _dialytic(right, V, left, F, BG)
    complement(BG, Z)
    _pencil(F, Z, P)


@kernel
def complement(A: Array, Z: Array) -> None:
    """Fill Z (m, n + m) with orthonormal rows perpendicular to the n rows of A, which is used up.

    Householder's reflections, applied to the last m unit vectors.
    """
    n, size = A.shape
    for i in range(n):
        norm = 0.0
        for k in range(i, size):
            norm += A[i, k] * A[i, k]
        norm = math.sqrt(norm)
        A[i, i] += norm if A[i, i] >= 0.0 else -norm
        _reflect(A, i, A, i + 1)
    for j in range(size - n):
        for k in range(size):
            Z[j, k] = 1.0 if k == n + j else 0.0
    for i in range(n - 1, -1, -1):
        _reflect(A, i, Z, 0)


@kernel
def _reflect(A: Array, i: int, B: Array, first: int) -> None:
    """Reflect the rows of B from the first on at the plane perpendicular to A[i, i:]."""
    size = A.shape[1]
    square = 0.0
    for k in range(i, size):
        square += A[i, k] * A[i, k]
    if square == 0.0:
        return
    for j in range(first, B.shape[0]):
        product = 0.0
        for k in range(i, size):
            product += A[i, k] * B[j, k]
        product *= 2.0 / square
        for k in range(i, size):
            B[j, k] -= product * A[i, k]


@allocating_kernel
def _dialytic(right: Array, V: Array, left: Array, F: Array, BG: Array) -> None:
    """Fill F (16, 12) and [B G] (12, 28); the last row of left is d.

    Rows 8 i + 4 j + k of F: x (i = 0) or y part of coordinate k, times cosine (j = 0) or sine.
    """
    u = np.empty(9)
    for k in range(TURNED):
        for m in range(9):
            u[m] = right[m, k]
        for j in range(2):
            _raise(u, j, F[8 * (k // 4) + 4 * j + k % 4])
    for r in range(FREE):
        for m in range(9):
            u[m] = 0.0
            for k in range(TURNED, COORDINATES):
                u[m] += V[r, k] * right[m, k]
        for k in range(COORDINATES):
            u[8] -= V[r, k] * left[8, k]
        for j in range(2):
            _raise(u, j, BG[FREE * j + r])
            for k in range(TURNED):
                BG[FREE * j + r, PRODUCTS + 8 * (k // 4) + 4 * j + k % 4] = V[r, k]


@kernel
def _raise(u: Array, sine: int, v: Array) -> None:
    """Write u, linear in (cos a, sin a, 1), times cos(a/2) or sin(a/2) in the basis of v."""
    for j in range(3):
        k, s, one = 0.5 * u[j], 0.5 * u[3 + j], u[6 + j]
        if sine == 0:
            v[j], v[3 + j], v[6 + j], v[9 + j] = k, s, k + one, s
        else:
            v[j], v[3 + j], v[6 + j], v[9 + j] = -s, k, s, one - k


@kernel
def _pencil(F: Array, Z: Array, P: Array) -> None:
    """Fill P: row i holds F Zv - Zw of the i-th row of Z, row 16 + i holds -J (F Zv + Zw)."""
    for i in range(SIZE):
        for k in range(SIZE):
            turned = 0.0
            for m in range(PRODUCTS):
                turned += F[k, m] * Z[i, m]
            P[i, k] = turned - Z[i, PRODUCTS + k]
            total = turned + Z[i, PRODUCTS + k]
            if k < 8:
                P[SIZE + i, k + 8] = -total
            else:
                P[SIZE + i, k - 8] = total
