# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled error of a pose against a target, and its derivative.

Everything is seen from the target's frame (BASE holds inverse(target) B0), so that the pose of the
tip *is* the error. What counts of it is said by one flat array of options:

    opt[WHAT]            NOTHING, AXIS_ONLY or ROTATION: what of the orientation counts
    opt[POSITION]        weight of the position in the sum that a descent makes small [1/m]
    opt[TURN : TURN+3]   weights of the turns about the target's x, y, z [1/rad]; 0 if free
    opt[METRES]          1 / position tolerance [1/m]
    opt[RADIANS : +3]    1 / orientation tolerances [1/rad]; 0 if free
    opt[ENOUGH]          weighed half squared error above which no tolerance can be met
    opt[TOOL : TOOL+3]   the axis whose direction counts (AXIS_ONLY), in tip and target frame
    opt[BOX]             1 if each component has its own tolerance, 0 if the angle has one
    opt[AIM]             share of the tolerances, or of the defaults if smaller, to be aimed at
    opt[PERSIST]         1 to go down to the very minimum even where it is no solution
    opt[STARTS]          how many starts a call of the search may use
"""

from __future__ import annotations

import math

from arm_kinematics.jit import kernel
from arm_kinematics.kernels import COLUMN, TIP, Array

NOTHING, AXIS_ONLY, ROTATION = 0, 1, 2
WHAT, POSITION, TURN, TOOL, BOX, AIM, STARTS = 0, 1, 2, 5, 8, 9, 10
METRES, RADIANS, ENOUGH, PERSIST = 11, 12, 15, 16
OPTIONS = 17

DEFAULT_POSITION_TOLERANCE = 1e-5  # [m]
DEFAULT_ORIENTATION_TOLERANCE = 1e-4  # [rad]
_P = 1.0 / DEFAULT_POSITION_TOLERANCE
_O = 1.0 / DEFAULT_ORIENTATION_TOLERANCE

FAILED, WITHIN, EXACT = 0, 1, 2


@kernel
def error(opt: Array, W: Array, at: int) -> float:
    """Fill the error at W[n, at : at + 6] and turn W[:, COLUMN] into its derivative by q.

    Returns half the squared error, each component weighed by its weight.
    """
    n = W.shape[0] - 1
    x, y, z = W[n, TIP + 9], W[n, TIP + 10], W[n, TIP + 11]
    W[n, at], W[n, at + 1], W[n, at + 2] = x, y, z
    if opt[WHAT] == ROTATION:
        _rotation_vector(W, at + 3)
        if opt[BOX] != 0.0:
            _derive_rotation_vector(W, at + 3)
    elif opt[WHAT] == AXIS_ONLY:
        _tilt(opt, W, at + 3)
    else:
        W[n, at + 3] = W[n, at + 4] = W[n, at + 5] = 0.0
    a, b, d = opt[TURN] * W[n, at + 3], opt[TURN + 1] * W[n, at + 4], opt[TURN + 2] * W[n, at + 5]
    p = opt[POSITION]
    cost: float = 0.5 * (p * p * (x * x + y * y + z * z) + a * a + b * b + d * d)
    return cost


@kernel
def quality(opt: Array, W: Array, at: int, cost: float) -> int:
    """Return EXACT, WITHIN (the tolerances, but more can be had) or FAILED."""
    if not cost <= opt[ENOUGH]:
        return FAILED
    n = W.shape[0] - 1
    position = math.sqrt(W[n, at] ** 2 + W[n, at + 1] ** 2 + W[n, at + 2] ** 2)
    if not position * opt[METRES] <= 1.0:
        return FAILED
    aim = opt[AIM]
    exact = position * max(opt[METRES], _P) <= aim
    if opt[BOX] != 0.0:
        for k in range(3):
            angle, weight = abs(W[n, at + 3 + k]), opt[RADIANS + k]
            if not angle * weight <= 1.0:
                return FAILED
            exact = exact and (weight == 0.0 or angle * max(weight, _O) <= aim)
    elif opt[WHAT] != NOTHING:
        angle = math.sqrt(W[n, at + 3] ** 2 + W[n, at + 4] ** 2 + W[n, at + 5] ** 2)
        if not angle * opt[RADIANS] <= 1.0:
            return FAILED
        exact = exact and angle * max(opt[RADIANS], _O) <= aim
    return EXACT if exact else WITHIN


@kernel
def _rotation_vector(W: Array, at: int) -> None:
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
def _derive_rotation_vector(W: Array, at: int) -> None:
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
def _tilt(opt: Array, W: Array, at: int) -> None:
    """Fill W[n, at : at + 3] with (angle, 0, 0) between the tool axis and its wanted direction.

    Its rate is the angular velocity about the common normal u; the second row is the sideways
    rate on the sphere of directions, which keeps the step from running past the target.
    """
    n = W.shape[0] - 1
    ax, ay, az = opt[TOOL], opt[TOOL + 1], opt[TOOL + 2]
    bx = W[n, TIP] * ax + W[n, TIP + 1] * ay + W[n, TIP + 2] * az
    by = W[n, TIP + 3] * ax + W[n, TIP + 4] * ay + W[n, TIP + 5] * az
    bz = W[n, TIP + 6] * ax + W[n, TIP + 7] * ay + W[n, TIP + 8] * az
    ux, uy, uz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    sine = math.sqrt(ux * ux + uy * uy + uz * uz)
    angle = math.atan2(sine, ax * bx + ay * by + az * bz)
    sideways = 1.0
    if sine > 1e-9:
        sideways = min(angle / sine, 3.0)
    else:  # parallel or opposite: any normal will do
        ux, uy, uz = (0.0, bz, -by) if abs(bx) < 0.6 else (-bz, 0.0, bx)
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / length, uy / length, uz / length
    vx, vy, vz = by * uz - bz * uy, bz * ux - bx * uz, bx * uy - by * ux
    for i in range(n):
        wx, wy, wz = W[i, COLUMN + 3], W[i, COLUMN + 4], W[i, COLUMN + 5]
        W[i, COLUMN + 3] = ux * wx + uy * wy + uz * wz
        W[i, COLUMN + 4] = sideways * (vx * wx + vy * wy + vz * wz)
        W[i, COLUMN + 5] = 0.0
    W[n, at], W[n, at + 1], W[n, at + 2] = angle, 0.0, 0.0
