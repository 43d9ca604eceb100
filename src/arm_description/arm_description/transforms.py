# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Poses at the boundaries: quaternions (x, y, z, w) as ROS writes them, rpy as URDF writes them.

Inside, a pose is a homogeneous matrix (4, 4), target <- source, in metres.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from transforms3d.euler import euler2mat
from transforms3d.quaternions import mat2quat, quat2mat

from .errors import DescriptionError

Matrix: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]

# Cosine of the pitch below which roll and yaw turn about the same line.
_GIMBAL = 1e-12


def pose_to_matrix(position: ArrayLike, quaternion: ArrayLike) -> Matrix:
    """Homogeneous matrix of a position and a quaternion.

    Args:
        position: (3,) x, y, z [m].
        quaternion: (4,) x, y, z, w, of any length but zero.

    Returns:
        (4, 4).

    Raises:
        DescriptionError: a number is not finite, or the quaternion is zero.
    """
    xyz = _finite(position, 3, "position")
    x, y, z, w = _finite(quaternion, 4, "quaternion")
    if x * x + y * y + z * z + w * w < 1e-12:
        raise DescriptionError(
            "the quaternion is zero", remedy="write (0, 0, 0, 1) for no rotation"
        )
    return _matrix(quat2mat((w, x, y, z)), xyz)


def matrix_to_pose(T: ArrayLike) -> tuple[Vector, Vector]:
    """Position and quaternion of a homogeneous matrix.

    Args:
        T: (4, 4).

    Returns:
        xyz (3,) [m] and the unit quaternion xyzw (4,) with w >= 0.
    """
    T = np.asarray(T, dtype=float)
    w, x, y, z = mat2quat(T[:3, :3])
    return T[:3, 3].copy(), np.array([x, y, z, w])


def rpy_matrix(xyz: ArrayLike, rpy: ArrayLike) -> Matrix:
    """Homogeneous matrix of a URDF origin: R = Rz(yaw) Ry(pitch) Rx(roll), fixed axes.

    Args:
        xyz: (3,) [m].
        rpy: (3,) roll, pitch, yaw [rad].

    Returns:
        (4, 4).
    """
    roll, pitch, yaw = _finite(rpy, 3, "rpy")
    return _matrix(euler2mat(roll, pitch, yaw, "sxyz"), _finite(xyz, 3, "xyz"))


def matrix_rpy(T: ArrayLike) -> tuple[Vector, Vector]:
    """Origin of a homogeneous matrix as URDF writes it.

    The roll is what the rounded yaw leaves, so that the three together stay exact where the pitch
    is a quarter turn and roll and yaw alone are undetermined.

    Args:
        T: (4, 4).

    Returns:
        xyz (3,) [m] and roll, pitch, yaw (3,) [rad].
    """
    T = np.asarray(T, dtype=float)
    (r00, r01, r02), (r10, r11, r12), (r20, _, _) = T[:3, :3]
    level = math.hypot(r00, r10)
    yaw = math.atan2(r10, r00) if level > _GIMBAL else 0.0
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * r02 - c * r12, c * r11 - s * r01)
    return T[:3, 3].copy(), np.array((roll, math.atan2(-r20, level), yaw))


def inverse(T: Matrix) -> Matrix:
    """Inverse of a homogeneous matrix (4, 4), by its structure."""
    out = np.eye(4)
    out[:3, :3] = T[:3, :3].T
    out[:3, 3] = -T[:3, :3].T @ T[:3, 3]
    return out


def _matrix(rotation: ArrayLike, xyz: Sequence[float] | Vector) -> Matrix:
    T = np.eye(4)
    T[:3, :3] = rotation
    T[:3, 3] = xyz
    return T


def _finite(values: ArrayLike, size: int, what: str) -> Vector:
    array = np.asarray(values, dtype=float)
    if array.shape != (size,) or not np.isfinite(array).all():
        raise DescriptionError(f"{what} must be {size} finite numbers, not {values!r}")
    return array
