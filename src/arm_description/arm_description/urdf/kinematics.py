# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Pose of a joint's child frame at a position, with all that is constant computed once.

A turn by q about the unit axis u, after the origin's quaternion o, is
o * (cos(q/2), u sin(q/2)) = cos(q/2) o + sin(q/2) (o * u): one pair of constant quaternions, one
sine and one cosine for each pose.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np
from arm_common.transforms import Matrix, pose_to_matrix
from transforms3d.euler import euler2quat
from transforms3d.quaternions import qmult, rotate_vector

from arm_description.urdf.elements import UrdfJoint

Quaternion: TypeAlias = tuple[float, float, float, float]


def joint_pose(joint: UrdfJoint, q: float = 0.0) -> Matrix:
    """Pose of a joint's child in its parent, (4, 4); q [rad or m] is that of a moving joint."""
    motion = JointMotion(joint)
    return pose_to_matrix(motion.translation(q), motion.rotation(q))


def link_poses(
    root: str, joints: Iterable[UrdfJoint], values: Mapping[str, float]
) -> dict[str, Matrix]:
    """Return link name -> (4, 4), root <- link, of joints in an order from the root outwards.

    Values are by joint name [rad or m]; joints without one are at 0.
    """
    poses = {root: np.eye(4)}
    for joint in joints:
        poses[joint.child] = poses[joint.parent] @ joint_pose(joint, values.get(joint.name, 0.0))
    return poses


class JointMotion:
    """Motion of one joint."""

    def __init__(self, joint: UrdfJoint) -> None:
        self.joint = joint
        self.slides = joint.kind == "prismatic"  # only its position changes, else its rotation
        self.position = joint.origin.xyz  # of the child in the parent at 0 [m]
        origin = euler2quat(*joint.origin.rpy, "sxyz")
        self.quaternion = _xyzw(origin)  # of the child in the parent at 0
        self._turned = _xyzw(qmult(origin, (0.0, *joint.axis)))
        x, y, z = rotate_vector(joint.axis, origin)
        self._direction = (float(x), float(y), float(z))

    def translation(self, q: float) -> tuple[float, float, float]:
        """Position of the child in the parent at q [m]."""
        if not self.slides:
            return self.position
        (x, y, z), (ux, uy, uz) = self.position, self._direction
        return (x + ux * q, y + uy * q, z + uz * q)

    def rotation(self, q: float) -> Quaternion:
        """Unit quaternion (x, y, z, w) of the child in the parent at q [rad]."""
        if self.slides:
            return self.quaternion
        c, s = math.cos(0.5 * q), math.sin(0.5 * q)
        (x, y, z, w), (tx, ty, tz, tw) = self.quaternion, self._turned
        return (c * x + s * tx, c * y + s * ty, c * z + s * tz, c * w + s * tw)


def _xyzw(wxyz: tuple[float, ...]) -> Quaternion:
    w, x, y, z = (float(value) for value in wxyz)
    return (x, y, z, w)
