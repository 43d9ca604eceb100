# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled forward kinematics and Jacobian of a serial chain.

A chain is B0 D1(q1) B1 D2(q2) B2 ... Dn(qn) Bn, where Di turns about its own z axis (revolute) or
slides along it (prismatic), and the fixed motions B come from the screws and the home pose (see
``search_model.py``). All constants are one table ``c`` of n + 1 rows, so that a call from Python
passes few objects. A motion is 12 numbers: the rows of the rotation, then the translation.

    c[i, 0:12]   Bi
    c[i, 12..]   of joint i (1..n): PRISMATIC (1 or 0), LOWER and UPPER limit, UNIT (the
                 equivalent of one radian), SPREAD (its step in the sequence of starts), PERIOD (a
                 whole turn if that does not change the pose, else 0), LEADER (index of the joint
                 that it mimics, its own if it is independent), RATIO (its motion per motion of
                 the leader)
    c[0, LEADER] 1 if some joint mimics another one, else 0

A mimic joint has no limits here and is not an unknown: its column of the Jacobian is added to its
leader's and then set to zero, so that no step moves it; `move` sets it from its leader.

Intermediate results are one table ``W`` too: a row for each joint, and a last row for the tip.
One allocation, no views: both cost more than a whole joint here.
"""

from __future__ import annotations

import math

import numpy as np
from arm_common.jit import HAVE_NUMBA, allocating_kernel, inlined_kernel, kernel
from arm_common.transforms import Array

# pi/2 in three parts of 33, 33 and 53 bits: the products with small integers are exact.
_HALF_PI_1 = 1.5707963267341256
_HALF_PI_2 = 6.077100506303966e-11
_HALF_PI_3 = 2.0222662487959506e-21


@inlined_kernel
def _sine_and_cosine(x: float) -> tuple[float, float]:
    """Return sin(x), cos(x) to about one unit in the last place, computed together.

    Reduction to a quarter turn about 0 (Cody and Waite, 1980), then Taylor series, whose next
    terms are below 1e-17 there.
    """
    if not abs(x) < 1e5:
        return math.sin(x), math.cos(x)
    k = math.floor(x * (2.0 / math.pi) + 0.5)
    r = ((x - k * _HALF_PI_1) - k * _HALF_PI_2) - k * _HALF_PI_3
    z = r * r
    s = 1.0 / 6227020800.0 - z / 1307674368000.0
    s = s * z - 1.0 / 39916800.0
    s = s * z + 1.0 / 362880.0
    s = s * z - 1.0 / 5040.0
    s = s * z + 1.0 / 120.0
    s = s * z - 1.0 / 6.0
    s = s * z * r + r
    t = z / 20922789888000.0 - 1.0 / 87178291200.0
    t = t * z + 1.0 / 479001600.0
    t = t * z - 1.0 / 3628800.0
    t = t * z + 1.0 / 40320.0
    t = t * z - 1.0 / 720.0
    t = t * z + 1.0 / 24.0
    t = t * z - 0.5
    t = t * z + 1.0
    quarter = int(k) & 3
    sine = s if quarter & 1 == 0 else t
    cosine = t if quarter & 1 == 0 else s
    return (sine if quarter < 2 else -sine), (cosine if quarter == 0 or quarter == 3 else -cosine)


def _plain_sine_and_cosine(x: float) -> tuple[float, float]:
    return math.sin(x), math.cos(x)


sine_and_cosine = _sine_and_cosine if HAVE_NUMBA else _plain_sine_and_cosine


PRISMATIC, LOWER, UPPER, UNIT, SPREAD, PERIOD, LEADER, RATIO = 12, 13, 14, 15, 16, 17, 18, 19
CONSTANTS = 20

# Columns of a joint's row of W: axis direction, point on the axis, column of the Jacobian, ...
AXIS, POINT, COLUMN = 0, 3, 6
Q, TRIAL, DELTA, GRADIENT, FREE = 12, 13, 14, 15, 16
DAMPING_WEIGHT, PULL, PREFERRED, SAVED, STEP = 17, 18, 19, 20, 21
SINE, COSINE = 22, 23
SYSTEM = 24  # the n entries of a row of the normal equations, then the n of their factor

# Columns of the last row of W: pose of the tip, error, error of the trial, and B0 as seen.
TIP, ERROR, TRIAL_ERROR, BASE = 0, 12, 18, 24
COST, EVALUATIONS = 36, 37
TIP_COLUMNS = 38


@allocating_kernel
def work(n: int) -> Array:
    """Return an empty table W for n joints."""
    return np.empty((n + 1, max(SYSTEM + 2 * n, TIP_COLUMNS)))


@inlined_kernel
def move(c: Array, W: Array, which: int) -> None:
    """Compute the pose of the tip at joint positions W[:, which] (Q or TRIAL).

    Fills AXIS, POINT and TIP, all in the frame in which BASE is given.
    """
    if c[0, LEADER] != 0.0:
        _move_mimic_joints(c, W, which)
    _sines_and_cosines(c, W, which)
    _multiply(c, W, which)


@inlined_kernel
def _sines_and_cosines(c: Array, W: Array, which: int) -> None:
    """Fill SINE and COSINE; in a separate loop, since it needs all registers."""
    for i in range(W.shape[0] - 1):
        if c[i + 1, PRISMATIC] == 0.0:
            W[i, SINE], W[i, COSINE] = sine_and_cosine(W[i, which])


@inlined_kernel
def _multiply(c: Array, W: Array, which: int) -> None:
    """Multiply the motions of all joints, from BASE to TIP."""
    n = W.shape[0] - 1
    r00, r01, r02 = W[n, BASE], W[n, BASE + 1], W[n, BASE + 2]
    r10, r11, r12 = W[n, BASE + 3], W[n, BASE + 4], W[n, BASE + 5]
    r20, r21, r22 = W[n, BASE + 6], W[n, BASE + 7], W[n, BASE + 8]
    px, py, pz = W[n, BASE + 9], W[n, BASE + 10], W[n, BASE + 11]
    for i in range(n):
        W[i, AXIS], W[i, AXIS + 1], W[i, AXIS + 2] = r02, r12, r22
        W[i, POINT], W[i, POINT + 1], W[i, POINT + 2] = px, py, pz
        if c[i + 1, PRISMATIC] == 0.0:
            s, k = W[i, SINE], W[i, COSINE]
            r00, r01 = k * r00 + s * r01, k * r01 - s * r00
            r10, r11 = k * r10 + s * r11, k * r11 - s * r10
            r20, r21 = k * r20 + s * r21, k * r21 - s * r20
        else:
            px += W[i, which] * r02
            py += W[i, which] * r12
            pz += W[i, which] * r22
        x, y, z = c[i + 1, 9], c[i + 1, 10], c[i + 1, 11]
        px += r00 * x + r01 * y + r02 * z
        py += r10 * x + r11 * y + r12 * z
        pz += r20 * x + r21 * y + r22 * z
        b00, b01, b02 = c[i + 1, 0], c[i + 1, 1], c[i + 1, 2]
        b10, b11, b12 = c[i + 1, 3], c[i + 1, 4], c[i + 1, 5]
        b20, b21, b22 = c[i + 1, 6], c[i + 1, 7], c[i + 1, 8]
        r00, r01, r02 = (
            r00 * b00 + r01 * b10 + r02 * b20,
            r00 * b01 + r01 * b11 + r02 * b21,
            r00 * b02 + r01 * b12 + r02 * b22,
        )
        r10, r11, r12 = (
            r10 * b00 + r11 * b10 + r12 * b20,
            r10 * b01 + r11 * b11 + r12 * b21,
            r10 * b02 + r11 * b12 + r12 * b22,
        )
        r20, r21, r22 = (
            r20 * b00 + r21 * b10 + r22 * b20,
            r20 * b01 + r21 * b11 + r22 * b21,
            r20 * b02 + r21 * b12 + r22 * b22,
        )
    W[n, TIP], W[n, TIP + 1], W[n, TIP + 2] = r00, r01, r02
    W[n, TIP + 3], W[n, TIP + 4], W[n, TIP + 5] = r10, r11, r12
    W[n, TIP + 6], W[n, TIP + 7], W[n, TIP + 8] = r20, r21, r22
    W[n, TIP + 9], W[n, TIP + 10], W[n, TIP + 11] = px, py, pz


@kernel
def _move_mimic_joints(c: Array, W: Array, which: int) -> None:
    """Set the mimic joints from their leaders."""
    for i in range(W.shape[0] - 1):
        leader = int(c[i + 1, LEADER])
        if leader != i:
            W[i, which] = c[i + 1, RATIO] * W[leader, which]


@kernel
def _add_mimic_columns(c: Array, W: Array) -> None:
    """Add the columns of mimic joints to those of their leaders."""
    for i in range(W.shape[0] - 1):
        leader = int(c[i + 1, LEADER])
        if leader != i:
            for k in range(COLUMN, COLUMN + 6):
                W[leader, k] += c[i + 1, RATIO] * W[i, k]
                W[i, k] = 0.0


@kernel
def columns(c: Array, W: Array) -> None:
    """Compute the Jacobian at the tip pose left by `move` (MR 5.1, at the tip's origin).

    Fills COLUMN: velocity of the tip's origin, angular velocity.
    """
    n = W.shape[0] - 1
    px, py, pz = W[n, TIP + 9], W[n, TIP + 10], W[n, TIP + 11]
    for i in range(n):
        x, y, z = W[i, AXIS], W[i, AXIS + 1], W[i, AXIS + 2]
        if c[i + 1, PRISMATIC] == 0.0:
            dx, dy, dz = px - W[i, POINT], py - W[i, POINT + 1], pz - W[i, POINT + 2]
            W[i, COLUMN] = y * dz - z * dy
            W[i, COLUMN + 1] = z * dx - x * dz
            W[i, COLUMN + 2] = x * dy - y * dx
            W[i, COLUMN + 3], W[i, COLUMN + 4], W[i, COLUMN + 5] = x, y, z
        else:
            W[i, COLUMN], W[i, COLUMN + 1], W[i, COLUMN + 2] = x, y, z
            W[i, COLUMN + 3] = W[i, COLUMN + 4] = W[i, COLUMN + 5] = 0.0
    if c[0, LEADER] != 0.0:
        _add_mimic_columns(c, W)


@inlined_kernel
def place(c: Array, q: Array, W: Array) -> bool:
    """Compute the pose at q in the base frame; False if q is not n finite numbers."""
    n = W.shape[0] - 1
    if q.size != n:
        return False
    for i in range(n):
        if not abs(q[i]) < 1e100:
            return False
        W[i, Q] = q[i]
    for k in range(12):
        W[n, BASE + k] = c[0, k]
    move(c, W, Q)
    return True


@kernel
def fk(c: Array, q: Array, T: Array) -> bool:
    """Fill T (4, 4) with the pose of the tip in the base frame; False if q is invalid."""
    return _fk(c, q, T)


@allocating_kernel
def _fk(c: Array, q: Array, T: Array) -> bool:
    W = work(c.shape[0] - 1)
    if not place(c, q, W):
        return False
    _write_pose(W, T)
    return True


@kernel
def fk_jacobian(c: Array, q: Array, T: Array, J: Array) -> bool:
    """Fill J (6, n) too: rows v then w, base axes, at the tip's origin; False as for fk."""
    return _fk_jacobian(c, q, T, J)


@allocating_kernel
def _fk_jacobian(c: Array, q: Array, T: Array, J: Array) -> bool:
    n = c.shape[0] - 1
    W = work(n)
    if not place(c, q, W):
        return False
    _write_pose(W, T)
    columns(c, W)
    for i in range(n):
        for k in range(6):
            J[k, i] = W[i, COLUMN + k]
    return True


@kernel
def _write_pose(W: Array, T: Array) -> None:
    n = W.shape[0] - 1
    for i in range(3):
        for k in range(3):
            T[i, k] = W[n, TIP + 3 * i + k]
        T[i, 3] = W[n, TIP + 9 + i]
        T[3, i] = 0.0
    T[3, 3] = 1.0
