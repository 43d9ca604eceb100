# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Poses and numbers of messages <-> arrays, with refusals for what makes no sense."""

from __future__ import annotations

import math

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Pose, PoseStamped

from arm_kinematics.lie import Array, quaternion, rotation_of, se3
from arm_kinematics.ros.refusal import bad

_UNIT = 1e-3
"""A quaternion's length may differ from 1 by this much; it is then made a unit quaternion."""


def pose_matrix(pose: Pose, what: str) -> Array:
    """Return the pose as (4, 4) [m].

    Raises:
        RefusalError: A number is not finite, or the quaternion is not a unit quaternion.
    """
    p, o = pose.position, pose.orientation
    length = math.hypot(o.x, o.y, o.z, o.w)
    if not math.isfinite(length + p.x + p.y + p.z):
        raise bad(f"{what}: the pose holds NaN or infinity.")
    if abs(length - 1.0) > _UNIT:
        raise bad(
            f"{what}: the quaternion has length {length:.6g}, a rotation has 1; "
            "(0, 0, 0, 1) is no rotation."
        )
    return se3(rotation_of(o.x, o.y, o.z, o.w), (p.x, p.y, p.z))


def fill_pose(message: PoseStamped, T: Array, frame: str) -> None:
    """Write T (4, 4) [m] into a message, given in a frame."""
    message.header.frame_id = frame
    p, o = message.pose.position, message.pose.orientation
    p.x, p.y, p.z = T[:3, 3].tolist()
    o.x, o.y, o.z, o.w = quaternion(T[:3, :3])


def tolerance(value: float, default: float, what: str) -> float:
    """Return a tolerance, 0 meaning the default; refuse what is negative or not finite."""
    if not (math.isfinite(value) and value >= 0.0):
        raise bad(f"{what} is {value:g}; expected a positive number, or 0 for {default:g}.")
    return value or default


def seconds(duration: Duration, default: float, what: str) -> float:
    """Return a duration [s], 0 meaning the default; refuse a negative one."""
    value = duration.sec + 1e-9 * duration.nanosec
    if value < 0.0:
        raise bad(f"{what} is {value:g} s; expected a positive time, or 0 for {default:g} s.")
    return value or default
