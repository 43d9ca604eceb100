# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled errors of an orientation, seen from the target's frame: each fills three entries.

Their derivatives are in kernels_derivative.py.
"""

from __future__ import annotations

import math

from arm_kinematics.jit import kernel
from arm_kinematics.kernels import TIP, Array
from arm_kinematics.kernels_vectors import Vector, cross, dot, length


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
    sine = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 * math.atan2(sine, w) / sine if sine > 1e-6 * w else 2.0 / w
    W[n, at], W[n, at + 1], W[n, at + 2] = scale * x, scale * y, scale * z


@kernel
def tilt(axis: Vector, W: Array, at: int) -> None:
    """Fill (angle, 0, 0), between an axis of the tip and the same axis of the target."""
    n = W.shape[0] - 1
    _, W[n, at], _ = normal(axis, tipped(axis, W))
    W[n, at + 1] = W[n, at + 2] = 0.0


@kernel
def tilt_components(axis: Vector, in_tip: bool, W: Array, at: int) -> None:
    """Fill the shortest rotation vector that carries the target's axis to the tip's.

    Its components along the target's axes, or along the tip's: there it is the target that turns,
    the other way.
    """
    n = W.shape[0] - 1
    (x, y, z), angle, _ = normal(axis, tipped_in_tip(axis, W) if in_tip else tipped(axis, W))
    angle = -angle if in_tip else angle
    W[n, at], W[n, at + 1], W[n, at + 2] = angle * x, angle * y, angle * z


@kernel
def tipped(axis: Vector, W: Array) -> Vector:
    """Return an axis of the tip in the target's frame."""
    n = W.shape[0] - 1
    x, y, z = axis
    return (
        W[n, TIP] * x + W[n, TIP + 1] * y + W[n, TIP + 2] * z,
        W[n, TIP + 3] * x + W[n, TIP + 4] * y + W[n, TIP + 5] * z,
        W[n, TIP + 6] * x + W[n, TIP + 7] * y + W[n, TIP + 8] * z,
    )


@kernel
def tipped_in_tip(axis: Vector, W: Array) -> Vector:
    """Return an axis of the target in the tip's frame."""
    n = W.shape[0] - 1
    x, y, z = axis
    return (
        W[n, TIP] * x + W[n, TIP + 3] * y + W[n, TIP + 6] * z,
        W[n, TIP + 1] * x + W[n, TIP + 4] * y + W[n, TIP + 7] * z,
        W[n, TIP + 2] * x + W[n, TIP + 5] * y + W[n, TIP + 8] * z,
    )


@kernel
def normal(a: Vector, b: Vector) -> tuple[Vector, float, float]:
    """Return the unit normal of two directions, and the angle from a to b and its sine."""
    u = cross(a, b)
    sine = length(u)
    angle = math.atan2(sine, dot(a, b))
    if sine > 1e-9:
        return (u[0] / sine, u[1] / sine, u[2] / sine), angle, sine
    x, y, z = (0.0, b[2], -b[1]) if abs(b[0]) < 0.6 else (-b[2], 0.0, b[0])
    size = math.sqrt(x * x + y * y + z * z)  # parallel or opposite: any normal will do
    return (x / size, y / size, z / size), angle, sine
