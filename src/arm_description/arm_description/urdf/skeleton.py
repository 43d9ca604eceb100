# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The look of an arm from its DH table alone: rods along d and a, bodies at the joints.

A revolute joint is a cylinder along its axis, a prismatic one a box that a bar slides through, the
end of the arm a plate across the tool's z.
Sizes follow the arm's reach and taper towards the tool.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..dh import cos_sin
from ..elements import Origin, Triple
from ..model import RobotModel
from ..transforms import Vector
from .gripper_look import finger_back, shortened
from .hinges import JOINT_LENGTH, JOINT_RADIUS, hinge
from .parts import Shape
from .placement import dh_origins, joint_origins
from .proportions import SHORTEST, reach, size_at

# In parts of the size at that place.
ROD_RADIUS = 0.02
COLUMN_RADIUS = 0.04
FOOT_RADIUS = 0.11
FOOT_HEIGHT = 0.03
PLATE_HEIGHT = 0.02


def base_shapes(model: RobotModel) -> tuple[Shape, ...]:
    """Foot of the arm and what leads from it to the first joint, in base_link."""
    unit, first = reach(model), joint_origins(model)[0]
    foot = Shape(
        "cylinder",
        (FOOT_RADIUS * unit, FOOT_HEIGHT * unit),
        Origin((0.0, 0.0, FOOT_HEIGHT * unit / 2)),
        model.colours.base,
    )
    x, y, z = model.base.xyz
    corners = [(0.0, 0.0, 0.0), (0.0, 0.0, z), (x, y, z)]
    if model.convention == "modified":
        corners += [_along_x(model.base, model.joints[0].row.a), first.xyz]
    rods = _rods(corners, COLUMN_RADIUS * unit, model.colours.base)
    return (foot, *rods, *_guide(model, 0, first))


def link_shapes(model: RobotModel, index: int) -> tuple[Shape, ...]:
    """Skeleton of the link behind joint ``index`` (from 0), in that link's frame."""
    joint, size = model.joints[index], size_at(model, index)
    colour = model.colours.links[index % len(model.colours.links)]
    shapes = _rods(_corners(model, index), ROD_RADIUS * size, colour)
    if joint.type == "prismatic":
        shapes.append(_bar(joint.lower, joint.upper, size, colour))
    else:
        shapes.append(hinge(model, index))
    if index + 1 < model.n:
        shapes += _guide(model, index + 1, joint_origins(model)[index + 1])
    elif not model.gripper:
        shapes.append(_plate(model, shapes))
    return tuple(shapes)


def _corners(model: RobotModel, index: int) -> list[Triple]:
    """Corners of the path from joint ``index`` to the next joint, or to the tool."""
    row, end = model.joints[index].row, dh_origins(model)[index + 1]
    last = index + 1 == model.n
    if model.convention == "standard":
        corners: list[Triple] = [(0.0, 0.0, 0.0), (0.0, 0.0, row.d), end.xyz]
    elif last:
        corners = [(0.0, 0.0, 0.0)]
    else:
        c, s = cos_sin(row.theta)
        a = model.joints[index + 1].row.a
        corners = [(0.0, 0.0, 0.0), (c * a, s * a, 0.0), joint_origins(model)[index + 1].xyz]
    if last:
        tip = end.matrix @ model.tool.matrix
        corners.append(_triple(tip[:3, 3]))
        if model.gripper:
            reserve = finger_back(model.gripper) + model.gripper.palm[0]
            corners = shortened(corners, tip[:3, 2], reserve)
    return corners


def _guide(model: RobotModel, index: int, origin: Origin) -> list[Shape]:
    """Box that a prismatic joint slides through, on the link before it; none for a revolute."""
    if model.joints[index].type != "prismatic":
        return []
    side, length = (
        part * size_at(model, index) for part in (2.4 * JOINT_RADIUS, 1.5 * JOINT_LENGTH)
    )
    return [Shape("box", (side, side, length), origin, model.colours.joints)]


def _bar(lower: float, upper: float, size: float, colour: str) -> Shape:
    """What slides: a square bar that is in its guide at every position."""
    start, end = min(-upper, 0.0), max(-lower, 0.0)
    side = 2 * ROD_RADIUS * size
    middle = Origin((0.0, 0.0, (start + end) / 2))
    return Shape("box", (side, side, end - start), middle, colour)


def _plate(model: RobotModel, shapes: Sequence[Shape]) -> Shape:
    """Plate at the end of an arm without gripper, its face where the tool is.

    Where the tool sits inside the last hinge, as at a wrist's centre, it ends that hinge.
    """
    size = size_at(model, model.n - 1)
    radius, height = JOINT_RADIUS * size, PLATE_HEIGHT * size
    tip = dh_origins(model)[-1].matrix @ model.tool.matrix
    face = height / 20  # just ahead of the rod's end, which would shine through
    if np.linalg.norm(tip[:3, 3]) < SHORTEST and shapes[-1].kind == "cylinder":
        face = shapes[-1].size[1] / 2 + height
    x, y, z = tip[:3, 3] + (face - height / 2) * tip[:3, 2]
    place = Origin((float(x), float(y), float(z)), _along(tip[:3, 2]))
    return Shape("cylinder", (radius, height), place, model.colours.gripper)


def _rods(corners: Sequence[Triple], radius: float, colour: str) -> list[Shape]:
    """Round rods from corner to corner."""
    rods = []
    for start, end in pairwise(np.array(corners)):
        length = float(np.linalg.norm(end - start))
        if length > SHORTEST:
            place = Origin(_triple((start + end) / 2), _along(end - start))
            rods.append(Shape("cylinder", (radius, length), place, colour))
    return rods


def _along(direction: Vector) -> Triple:
    """Roll, pitch, yaw that bring z to a direction [rad]."""
    x, y, z = _triple(direction)
    return (0.0, math.atan2(math.hypot(x, y), z), math.atan2(y, x))


def _along_x(origin: Origin, a: float) -> Triple:
    return _triple((origin.matrix @ (a, 0.0, 0.0, 1.0))[:3])


def _triple(values: Vector) -> Triple:
    x, y, z = (float(value) for value in values)
    return (x, y, z)
