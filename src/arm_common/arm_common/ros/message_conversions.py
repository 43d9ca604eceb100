# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Interface classes by name; conversions between transforms (4, 4) or seconds and messages."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from typing import Any

from ament_index_python.resources import get_resource
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, TransformStamped, Vector3

from arm_common.transforms import Array, pose_to_matrix, quaternion

_INTERFACE = re.compile(r"([a-z][a-z0-9_]*)/(msg|srv|action)/([A-Z][A-Za-z0-9]*)")


@lru_cache(maxsize=256)
def interface_class(name: str) -> Any:
    """Return the class of an interface such as `std_msgs/msg/Bool`, None if it is not installed.

    Names come from requests, recordings and other computers. So a module is imported only if its
    package has registered this interface in the ament index.
    """
    match = _INTERFACE.fullmatch(name)
    if match is None:
        return None
    package, kind, word = match.groups()
    try:
        registered, _ = get_resource("rosidl_interfaces", package)
        if f"{kind}/{word}.idl" not in registered.split():
            return None
        return getattr(import_module(f"{package}.{kind}"), word, None)
    except (LookupError, OSError, ImportError):  # OSError: AMENT_PREFIX_PATH is not set
        return None


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
