# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled elimination: from the loop equations to an eigenvalue problem of size 16.

With C(x) the 14 coordinates of a line element (see kernels_lines.py), the loop says

    C(e3 e4 e5 x) = C(e2^-1 e1^-1 H x),    x on axis 6, which e6 leaves where it is.

1. Both sides are bilinear in (cos, sin, 1) of two joints; e3, about z, turns the first 8
   coordinates (x and y parts) and leaves the last 6. Six combinations V of the 14 equations are
   free of joints 1 and 2 (the orthogonal complement of their 8 coefficients; Raghavan and Roth
   1990, 1993 pick rows instead). With u the 9 products of joints 4 and 5:

       V1 R(q3) f u + (V0 h - d) u = 0,    6 equations, R a rotation of pairs.

2. Times cos(q4/2) and times sin(q4/2): 12 equations in the 12 products v of
   (cos 3q4/2, sin 3q4/2, cos q4/2, sin q4/2) and (cos q5, sin q5, 1): the dialytic step, in a
   basis that is orthogonal and knows no infinity at half a turn:

       B v + G R(q3) F v = 0,    B 12 x 12, G 12 x 16, F 16 x 12.

3. With w = R(q3) F v: (v, w) is in the null space of [B G], of dimension 16, with the basis
   (Zv, Zw), and R(q3) F Zv s = Zw s. The Cayley transform R = (1 + xJ)/(1 - xJ), x = tan(q3/2),
   J a quarter turn of all pairs, leaves

       (F Zv - Zw) s = -x J (F Zv + Zw) s.

The 8 eigenvalues x = +-i of Manocha and Canny's pencil of size 24 ("Efficient inverse kinematics
for general 6R manipulators", IEEE Trans. Robotics and Automation 10(5), 1994) never appear: the
16 that are left belong to the 16 solutions. All steps but the products are orthogonal.
"""

from __future__ import annotations

import math

import numpy as np

from arm_kinematics.general_6r.kernels_lines import COORDINATES, bilinear, open_loop
from arm_kinematics.jit import kernel
from arm_kinematics.kernels import Array

TURNED = 8  # of the coordinates, those which a turn about z mixes: 4 x parts, 4 y parts
FREE = 6  # equations without joints 1 and 2
PRODUCTS = 12  # entries of v
SIZE = 16  # of the eigenvalue problem
SOLUTIONS = 16


@kernel
def eliminate(t: Array, H: Array, lines: Array, Z: Array, P: Array) -> None:
    """Set up the eigenvalue problem of one order of the loop.

    Args:
        t: The order, see kernels_lines.py, (7, 8).
        H: Wanted motion from the pose at q = 0 (4, 4), base frame.
        lines: Filled with the lines of the loop (8, 6).
        Z: Filled with the null space (16, 28), a row (v, w) for each entry of s.
        P: Filled with the transposes of both sides of the pencil (32, 16).
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


@kernel
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
