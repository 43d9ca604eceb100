# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where the camera stands to see the whole arm, and how large floor, frames and labels are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .robot_picture import RobotPicture
from .shapes import Array

FIELD_OF_VIEW = 0.6  # Vertical, rad: narrow enough that parallel edges look parallel.
# From the arm to the camera, root frame: from the side and a little behind, to see what the tool
# is turned to.
DIRECTION = np.array([-0.30, -0.85, 0.42])


@dataclass(frozen=True)
class View:
    """A camera and the scale that goes with it. Metres, in the fixed frame, z up.

    Attributes:
        position: (3,), where the camera stands.
        look_at: (3,), the point in the middle of the picture.
        near: Distance of the near clipping plane.
        size: A length that characterises the robot; frames and labels are sized by it.
    """

    position: Array
    look_at: Array
    near: float
    size: float


def view_of(robot: RobotPicture) -> View:
    """Return a view in which all postures of the arm stay near the middle."""
    points = np.array([pose[:3, 3] for pose in robot.zero.values()])
    low, high = points.min(axis=0), points.max(axis=0)
    size = max(robot.reach, float(np.linalg.norm(high - low)), 0.05)
    middle = 0.5 * (low + high)
    look_at = np.array([middle[0], middle[1], max(middle[2], 0.3 * size)])
    distance = 0.7 * size / np.tan(0.5 * FIELD_OF_VIEW)
    position = look_at + distance * DIRECTION / np.linalg.norm(DIRECTION)
    return View(position, look_at, near=0.02 * size, size=size)


def round_length(length: float) -> float:
    """Return the largest of 1, 2 or 5 times a power of ten that is not above the length [m]."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(factor * power for factor in (1, 2, 5) if factor * power <= length * 1.001))
