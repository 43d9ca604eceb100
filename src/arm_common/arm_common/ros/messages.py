# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conversions between transforms (4, 4) or seconds and ROS messages."""

from __future__ import annotations

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, TransformStamped, Vector3

from arm_common.transforms import Array, pose_to_matrix, quaternion


def fill_pose(position: Point | Vector3, orientation: Quaternion, T: Array) -> None:
    """Write a transform (4, 4) [m] to the position and orientation of a message."""
    position.x, position.y, position.z = T[:3, 3].tolist()
    orientation.x, orientation.y, orientation.z, orientation.w = quaternion(T)


def pose_message(T: Array) -> Pose:
    """Return a transform (4, 4) [m] as a pose message."""
    message = Pose()
    fill_pose(message.position, message.orientation, T)
    return message


def pose_matrix(message: Pose) -> Array:
    """Return a pose message as a transform (4, 4) [m]."""
    p, q = message.position, message.orientation
    return pose_to_matrix((p.x, p.y, p.z), (q.x, q.y, q.z, q.w))


def transform_matrix(message: Transform) -> Array:
    """Return a transform message as a transform (4, 4) [m]."""
    p, q = message.translation, message.rotation
    return pose_to_matrix((p.x, p.y, p.z), (q.x, q.y, q.z, q.w))


def transform_message(parent: str, child: str, T: Array, stamp: Time) -> TransformStamped:
    """Return parent <- child (4, 4) [m] as a tf message."""
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id, message.header.stamp = parent, stamp
    fill_pose(message.transform.translation, message.transform.rotation, T)
    return message


def stamp_seconds(stamp: Time) -> float:
    """Return a stamp in seconds."""
    return float(stamp.sec + 1e-9 * stamp.nanosec)


def duration_message(seconds: float) -> Duration:
    """Return a duration [s] as a message."""
    nanoseconds = round(seconds * 1e9)
    return Duration(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
