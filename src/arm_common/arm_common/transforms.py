# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Rigid transforms (4, 4) and rotations (3, 3): construction and conversion.

T_a_b maps coordinates in frame b to frame a. Metres and radians throughout. Quaternions are
x, y, z, w as in ROS messages; roll, pitch and yaw are those of URDF.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_common.errors import InputError

Array: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = Array
Vector: TypeAlias = Array

_GIMBAL_LOCK = 1e-12  # cosine of the pitch below which roll and yaw share an axis
_UP = np.array([0.0, 0.0, 1.0])
_FORWARD = np.array([1.0, 0.0, 0.0])
_IDENTITY = np.eye(4)


def pose(R: ArrayLike | None = None, p: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Return the transform (4, 4) of a rotation (3, 3), by default none, and a position [m]."""
    T: Array = _IDENTITY.copy()
    if R is not None:
        T[:3, :3] = R
    T[:3, 3] = p
    return T


def inverse(T: Array) -> Array:
    """Return the inverse of a rigid transform (4, 4)."""
    R = T[:3, :3].T
    return pose(R, -R @ T[:3, 3])


def shift_z(distance: float) -> Array:
    """Return the translation (4, 4) along z [m]."""
    return pose(p=(0.0, 0.0, distance))


def turn_z(angle: float) -> Array:
    """Return the rotation (4, 4) about z [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return pose([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def frame_along(axis: Array) -> Array:
    """Return the rotation (3, 3) with z along an axis (3,) and x pointing up as far as possible.

    If the axis is vertical, x points as far forward (base x) as possible.
    """
    z = axis / np.linalg.norm(axis)
    up = _UP if abs(float(z[2])) < 1.0 - 1e-9 else _FORWARD
    x = up - float(up @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def wrap(angle: float) -> float:
    """Return an angle [rad] wrapped to (-pi, pi]."""
    return math.pi - (math.pi - angle) % (2.0 * math.pi)


def twist_z(R: Array) -> float:
    """Return the rotation about z that a rotation (3, 3) contains, in (-pi, pi].

    This is the twist of the swing-twist decomposition: R = swing * turn_z(twist) with the swing's
    axis in the xy plane, 2 atan2(z, w) of the quaternion of R. In terms of the matrix,
    tan(twist) = (R10 - R01) / (R00 + R11), which holds for every tilt below 180 degrees.
    """
    return math.atan2(float(R[1, 0] - R[0, 1]), float(R[0, 0] + R[1, 1]))


def tilt_z(R: Array) -> float:
    """Return the angle between the z axis and the rotated z axis, 0 to pi."""
    return math.atan2(math.hypot(float(R[0, 2]), float(R[1, 2])), float(R[2, 2]))


def sinc(x: float) -> float:
    """Return sin(x)/x, x >= 0."""
    return 1.0 - x * x / 6.0 if x < 1e-4 else math.sin(x) / x


def cosc(x: float) -> float:
    """Return (1 - cos(x))/x^2, x >= 0, by the half angle, which avoids cancellation."""
    return 0.5 * sinc(0.5 * x) ** 2


def so3_exp(w: ArrayLike) -> Array:
    """Return the rotation (3, 3) of a rotation vector w (3,) [rad] by Rodrigues' formula.

    Lynch and Park, "Modern Robotics" (2017), eq. 3.51.
    """
    x, y, z = np.asarray(w, dtype=np.float64).tolist()
    angle = math.sqrt(x * x + y * y + z * z)
    a, b = sinc(angle), cosc(angle)
    return np.array(
        [
            [1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y],
            [b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x],
            [b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y)],
        ]
    )


def so3_log(R: Array) -> Array:
    """Return the rotation vector (3,) [rad] of a rotation (3, 3), of length 0 to pi.

    Accurate near 0 and near pi; at exactly pi one of the two valid signs is returned.
    """
    x, y, z, w = quaternion(R)
    length = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 / w if length < 1e-12 else 2.0 * math.atan2(length, w) / length
    return np.array([scale * x, scale * y, scale * z])


def quaternion(T: Array) -> tuple[float, float, float, float]:
    """Return the unit quaternion x, y, z, w (w >= 0) of a rotation (3, 3) or a transform (4, 4).

    Computed from its largest component, hence accurate near 0 and near pi: Shepperd, "Quaternion
    from rotation matrix", J. Guidance and Control 1(3), 1978. Scalar code for speed.
    """
    (a, b, c), (d, e, f), (g, h, i) = T[:3, :3].tolist()
    trace = a + e + i
    if trace >= max(a, e, i):
        x, y, z, w = h - f, c - g, d - b, 1.0 + trace
    elif a >= max(e, i):
        x, y, z, w = 1.0 + 2.0 * a - trace, b + d, c + g, h - f
    elif e >= i:
        x, y, z, w = b + d, 1.0 + 2.0 * e - trace, f + h, c - g
    else:
        x, y, z, w = c + g, f + h, 1.0 + 2.0 * i - trace, d - b
    scale = math.copysign(1.0 / math.sqrt(x * x + y * y + z * z + w * w), w)
    return scale * x, scale * y, scale * z, scale * w


def pose_to_matrix(position: ArrayLike, quaternion: ArrayLike) -> Array:
    """Return the transform (4, 4) of a position (3,) [m] and a quaternion (4,) x, y, z, w.

    Raises:
        InputError: A number is not finite, or the quaternion is zero.
    """
    from transforms3d.quaternions import quat2mat

    xyz = _finite(position, 3, "position")
    xyzw = _finite(quaternion, 4, "quaternion")
    largest = np.abs(xyzw).max()  # unlike the norm, it cannot overflow
    if largest < 1e-6:
        raise InputError("the quaternion is zero", remedy="write (0, 0, 0, 1) for no rotation")
    x, y, z, w = xyzw / largest
    return pose(quat2mat((w, x, y, z)), xyz)


def rpy_matrix(xyz: ArrayLike, rpy: ArrayLike) -> Array:
    """Return the transform (4, 4) of a URDF origin: xyz (3,) [m]; roll, pitch, yaw (3,) [rad].

    R = Rz(yaw) Ry(pitch) Rx(roll), about fixed axes.
    """
    from transforms3d.euler import euler2mat

    roll, pitch, yaw = _finite(rpy, 3, "rpy")
    return pose(euler2mat(roll, pitch, yaw, "sxyz"), _finite(xyz, 3, "xyz"))


def matrix_rpy(T: ArrayLike) -> tuple[Array, Array]:
    """Return xyz (3,) [m] and roll, pitch, yaw (3,) [rad] of a transform (4, 4), as in URDF.

    The roll is computed from the rounded yaw, so that the three together stay exact in gimbal
    lock, where roll and yaw alone are undetermined.
    """
    T = np.asarray(T, dtype=float)
    (r00, r01, r02), (r10, r11, r12), (r20, _, _) = T[:3, :3]
    level = math.hypot(r00, r10)
    yaw = math.atan2(r10, r00) if level > _GIMBAL_LOCK else 0.0
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * r02 - c * r12, c * r11 - s * r01)
    return T[:3, 3].copy(), np.array((roll, math.atan2(-r20, level), yaw))


def is_rotation(R: Array) -> bool:
    """Return whether a matrix (3, 3) is orthonormal within 1e-6 and right-handed."""
    deviation = np.abs(R @ R.T - np.eye(3)).max()
    return bool(deviation <= 1e-6 and np.linalg.det(R) > 0.0)


def is_rigid(T: Array) -> bool:
    """Return whether an array is a finite rigid transform (4, 4)."""
    finite = T.shape == (4, 4) and bool(np.isfinite(T).all())
    return finite and is_rotation(T[:3, :3]) and bool(np.all(T[3] == _IDENTITY[3]))


def _finite(values: ArrayLike, size: int, name: str) -> Array:
    array = np.asarray(values, dtype=float)
    if array.shape != (size,) or not np.isfinite(array).all():
        raise InputError(f"{name} must be {size} finite numbers, not {values!r}")
    return array
