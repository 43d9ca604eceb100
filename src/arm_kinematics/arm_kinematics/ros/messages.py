# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Poses and numbers of messages <-> arrays, with refusals for what makes no sense."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Pose, PoseStamped, Transform

from arm_kinematics.lie import Array, quaternion, rotation_rows
from arm_kinematics.ros.robot_state import bad

_UNIT = 1e-3
"""A quaternion's length may differ from 1 by this much; it is then made a unit quaternion."""


def pose_matrix(pose: Pose, what: str) -> Array:
    """Return the pose as (4, 4) [m].

    Raises:
        RefusalError: A number is not finite, or the quaternion is not a unit quaternion.
    """
    return _motion(pose.position, pose.orientation, what)


def tool_matrix(tool: Transform) -> Array | None:
    """Return the tool as (4, 4) [m]: tip <- point; None if it is the identity or all zeros.

    Raises:
        RefusalError: See pose_matrix.
    """
    p, o = tool.translation, tool.rotation
    if p.x == p.y == p.z == o.x == o.y == o.z == 0.0 and o.w in (0.0, 1.0):
        return None
    return _motion(p, o, "tool")


def _motion(p: Any, o: Any, what: str) -> Array:
    x, y, z, w = o.x, o.y, o.z, o.w
    length = math.hypot(x, y, z, w)
    px, py, pz = p.x, p.y, p.z
    if not math.isfinite(length + px + py + pz):
        raise bad(f"{what}: the pose holds NaN or infinity.")
    if abs(length - 1.0) > _UNIT:
        raise bad(
            f"{what}: the quaternion has length {length:.6g}, a rotation has 1; "
            "(0, 0, 0, 1) is no rotation."
        )
    (a, b, c), (d, e, f), (g, h, i) = rotation_rows(x, y, z, w)
    return np.array([[a, b, c, px], [d, e, f, py], [g, h, i, pz], [0.0, 0.0, 0.0, 1.0]])


def fill_pose(message: PoseStamped, T: Array, frame: str) -> None:
    """Write T (4, 4) [m] into a message, given in a frame."""
    message.header.frame_id = frame
    p, o = message.pose.position, message.pose.orientation
    p.x, p.y, p.z = T[:3, 3].tolist()
    o.x, o.y, o.z, o.w = quaternion(T[:3, :3])


def doubles(values: Array) -> array[float]:
    """Return numbers as the kind of array that messages take without a look at each of them."""
    return array("d", values.tobytes())


def seconds(duration: Duration, default: float, what: str) -> float:
    """Return a duration [s], 0 meaning the default; refuse a negative one."""
    value = duration.sec + 1e-9 * duration.nanosec
    if value < 0.0:
        raise bad(f"{what} is {value:g} s; expected a positive time, or 0 for {default:g} s.")
    return value or default
