# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Checked conversions of requests to arrays (RejectedError if invalid), and message pools."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from arm_common.transforms import Array, pose
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped, Transform
from transforms3d.quaternions import quat2mat

from arm_kinematics.ros.robot_state import RobotStateCache, bad_request

_UNIT = 1e-3  # a quaternion's length may differ from 1 by this much
_M = TypeVar("_M")


def stamped_pose(state: RobotStateCache, message: PoseStamped, what: str) -> Array:
    """Return a pose in any frame of tf as (4, 4) in the base frame [m]."""
    T = _matrix(message.pose.position, message.pose.orientation, what)
    return state.base_from(message.header.frame_id) @ T


def tool_matrix(message: Transform) -> Array | None:
    """Return a tool as (4, 4) [m]: tip <- point; None if it is the identity or all zeros."""
    p, q = message.translation, message.rotation
    if p.x == p.y == p.z == q.x == q.y == q.z == 0.0 and q.w in (0.0, 1.0):
        return None
    return _matrix(p, q, "tool")


def _matrix(p: Any, q: Any, what: str) -> Array:
    length = math.hypot(q.x, q.y, q.z, q.w)
    position = p.x, p.y, p.z
    if not math.isfinite(length + sum(position)):
        raise bad_request(f"{what}: the pose contains NaN or infinity.")
    if abs(length - 1.0) > _UNIT:
        raise bad_request(
            f"{what}: the quaternion has length {length:.6g} instead of 1; "
            "(0, 0, 0, 1) means no rotation."
        )
    return pose(quat2mat((q.w, q.x, q.y, q.z)), position)


def pose_matrices(positions: Array, turns: Array) -> Array:
    """Return poses (m, 4, 4) of positions (m, 3) [m] and unit quaternions (m, 4), x y z w."""
    lengths = np.linalg.norm(turns, axis=1)
    bad = ~(np.isfinite(positions).all(axis=1) & (np.abs(lengths - 1.0) <= _UNIT))
    if bad.any():
        k = int(np.argmax(bad))
        raise bad_request(
            f"target {k}: position {positions[k].tolist()}, quaternion {turns[k].tolist()}; "
            "expected finite numbers and length 1, (0, 0, 0, 1) for no rotation."
        )
    (x, y, z), w = (turns[:, :3] / lengths[:, None]).T, turns[:, 3] / lengths
    T = np.zeros((len(turns), 4, 4))
    T[:, 0, 0], T[:, 1, 1], T[:, 2, 2], T[:, 3, 3] = (
        1 - 2 * (y * y + z * z), 1 - 2 * (x * x + z * z), 1 - 2 * (x * x + y * y), 1.0
    )  # fmt: skip
    T[:, 0, 1], T[:, 1, 0] = 2 * (x * y - w * z), 2 * (x * y + w * z)
    T[:, 0, 2], T[:, 2, 0] = 2 * (x * z + w * y), 2 * (x * z - w * y)
    T[:, 1, 2], T[:, 2, 1] = 2 * (y * z - w * x), 2 * (y * z + w * x)
    T[:, :3, 3] = positions
    return T


def doubles(values: Array) -> array[float]:
    """Return numbers as an array that messages accept without checking each element."""
    return array("d", values.tobytes())


def seconds(duration: Duration, default: float, what: str) -> float:
    """Return a duration [s]; 0 means the default."""
    value = duration.sec + 1e-9 * duration.nanosec
    if value < 0.0:
        raise bad_request(
            f"{what} is {value:g} s; expected a positive time, or 0 for {default:g} s."
        )
    return value or default


def reused(pool: list[_M], make: Callable[[], _M], count: int) -> list[_M]:
    """Return ``count`` messages of a growing pool, for reuse once the last response was sent.

    Callers must fill every field that any of them fills.
    """
    pool.extend(make() for _ in range(count - len(pool)))
    return pool[:count]
