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
STEP = 1e-6  # [rad or m] of the central differences: rounding and curvature both below 1e-9


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


def tip_rates(model: RobotModel, q: Sequence[float] | Array, at: Array | None = None) -> Array:
    """Return the derivatives (3, n) of tip_of() by the joints [m/rad or m/m]."""
    here = np.asarray(q, dtype=float)
    steps = STEP * np.eye(model.n)
    columns = [tip_of(model, here + d, at) - tip_of(model, here - d, at) for d in steps]
    return np.array(columns).T / (2.0 * STEP)


def tick_limit(model: RobotModel, q: Sequence[float], maps: Sequence[ServoMap]) -> float:
    """Return how far one count of one servo moves the tip at most [m]: no error can be smaller.

    Args:
        model: The robot.
        q: (n,) joint positions [rad or m].
        maps: Of the joints, base to tip.
    """
    ways = np.linalg.norm(tip_rates(model, q), axis=0)
    return float(max(way * _tick(m, p) for way, m, p in zip(ways, maps, q, strict=True)))


def _tick(servo: ServoMap, position: float) -> float:
    """Return how far one count moves a joint near a position [rad or m]."""
    count = servo.count_of(position)
    places = [servo.position_of(count + step) for step in (-1, 0, 1)]
    return float(np.abs(np.diff(places)).max())
