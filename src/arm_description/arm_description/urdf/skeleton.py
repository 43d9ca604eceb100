# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The look of an arm from its DH table alone: rods along d and a, bodies at the joints.

A revolute joint is a cylinder along its axis, a prismatic one a box that its slide runs through.
Sizes follow the arm's reach and taper towards the tool.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..dh import cos_sin
from ..elements import Gripper, Joint, Origin, Triple
from ..model import RobotModel
from ..transforms import Vector
from .parts import Shape
from .placement import dh_origins, joint_origins

# All sizes in parts of the arm's reach.
JOINT_RADIUS = 0.045
JOINT_LENGTH = 0.11
CROSS_RADIUS = 0.025
CROSS_LENGTH = 0.14
ROD_RADIUS = 0.02
COLUMN_RADIUS = 0.03
FOOT_RADIUS = 0.12
FOOT_HEIGHT = 0.03
TAPER = 0.45
SHORTEST = 1e-6


def base_shapes(model: RobotModel) -> tuple[Shape, ...]:
    """Foot of the arm and what leads from it to the first joint, in base_link."""
    unit, first = _reach(model), joint_origins(model)[0]
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
    joint = model.joints[index]
    size = _reach(model) * _taper(model, index)
    colour = model.colours.links[index % len(model.colours.links)]
    shapes = _rods(_corners(model, index), ROD_RADIUS * size, colour)
    if joint.type == "prismatic":
        slide = [(0.0, 0.0, min(-joint.upper, 0.0)), (0.0, 0.0, max(-joint.lower, 0.0))]
        shapes += _rods(slide, ROD_RADIUS * size, colour)
    else:
        shapes.append(_hinge(model, joint, size))
    if index + 1 < model.n:
        shapes += _guide(model, index + 1, joint_origins(model)[index + 1])
    return tuple(shapes)


def palm_shapes(model: RobotModel, gripper: Gripper) -> tuple[Shape, ...]:
    """Palm, in a frame at the grasp point with the tool's axes."""
    length, width, thickness = gripper.palm
    back = _finger_back(gripper)
    centre = Origin((0.0, 0.0, -back - length / 2))
    return (Shape("box", (thickness, width, length), centre, model.colours.gripper),)


def finger_shapes(model: RobotModel, gripper: Gripper, side: int) -> tuple[Shape, ...]:
    """One finger, in a frame on its inner face at the grasp point; side is -1 (left) or 1."""
    shape = gripper.finger
    centre = Origin((0.0, side * shape.thickness / 2, shape.overhang - shape.length / 2))
    box = (shape.width, shape.thickness, shape.length)
    return (Shape("box", box, centre, model.colours.fingers),)


def _reach(model: RobotModel) -> float:
    """Length of the arm stretched out [m], the measure of all sizes."""
    total = math.dist(model.tool.xyz, (0.0, 0.0, 0.0))
    for joint in model.joints:
        total += abs(joint.row.a) + abs(joint.row.d)
        if joint.type == "prismatic":
            total += max(abs(joint.lower), abs(joint.upper))
    return max(total, 0.01)


def _taper(model: RobotModel, index: int) -> float:
    return 1.0 - TAPER * index / max(model.n - 1, 1)


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
            reserve = _finger_back(model.gripper) + model.gripper.palm[0]
            corners = _shortened(corners, tip[:3, 2], reserve)
    return corners


def _shortened(corners: Sequence[Triple], tool_z: Vector, reserve: float) -> list[Triple]:
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
    return [_triple(point) for point in path]


def _hinge(model: RobotModel, joint: Joint, size: float) -> Shape:
    """Cylinder along the axis; where a long rod runs along it, at the rod's beginning."""
    radius, length = JOINT_RADIUS * size, JOINT_LENGTH * size
    if _crossed(model, joint):
        turn = (math.pi / 2 * (joint.axis == "y"), math.pi / 2 * (joint.axis == "x"), 0.0)
        body = (CROSS_RADIUS * size, CROSS_LENGTH * size)
        return Shape("cylinder", body, Origin(rpy=turn), model.colours.joints)
    d = joint.row.d
    start = 0.0 if model.convention == "standard" else -d
    shift = math.copysign(length / 2, d) + start if abs(d) > 2 * length else 0.0
    return Shape("cylinder", (radius, length), Origin((0.0, 0.0, shift)), model.colours.joints)


def _crossed(model: RobotModel, joint: Joint) -> bool:
    """Whether it is part of a universal or ball joint, whose cylinders cross at one place."""
    index = model.joints.index(joint)
    return any(other.axis != "z" for other in model.joints[index : index + 2])


def _guide(model: RobotModel, index: int, origin: Origin) -> list[Shape]:
    """Box that a prismatic joint slides through, on the link before it; none for a revolute."""
    if model.joints[index].type != "prismatic":
        return []
    size = _reach(model) * _taper(model, index)
    side = 2 * JOINT_RADIUS * size
    return [Shape("box", (side, side, JOINT_LENGTH * size), origin, model.colours.joints)]


def _rods(corners: Sequence[Triple], radius: float, colour: str) -> list[Shape]:
    """Round rods from corner to corner."""
    rods = []
    for start, end in pairwise(corners):
        x, y, z = (b - a for a, b in zip(start, end, strict=True))
        length = math.hypot(x, y, z)
        if length < SHORTEST:
            continue
        sx, sy, sz = start
        middle = (sx + x / 2, sy + y / 2, sz + z / 2)
        turn = (0.0, math.atan2(math.hypot(x, y), z), math.atan2(y, x))
        rods.append(Shape("cylinder", (radius, length), Origin(middle, turn), colour))
    return rods


def _finger_back(gripper: Gripper) -> float:
    """Distance from the grasp point back to the palm [m]."""
    return gripper.finger.length - gripper.finger.overhang


def _along_x(origin: Origin, a: float) -> Triple:
    return _triple((origin.matrix @ (a, 0.0, 0.0, 1.0))[:3])


def _triple(values: Vector) -> Triple:
    x, y, z = (float(value) for value in values)
    return (x, y, z)
