# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/urdf/test_reader.py
"""Poses of the links of a URDF.

A rotation by q about the unit axis u, after the quaternion o of the origin, is
o * (cos(q/2), u sin(q/2)) = cos(q/2) o + sin(q/2) (o * u): two constant quaternions, one
sine and one cosine per pose.
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
    """Return the pose (4, 4) parent <- child of a joint at position q [rad or m]."""
    motion = JointMotion(joint)
    return pose_to_matrix(motion.translation(q), motion.rotation(q))


def link_poses(
    root: str, joints: Iterable[UrdfJoint], values: Mapping[str, float]
) -> dict[str, Matrix]:
    """Return the pose (4, 4) root <- link by link name; joints are ordered from the root outwards.

    Values are positions by joint name [rad or m], by default 0, or that of the joint it mimics.
    """
    poses = {root: np.eye(4)}
    for joint in joints:
        q = values.get(joint.name, 0.0)
        if joint.mimic and joint.name not in values:
            q = joint.mimic.multiplier * values.get(joint.mimic.joint, 0.0) + joint.mimic.offset
        poses[joint.child] = poses[joint.parent] @ joint_pose(joint, q)
    return poses


class JointMotion:
    """Transform of one joint as a function of its position."""

    def __init__(self, joint: UrdfJoint) -> None:
        self.joint = joint
        self.slides = joint.kind == "prismatic"  # changes only its translation, else its rotation
        self.position = joint.origin.xyz  # of the child in the parent at 0 [m]
        origin = euler2quat(*joint.origin.rpy, "sxyz")
        self.quaternion = _xyzw(origin)  # of the child in the parent at 0
        self._turned = _xyzw(qmult(origin, (0.0, *joint.axis)))
        x, y, z = rotate_vector(joint.axis, origin)
        self._direction = (float(x), float(y), float(z))

    def translation(self, q: float) -> tuple[float, float, float]:
        """Return the position [m] of the child in the parent at q."""
        if not self.slides:
            return self.position
        (x, y, z), (ux, uy, uz) = self.position, self._direction
        return (x + ux * q, y + uy * q, z + uz * q)

    def rotation(self, q: float) -> Quaternion:
        """Return the unit quaternion (x, y, z, w) of the child in the parent at q."""
        if self.slides:
            return self.quaternion
        c, s = math.cos(0.5 * q), math.sin(0.5 * q)
        (x, y, z, w), (tx, ty, tz, tw) = self.quaternion, self._turned
        return (c * x + s * tx, c * y + s * ty, c * z + s * tz, c * w + s * tw)


def _xyzw(wxyz: tuple[float, ...]) -> Quaternion:
    w, x, y, z = (float(value) for value in wxyz)
    return (x, y, z, w)
