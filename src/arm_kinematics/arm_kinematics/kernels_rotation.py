# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled errors of an orientation, and their derivatives, seen from the target's frame.

Each fills three entries W[n, at : at + 3] and turns the angular velocities in W[:, COLUMN] into
the rates of these entries.
"""

from __future__ import annotations

import math

from arm_kinematics.jit import kernel
from arm_kinematics.kernels import COLUMN, TIP, Array

_STEEPEST = 3.0  # of the sideways rate of a tilt, which has no bound near half a turn


@kernel
def rotation_vector(W: Array, at: int) -> None:
    """Fill W[n, at : at + 3] with the logarithm of the tip's rotation.

    By the quaternion, from its largest component (Shepperd 1978): accurate at 0 and at pi.
    """
    n = W.shape[0] - 1
    r00, r01, r02 = W[n, TIP], W[n, TIP + 1], W[n, TIP + 2]
    r10, r11, r12 = W[n, TIP + 3], W[n, TIP + 4], W[n, TIP + 5]
    r20, r21, r22 = W[n, TIP + 6], W[n, TIP + 7], W[n, TIP + 8]
    x, y, z = r21 - r12, r02 - r20, r10 - r01
    trace = r00 + r11 + r22
    if trace > 0.0:
        w = 1.0 + trace
    elif r00 >= r11 and r00 >= r22:
        w, x, y, z = x, 1.0 + 2.0 * r00 - trace, r01 + r10, r02 + r20
    elif r11 >= r22:
        w, x, y, z = y, r01 + r10, 1.0 + 2.0 * r11 - trace, r12 + r21
    else:
        w, x, y, z = z, r02 + r20, r12 + r21, 1.0 + 2.0 * r22 - trace
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    length = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 * math.atan2(length, w) / length if length > 1e-6 * w else 2.0 / w
    W[n, at], W[n, at + 1], W[n, at + 2] = scale * x, scale * y, scale * z


@kernel
def derive_rotation_vector(W: Array, at: int) -> None:
    """Turn angular velocities into rates of the rotation vector: the inverse left Jacobian.

    Barfoot, "State Estimation for Robotics" (2017), section 7.1. Only needed if the components
    weigh differently: with one weight the gradient is the same without it.
    """
    n = W.shape[0] - 1
    x, y, z = W[n, at], W[n, at + 1], W[n, at + 2]
    square = x * x + y * y + z * z
    if square < 1e-16:
        return
    k = 1.0 / 12.0 + square / 720.0
    if square > 1e-3:
        half = 0.5 * math.sqrt(square)
        k = (1.0 - half * math.cos(half) / math.sin(half)) / square
    for i in range(n):
        a, b, d = W[i, COLUMN + 3], W[i, COLUMN + 4], W[i, COLUMN + 5]
        ca, cb, cd = y * d - z * b, z * a - x * d, x * b - y * a
        W[i, COLUMN + 3] = a - 0.5 * ca + k * (y * cd - z * cb)
        W[i, COLUMN + 4] = b - 0.5 * cb + k * (z * ca - x * cd)
        W[i, COLUMN + 5] = d - 0.5 * cd + k * (x * cb - y * ca)


@kernel
def tilt(ax: float, ay: float, az: float, W: Array, at: int) -> None:
    """Fill (angle, 0, 0), between the axis a of the tip and the same axis of the target.

    Its rate is the angular velocity about the common normal u; the second row is the sideways
    rate on the sphere of directions, which keeps the step from running past the target.
    """
    n = W.shape[0] - 1
    bx = W[n, TIP] * ax + W[n, TIP + 1] * ay + W[n, TIP + 2] * az
    by = W[n, TIP + 3] * ax + W[n, TIP + 4] * ay + W[n, TIP + 5] * az
    bz = W[n, TIP + 6] * ax + W[n, TIP + 7] * ay + W[n, TIP + 8] * az
    ux, uy, uz, angle, sideways = _normal(ax, ay, az, bx, by, bz)
    vx, vy, vz = by * uz - bz * uy, bz * ux - bx * uz, bx * uy - by * ux
    for i in range(n):
        wx, wy, wz = W[i, COLUMN + 3], W[i, COLUMN + 4], W[i, COLUMN + 5]
        W[i, COLUMN + 3] = ux * wx + uy * wy + uz * wz
        W[i, COLUMN + 4] = sideways * (vx * wx + vy * wy + vz * wz)
        W[i, COLUMN + 5] = 0.0
    W[n, at], W[n, at + 1], W[n, at + 2] = angle, 0.0, 0.0


@kernel
def tilt_components(ax: float, ay: float, az: float, in_tip: bool, W: Array, at: int) -> None:
    """Fill the shortest rotation vector that carries the target's axis a to the tip's.

    Its components along the target's axes, or along the tip's: there it is the target that turns,
    the other way.
    """
    n = W.shape[0] - 1
    side, up, across = (-1.0, 1, 3) if in_tip else (1.0, 3, 1)
    bx = W[n, TIP] * ax + W[n, TIP + across] * ay + W[n, TIP + 2 * across] * az
    by = W[n, TIP + up] * ax + W[n, TIP + up + across] * ay + W[n, TIP + up + 2 * across] * az
    bz = W[n, TIP + 2 * up] * ax
    bz += W[n, TIP + 2 * up + across] * ay + W[n, TIP + 2 * up + 2 * across] * az
    ux, uy, uz, angle, sideways = _normal(ax, ay, az, bx, by, bz)
    vx, vy, vz = by * uz - bz * uy, bz * ux - bx * uz, bx * uy - by * ux
    sx, sy, sz = ay * uz - az * uy, az * ux - ax * uz, ax * uy - ay * ux
    if in_tip:
        _turn_into_tip(W, COLUMN + 3)
    for i in range(n):
        wx, wy, wz = W[i, COLUMN + 3], W[i, COLUMN + 4], W[i, COLUMN + 5]
        rate = ux * wx + uy * wy + uz * wz
        swing = sideways * (vx * wx + vy * wy + vz * wz)
        W[i, COLUMN + 3] = rate * ux + swing * sx
        W[i, COLUMN + 4] = rate * uy + swing * sy
        W[i, COLUMN + 5] = rate * uz + swing * sz
    angle *= side
    W[n, at], W[n, at + 1], W[n, at + 2] = angle * ux, angle * uy, angle * uz


@kernel
def _normal(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float
) -> tuple[float, float, float, float, float]:
    """Return the unit normal of a and b, the angle from a to b, and angle / sine, bounded."""
    ux, uy, uz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    sine = math.sqrt(ux * ux + uy * uy + uz * uz)
    angle = math.atan2(sine, ax * bx + ay * by + az * bz)
    sideways = 1.0
    if sine > 1e-9:
        sideways = min(angle / sine, _STEEPEST)
    else:  # parallel or opposite: any normal will do
        ux, uy, uz = (0.0, bz, -by) if abs(bx) < 0.6 else (-bz, 0.0, bx)
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    return ux / length, uy / length, uz / length, angle, sideways


@kernel
def position_in_tip(W: Array, at: int) -> None:
    """Turn the error of the position, and its derivative, from the target's axes to the tip's."""
    n = W.shape[0] - 1
    px, py, pz = W[n, at], W[n, at + 1], W[n, at + 2]
    for i in range(n):  # in the tip's axes the error turns back while the tip turns
        wx, wy, wz = W[i, COLUMN + 3], W[i, COLUMN + 4], W[i, COLUMN + 5]
        W[i, COLUMN] -= wy * pz - wz * py
        W[i, COLUMN + 1] -= wz * px - wx * pz
        W[i, COLUMN + 2] -= wx * py - wy * px
    _turn_into_tip(W, COLUMN)
    for k in range(3):
        W[n, at + k] = W[n, TIP + k] * px + W[n, TIP + 3 + k] * py + W[n, TIP + 6 + k] * pz


@kernel
def _turn_into_tip(W: Array, column: int) -> None:
    """Turn three entries of each joint's row from the target's axes to the tip's."""
    n = W.shape[0] - 1
    for i in range(n):
        x, y, z = W[i, column], W[i, column + 1], W[i, column + 2]
        for k in range(3):
            W[i, column + k] = W[n, TIP + k] * x + W[n, TIP + 3 + k] * y + W[n, TIP + 6 + k] * z
