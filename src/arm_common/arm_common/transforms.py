# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Small helpers on rigid transforms (4, 4) and rotations (3, 3): frames, angles, in-between poses.

T_a_b maps coordinates in frame b to frame a. Metres and radians throughout.

Poses at the boundaries: quaternions (x, y, z, w) as ROS writes them, rpy as URDF writes them.

Inside, a pose is a homogeneous matrix (4, 4), target <- source, in metres.

Rotation matrix to quaternion in scalar code: it runs for every frame of every picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike, NDArray
from transforms3d.euler import euler2mat
from transforms3d.quaternions import mat2quat, quat2mat

from arm_common.errors import InputError

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
        InputError: a number is not finite, or the quaternion is zero.
    """
    xyz = _finite(position, 3, "position")
    x, y, z, w = _finite(quaternion, 4, "quaternion")
    if x * x + y * y + z * z + w * w < 1e-12:
        raise InputError("the quaternion is zero", remedy="write (0, 0, 0, 1) for no rotation")
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
        raise InputError(f"{what} must be {size} finite numbers, not {values!r}")
    return array


Array = npt.NDArray[np.float64]

_UP = np.array([0.0, 0.0, 1.0])
_FORWARD = np.array([1.0, 0.0, 0.0])


def pose(R: Array | None = None, p: Array | tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Array:
    """Return the transform (4, 4) of a rotation (identity if None) and a position [m]."""
    T = np.eye(4)
    if R is not None:
        T[:3, :3] = R
    T[:3, 3] = p
    return T


def shift_z(distance: float) -> Array:
    """Return the transform (4, 4) that moves along z [m]."""
    return pose(p=(0.0, 0.0, distance))


def turn_z(angle: float) -> Array:
    """Return the transform (4, 4) that turns about z [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return pose(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))


def frame_along(axis: Array) -> Array:
    """Return a rotation (3, 3) whose z is along axis and whose x is as near to upward as can be.

    If the axis is vertical, x is as near to forward (base x) as can be.

    Args:
        axis: Direction (3,), of any length but zero.
    """
    z = axis / np.linalg.norm(axis)
    up = _UP if abs(float(z[2])) < 1.0 - 1e-9 else _FORWARD
    x = up - float(up @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def wrap(angle: float) -> float:
    """Return the same angle in (-pi, pi]."""
    return math.pi - (math.pi - angle) % (2.0 * math.pi)


def twist_z(R: Array) -> float:
    """Return the part of a rotation (3, 3) that is about z, in (-pi, pi].

    This is the twist of the swing-twist decomposition: R = swing * turn_z(twist) with the swing's
    axis in the xy plane; for the quaternion (w, x, y, z) of R it is 2 atan2(z, w). From the
    matrix: tan(twist) = (R10 - R01) / (R00 + R11), equal to it for every tilt below 180 degrees.
    """
    return math.atan2(float(R[1, 0] - R[0, 1]), float(R[0, 0] + R[1, 1]))


def tilt_z(R: Array) -> float:
    """Return the angle between the z axis and the rotated z axis, 0 to pi."""
    return math.atan2(math.hypot(float(R[0, 2]), float(R[1, 2])), float(R[2, 2]))


def rotation_vector(R: Array) -> Array:
    """Return axis times angle (3,) of a rotation (3, 3), the angle in 0 to pi."""
    w = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine2 = float(np.linalg.norm(w))
    angle = math.atan2(sine2, float(np.trace(R)) - 1.0)
    if sine2 > 1e-8:
        return w * (angle / sine2)
    if angle < 1.0:
        return w * 0.5
    # Half a turn: R = 2 a a^T - I, so the largest column of R + I is along the axis.
    columns = R + np.eye(3)
    axis = columns[:, int(np.argmax(np.diag(columns)))]
    return np.asarray(axis / np.linalg.norm(axis) * angle)


def rotation(vector: Array) -> Array:
    """Return the rotation (3, 3) by axis times angle (3,), by Rodrigues' formula."""
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = vector / angle
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * (K @ K))


@dataclass(frozen=True)
class Between:
    """The poses between two poses: straight in position, evenly about one axis in rotation.

    Attributes:
        start: Pose (4, 4) at fraction 0.
        way: Displacement (3,) in the outer frame [m].
        turn: Axis times angle (3,) of start's axes [rad].
    """

    start: Array
    way: Array
    turn: Array

    @classmethod
    def of(cls, start: Array, goal: Array) -> Between:
        """Return what lies between start and goal, each (4, 4)."""
        turn = rotation_vector(start[:3, :3].T @ goal[:3, :3])
        return cls(start, goal[:3, 3] - start[:3, 3], turn)

    @property
    def distance(self) -> float:
        """Length of the straight line [m]."""
        return float(np.linalg.norm(self.way))

    @property
    def angle(self) -> float:
        """Angle of the rotation [rad]."""
        return float(np.linalg.norm(self.turn))

    def at(self, fraction: float) -> Array:
        """Return the pose (4, 4) at a fraction of the way, 0 to 1."""
        R = self.start[:3, :3] @ rotation(self.turn * fraction)
        return pose(R, self.start[:3, 3] + self.way * fraction)


def is_rigid(T: Array, tolerance: float = 1e-6) -> bool:
    """Return whether T is a finite rigid transform (4, 4): orthonormal, right-handed."""
    if T.shape != (4, 4) or not np.isfinite(T).all():
        return False
    R = T[:3, :3]
    straight = np.abs(R.T @ R - np.eye(3)).max() < tolerance
    return bool(straight and np.linalg.det(R) > 0.0 and np.array_equal(T[3], [0, 0, 0, 1]))


Quaternion = tuple[float, float, float, float]


def quaternion(pose: Array) -> Quaternion:
    """Return the unit quaternion w, x, y, z of a pose's rotation.

    Divides by the largest component, so that no rotation loses accuracy: Shepperd, "Quaternion
    from rotation matrix", Journal of Guidance and Control 1 (1978), 223-224.

    Args:
        pose: (4, 4) or (3, 3), with a rotation in its upper left corner.
    """
    (a, b, c), (d, e, f), (g, h, i) = pose[:3, :3].tolist()
    squares = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)
    largest = squares.index(max(squares))
    root = 2.0 * math.sqrt(squares[largest])
    rows = (
        (root / 4, (h - f) / root, (c - g) / root, (d - b) / root),
        ((h - f) / root, root / 4, (b + d) / root, (c + g) / root),
        ((c - g) / root, (b + d) / root, root / 4, (f + h) / root),
        ((d - b) / root, (c + g) / root, (f + h) / root, root / 4),
    )
    return rows[largest]
