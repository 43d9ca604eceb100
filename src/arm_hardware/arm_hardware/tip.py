# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where the tip of an arm is for joint positions, and what one count of a servo does to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arm_description import RobotModel
from arm_hardware.servo_map import ServoMap

Array = NDArray[np.float64]


def tip_of(model: RobotModel, q: Sequence[float] | Array, at: Array | None = None) -> Array:
    """Return the position (3,) in base_link [m] of a point fixed in tool0.

    Args:
        model: The robot.
        q: (n,) joint positions [rad or m].
        at: (3,) of the point in tool0 [m]; None is its origin.
    """
    pose = model.fk(q)
    point: Array = pose[:3, 3] if at is None else pose[:3, :3] @ at + pose[:3, 3]
    return point


def tip_rates(model: RobotModel, frames: Sequence[Array], at: Array | None = None) -> Array:
    """Return the derivatives (3, n) of tip_of() by the joints [m/rad or m/m].

    The linear part of the geometric Jacobian (Lynch and Park, "Modern Robotics", section 5.1).

    Args:
        model: The robot.
        frames: Its DH frames at the joint positions.
        at: As in tip_of().
    """
    point = frames[-1] @ model.tool.matrix @ np.append(np.zeros(3) if at is None else at, 1.0)
    rates = np.empty((3, model.n))
    for i, joint in enumerate(model.joints):
        frame = frames[i] if model.convention == "standard" else frames[i + 1]
        x, y, z = frame[:3, :3] @ joint.direction
        if joint.type == "prismatic":
            rates[:, i] = x, y, z
        else:
            a, b, c = point[:3] - frame[:3, 3]
            rates[:, i] = y * c - z * b, z * a - x * c, x * b - y * a
    return rates


def tick_limit(model: RobotModel, q: Sequence[float], maps: Sequence[ServoMap]) -> float:
    """Return how far one count of one servo moves the tip at most [m]: no error can be smaller.

    Args:
        model: The robot.
        q: (n,) joint positions [rad or m].
        maps: Of the joints, base to tip.
    """
    ways = np.linalg.norm(tip_rates(model, model.dh_frames(q)), axis=0)
    return float(max(way * _tick(m, p) for way, m, p in zip(ways, maps, q, strict=True)))


def _tick(servo: ServoMap, position: float) -> float:
    """Return how far one count moves a joint near a position [rad or m]."""
    count = servo.count_of(position)
    places = [servo.position_of(count + step) for step in (-1, 0, 1)]
    return float(np.abs(np.diff(places)).max())
