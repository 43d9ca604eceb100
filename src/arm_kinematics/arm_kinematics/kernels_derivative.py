# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled derivative of the error, by the joints, where `move` has left the tip.

Each function turns the velocities in W[:, COLUMN] into the rates of the entries of the error.
"""

from __future__ import annotations

import math

from arm_kinematics.jit import kernel
from arm_kinematics.kernels import COLUMN, ERROR, TIP, Array, columns
from arm_kinematics.kernels_error import (
    AXIS_ONLY,
    IN_TIP,
    PLACE_BOX,
    ROTATION,
    TOOL,
    TURN_BOX,
    WHAT,
)
from arm_kinematics.kernels_rotation import normal, tipped, tipped_in_tip
from arm_kinematics.kernels_vectors import Vector, cross

_STEEPEST = 3.0  # of the sideways rate of a tilt, which has no bound near half a turn


@kernel
def derive(c: Array, opt: Array, W: Array) -> None:
    """Fill COLUMN with the derivative of the error at W[n, ERROR...]."""
    columns(c, W)
    if opt[PLACE_BOX] != 0.0 and opt[IN_TIP] != 0.0:
        _position_in_tip(W)
    if opt[WHAT] == ROTATION:
        if opt[TURN_BOX] != 0.0:
            _rotation_vector(W)
    elif opt[WHAT] == AXIS_ONLY:
        axis = opt[TOOL], opt[TOOL + 1], opt[TOOL + 2]
        if opt[TURN_BOX] != 0.0:
            _tilt_components(axis, opt[IN_TIP] != 0.0, W)
        else:
            _tilt(axis, W)


@kernel
def _position_in_tip(W: Array) -> None:
    """Along the tip's axes, where the error turns back while the tip turns."""
    n = W.shape[0] - 1
    px, py, pz = W[n, TIP + 9], W[n, TIP + 10], W[n, TIP + 11]
    for i in range(n):
        wx, wy, wz = W[i, COLUMN + 3], W[i, COLUMN + 4], W[i, COLUMN + 5]
        W[i, COLUMN] -= wy * pz - wz * py
        W[i, COLUMN + 1] -= wz * px - wx * pz
        W[i, COLUMN + 2] -= wx * py - wy * px
    _turn_into_tip(W, COLUMN)


@kernel
def _rotation_vector(W: Array) -> None:
    """By the inverse left Jacobian: Barfoot, "State Estimation for Robotics" (2017), section 7.1.

    Only needed if the components weigh differently: with one weight the gradient is the same
    without it.
    """
    n = W.shape[0] - 1
    x, y, z = W[n, ERROR + 3], W[n, ERROR + 4], W[n, ERROR + 5]
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
def _tilt(axis: Vector, W: Array) -> None:
    """Of the angle, whose rate is the angular velocity about the common normal u.

    The second row is the sideways rate on the sphere of directions, which keeps the step from
    running past the target.
    """
    n = W.shape[0] - 1
    b = tipped(axis, W)
    (ux, uy, uz), angle, sine = normal(axis, b)
    vx, vy, vz = cross(b, (ux, uy, uz))
    sideways = _sideways(angle, sine)
    for i in range(n):
        wx, wy, wz = W[i, COLUMN + 3], W[i, COLUMN + 4], W[i, COLUMN + 5]
        W[i, COLUMN + 3] = ux * wx + uy * wy + uz * wz
        W[i, COLUMN + 4] = sideways * (vx * wx + vy * wy + vz * wz)
        W[i, COLUMN + 5] = 0.0


@kernel
def _tilt_components(axis: Vector, in_tip: bool, W: Array) -> None:
    n = W.shape[0] - 1
    b = tipped_in_tip(axis, W) if in_tip else tipped(axis, W)
    (ux, uy, uz), angle, sine = normal(axis, b)
    vx, vy, vz = cross(b, (ux, uy, uz))
    sx, sy, sz = cross(axis, (ux, uy, uz))
    sideways = _sideways(angle, sine)
    if in_tip:
        _turn_into_tip(W, COLUMN + 3)
    for i in range(n):
        wx, wy, wz = W[i, COLUMN + 3], W[i, COLUMN + 4], W[i, COLUMN + 5]
        rate = ux * wx + uy * wy + uz * wz
        swing = sideways * (vx * wx + vy * wy + vz * wz)
        W[i, COLUMN + 3] = rate * ux + swing * sx
        W[i, COLUMN + 4] = rate * uy + swing * sy
        W[i, COLUMN + 5] = rate * uz + swing * sz


@kernel
def _sideways(angle: float, sine: float) -> float:
    """Return angle / sine, bounded."""
    return min(angle / sine, _STEEPEST) if sine > 1e-9 else 1.0


@kernel
def _turn_into_tip(W: Array, column: int) -> None:
    """Turn three entries of each joint's row from the target's axes to the tip's."""
    n = W.shape[0] - 1
    for i in range(n):
        x, y, z = W[i, column], W[i, column + 1], W[i, column + 2]
        for k in range(3):
            W[i, column + k] = W[n, TIP + k] * x + W[n, TIP + 3 + k] * y + W[n, TIP + 6 + k] * z
