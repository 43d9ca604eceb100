# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled operations on vectors and rotations as tuples, which live in registers.

A vector is three numbers, a rotation three rows.
"""

from __future__ import annotations

import math

from arm_common.jit import inlined_kernel, kernel
from arm_common.transforms import Array

from arm_kinematics.kernels.forward import sine_and_cosine

Vector = tuple[float, float, float]
Rotation = tuple[Vector, Vector, Vector]


@kernel
def dot(a: Vector, b: Vector) -> float:
    """Return the inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@kernel
def plus(a: Vector, k: float, b: Vector) -> Vector:
    """Return a + k b."""
    return a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]


@kernel
def minus(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def length(a: Vector) -> float:
    """Return the Euclidean length."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@kernel
def turned(w: Vector, q: float, a: Vector) -> Vector:
    """Return a turned by q about the unit vector w (Rodrigues)."""
    s, k = sine_and_cosine(q)
    return _turned(w, s, k, a)


@kernel
def _turned(w: Vector, s: float, k: float, a: Vector) -> Vector:
    along = (1.0 - k) * (w[0] * a[0] + w[1] * a[1] + w[2] * a[2])
    return (
        k * a[0] + s * (w[1] * a[2] - w[2] * a[1]) + along * w[0],
        k * a[1] + s * (w[2] * a[0] - w[0] * a[2]) + along * w[1],
        k * a[2] + s * (w[0] * a[1] - w[1] * a[0]) + along * w[2],
    )


@kernel
def rotated(R: Rotation, a: Vector) -> Vector:
    """Return R a."""
    return dot(R[0], a), dot(R[1], a), dot(R[2], a)


@kernel
def rotated_back(R: Rotation, a: Vector) -> Vector:
    """Return the transpose of R times a."""
    return (
        R[0][0] * a[0] + R[1][0] * a[1] + R[2][0] * a[2],
        R[0][1] * a[0] + R[1][1] * a[1] + R[2][1] * a[2],
        R[0][2] * a[0] + R[1][2] * a[1] + R[2][2] * a[2],
    )


@inlined_kernel
def turned_columns(w: Vector, q: float, R: Rotation) -> Rotation:
    """Return Rot(w, q) R."""
    s, k = sine_and_cosine(q)
    (a0, b0, c0), (a1, b1, c1), (a2, b2, c2) = R
    a0, a1, a2 = _turned(w, s, k, (a0, a1, a2))
    b0, b1, b2 = _turned(w, s, k, (b0, b1, b2))
    c0, c1, c2 = _turned(w, s, k, (c0, c1, c2))
    return (a0, b0, c0), (a1, b1, c1), (a2, b2, c2)


@kernel
def angle_to(w: Vector, a: Vector, b: Vector) -> float:
    """Return the turn about w that brings a nearest to b (subproblem 1 of Paden and Kahan)."""
    return math.atan2(dot(w, cross(a, b)), dot(a, b) - dot(w, a) * dot(w, b))


@kernel
def angle_of(w: Vector, R: Rotation) -> float:
    """Return the turn about w that is nearest to the rotation R.

    It makes the trace of Rot(w, q)' R largest; exact if R is a turn about w.
    """
    x, y, z = R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]
    trace = R[0][0] + R[1][1] + R[2][2]
    return math.atan2(dot(w, (x, y, z)), trace - dot(w, rotated(R, w)))


@kernel
def vector(table: Array, row: int, at: int) -> Vector:
    """Return the three numbers of a row from a column on."""
    return table[row, at], table[row, at + 1], table[row, at + 2]


@kernel
def store(a: Vector, table: Array, row: int, at: int) -> None:
    """Write three numbers into a row from a column on."""
    table[row, at], table[row, at + 1], table[row, at + 2] = a
