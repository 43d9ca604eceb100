# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/urdf/test_reader.py
"""Exact URDF joint origins of a DH table, and poses of the links.

A URDF joint is origin * motion. The offset of a row acts along the same z as the joint variable,
so the two commute, and the offset of theta may move after the joint. That leaves only origins with
explicit rpy: (alpha, 0, theta) in both conventions. Nothing is extracted from a matrix (but for a
row with beta), so URDF and table agree to rounding.

With link i the child link of joint i and z the axis of the joint:

* standard: joint i+1 <- link i is Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i);
* modified: joint i+1 <- link i is Rz(theta_i) Rx(alpha_i) Tx(a_i) Tz(d_i+1), where row i+1 of
  the table holds a_i and alpha_i.

A rotation by q about the unit axis u, after the quaternion o of the origin, is
o * (cos(q/2), u sin(q/2)) = cos(q/2) o + sin(q/2) (o * u): two constant quaternions, one
sine and one cosine per pose.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from arm_common.transforms import Matrix, pose_to_matrix
from transforms3d.euler import euler2quat
from transforms3d.quaternions import qmult, rotate_vector

from arm_description.model.elements import DhRow, Origin, Triple, cos_sin, dh_matrix
from arm_description.urdf.elements import UrdfJoint

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

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


class JointFrames:
    """Origins of the joints and frames of a DH table.

    ``joints`` has the origin of the joint of each row in its parent link (base_link for the
    first), ``dh`` that of DH frame 0 in base_link and of frame i in link i for the others.
    """

    def __init__(self, model: RobotModel) -> None:
        rows = [joint.row for joint in model.rows]
        if model.convention == "standard":
            frames = [_standard(row) for row in rows]
            self.joints = (model.base, *frames[:-1])
        else:
            frames = [Origin(rpy=(0.0, 0.0, row.theta)) for row in rows]
            first = _after_base(model.base, rows[0])
            self.joints = (first, *(_modified(*pair) for pair in pairwise(rows)))
        self.dh = (model.base, *frames)


def _standard(row: DhRow) -> Origin:
    c, s = cos_sin(row.theta)
    if row.beta:
        return Origin.of(dh_matrix(row, "standard"))
    return Origin((row.a * c, row.a * s, row.d), (row.alpha, 0.0, row.theta))


def _modified(row: DhRow, following: DhRow) -> Origin:
    c, s = cos_sin(row.theta)
    x, y, z = _proximal(following)
    return Origin((c * x - s * y, s * x + c * y, z), (following.alpha, 0.0, row.theta))


def _after_base(base: Origin, row: DhRow) -> Origin:
    """Return base * Rx(alpha) Tx(a) Tz(d); Rx is the innermost rotation of rpy, so they add."""
    offset = base.matrix[:3, :3] @ _proximal(row)
    x, y, z = (float(b + t) for b, t in zip(base.xyz, offset, strict=True))
    roll, pitch, yaw = base.rpy
    return Origin((x, y, z), (roll + row.alpha, pitch, yaw))


def _proximal(row: DhRow) -> Triple:
    """Return the position of Rx(alpha) Tx(a) Tz(d)."""
    c, s = cos_sin(row.alpha)
    return (row.a, -s * row.d, c * row.d)
