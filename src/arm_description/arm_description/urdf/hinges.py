# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The look of a revolute joint: a cylinder along its axis.

Of axes that meet in a point each later cylinder is thinner and longer, so that it sticks out of
those before it: a wrist is seen as a cross. The parts of a universal or ball joint are a cross of
equal, slim cylinders.
"""

from __future__ import annotations

import math

from ..elements import Origin
from ..model import RobotModel
from .parts import Shape
from .placement import joint_origins
from .proportions import SHORTEST, size_at

# In parts of the size at that place.
JOINT_RADIUS = 0.045
JOINT_LENGTH = 0.11
CROSS_RADIUS = 0.025
CROSS_LENGTH = 0.14
# Radius and length of a hinge against those of one that it crosses, and how often that goes on.
THINNER, LONGER, MOST_CROSSED = 0.75, 1.3, 3


def hinge(model: RobotModel, index: int) -> Shape:
    """Cylinder along the axis; where a long rod runs along it, at the rod's beginning."""
    crossed, size = _crossed(model, index), size_at(model, index)
    if _part_of_a_cross(model, index):
        axis, body = model.joints[index].axis, (CROSS_RADIUS * size, CROSS_LENGTH * size)
        turn = (math.pi / 2 * (axis == "y"), math.pi / 2 * (axis == "x"), 0.0)
        return Shape("cylinder", body, Origin(rpy=turn), model.colours.joints)
    radius = JOINT_RADIUS * size * THINNER**crossed
    length = JOINT_LENGTH * size * LONGER**crossed
    d = model.joints[index].row.d
    shift = 0.0 if model.convention == "standard" else -d
    if abs(d) > 2 * length:
        out_of_the_other = JOINT_RADIUS * size_at(model, index - 1) if crossed else 0.0
        shift += math.copysign(length / 2 + out_of_the_other, d)
    if index == 0:
        shift = _above_ground(joint_origins(model)[0], shift, length)
    return Shape("cylinder", (radius, length), Origin((0.0, 0.0, shift)), model.colours.joints)


def _part_of_a_cross(model: RobotModel, index: int) -> bool:
    """Whether it is part of a universal or ball joint, whose slim cylinders make a cross."""
    return any(joint.axis != "z" for joint in model.joints[index : index + 2])


def _crossed(model: RobotModel, index: int) -> int:
    """How many joints right before this one have their place at the same point."""
    count = 0
    for origin in reversed(joint_origins(model)[1 : index + 1]):
        if math.hypot(*origin.xyz) > SHORTEST or count == MOST_CROSSED:
            break
        count += 1
    return count


def _above_ground(first: Origin, shift: float, length: float) -> float:
    """Shift of the first hinge that keeps an upright one from reaching below the foot."""
    up, height = first.matrix[2, 2], first.xyz[2]
    if abs(up) < 0.99 or height < 0.0:
        return shift
    return float(up) * max(float(up) * shift, length / 2 - height)
