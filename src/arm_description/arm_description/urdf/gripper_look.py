# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The look of a gripper: a palm and two fingers, all boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..elements import Gripper, Origin, Triple
from ..model import RobotModel
from ..transforms import Vector
from .parts import Shape
from .proportions import SHORTEST


def palm_shapes(model: RobotModel, gripper: Gripper) -> tuple[Shape, ...]:
    """Palm, in a frame at the grasp point with the tool's axes."""
    length, width, thickness = gripper.palm
    centre = Origin((0.0, 0.0, -finger_back(gripper) - length / 2))
    return (Shape("box", (thickness, width, length), centre, model.colours.gripper),)


def finger_shapes(model: RobotModel, gripper: Gripper, side: int) -> tuple[Shape, ...]:
    """One finger, in a frame on its inner face at the grasp point; side is -1 (left) or 1."""
    shape = gripper.finger
    centre = Origin((0.0, side * shape.thickness / 2, shape.overhang - shape.length / 2))
    box = (shape.width, shape.thickness, shape.length)
    return (Shape("box", box, centre, model.colours.fingers),)


def finger_back(gripper: Gripper) -> float:
    """Distance from the grasp point back to the palm [m]."""
    return gripper.finger.length - gripper.finger.overhang


def shortened(corners: Sequence[Triple], tool_z: Vector, reserve: float) -> list[Triple]:
    """End the path where the palm begins, if it arrives there along the tool's z."""
    path = [np.array(corner) for corner in corners]
    while len(path) > 1 and np.linalg.norm(path[-1] - path[-2]) < SHORTEST:
        path.pop()
    if len(path) > 1:
        last = path[-1] - path[-2]
        along = float(last @ tool_z)
        if along > 0.999999 * float(np.linalg.norm(last)):
            end = path.pop()
            if along > reserve:
                path.append(end - reserve * tool_z)
    return [(float(point[0]), float(point[1]), float(point[2])) for point in path]
