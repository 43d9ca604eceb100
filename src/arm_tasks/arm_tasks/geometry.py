# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Small helpers on rigid transforms (4, 4) and rotations (3, 3): frames, angles, in-between poses.

T_a_b maps coordinates in frame b to frame a. Metres and radians throughout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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


def inverse(T: Array) -> Array:
    """Return the inverse (4, 4) of a rigid transform."""
    R = T[:3, :3].T
    return pose(R, -R @ T[:3, 3])


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
