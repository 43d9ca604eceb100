# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The look of an arm from its DH table alone: rods along d and a, bodies at the joints.

A revolute joint is a cylinder along its axis, a prismatic one a box that a bar slides through, the
end of the arm a plate across the tool's z.
Sizes follow the arm's reach and taper towards the tool.

The measure that all drawn sizes are parts of.

The look of a revolute joint: a cylinder along its axis.

Of axes that meet in a point each later cylinder is thinner and longer, so that it sticks out of
those before it: a wrist is seen as a cross. The parts of a universal or ball joint are a cross of
equal, slim cylinders.

The look of a gripper: a palm and two fingers, all boxes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from arm_common.transforms import Vector

from arm_description.model.dh import cos_sin
from arm_description.model.elements import Gripper, Origin, Triple
from arm_description.urdf.elements import UrdfGeometry
from arm_description.urdf.joint_frames import dh_origins, joint_origins

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

SHORTEST = 1e-6  # what is shorter is not drawn [m]
TAPER = 0.45


def reach(model: RobotModel) -> float:
    """Length of the arm stretched out, from the ground [m]: the measure of all sizes."""
    total = math.hypot(*model.base.xyz) + math.hypot(*model.tool.xyz)
    for joint in model.joints:
        total += abs(joint.row.a) + abs(joint.row.d)
        if joint.type == "prismatic":
            total += max(abs(joint.lower), abs(joint.upper))
    return total if total > SHORTEST else 0.1


def size_at(model: RobotModel, index: int) -> float:
    """Measure of what belongs to a joint [m], smaller towards the tool."""
    return reach(model) * (1.0 - TAPER * index / max(model.n - 1, 1))


# In parts of the size at that place.
JOINT_RADIUS = 0.045
JOINT_LENGTH = 0.11
CROSS_RADIUS = 0.025
CROSS_LENGTH = 0.14
# Radius and length of a hinge against those of one that it crosses, and how often that goes on.
THINNER, LONGER, MOST_CROSSED = 0.75, 1.3, 3


def hinge(model: RobotModel, index: int) -> UrdfGeometry:
    """Cylinder along the axis; where a long rod runs along it, at the rod's beginning."""
    crossed, size = _crossed(model, index), size_at(model, index)
    if _part_of_a_cross(model, index):
        axis, body = model.joints[index].axis, (CROSS_RADIUS * size, CROSS_LENGTH * size)
        turn = (math.pi / 2 * (axis == "y"), math.pi / 2 * (axis == "x"), 0.0)
        return UrdfGeometry("cylinder", body, Origin(rpy=turn), model.colours.joints)
    radius = JOINT_RADIUS * size * THINNER**crossed
    length = JOINT_LENGTH * size * LONGER**crossed
    d = model.joints[index].row.d
    shift = 0.0 if model.convention == "standard" else -d
    if abs(d) > 2 * length:
        out_of_the_other = JOINT_RADIUS * size_at(model, index - 1) if crossed else 0.0
        shift += math.copysign(length / 2 + out_of_the_other, d)
    if index == 0:
        shift = _above_ground(joint_origins(model)[0], shift, length)
    return UrdfGeometry(
        "cylinder", (radius, length), Origin((0.0, 0.0, shift)), model.colours.joints
    )


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


def palm_shapes(model: RobotModel, gripper: Gripper) -> tuple[UrdfGeometry, ...]:
    """Palm, in a frame at the grasp point with the tool's axes."""
    length, width, thickness = gripper.palm
    centre = Origin((0.0, 0.0, -finger_back(gripper) - length / 2))
    return (UrdfGeometry("box", (thickness, width, length), centre, model.colours.gripper),)


def finger_shapes(model: RobotModel, gripper: Gripper, side: int) -> tuple[UrdfGeometry, ...]:
    """One finger, in a frame on its inner face at the grasp point; side is -1 (left) or 1."""
    shape = gripper.finger
    centre = Origin((0.0, side * shape.thickness / 2, shape.overhang - shape.length / 2))
    box = (shape.width, shape.thickness, shape.length)
    return (UrdfGeometry("box", box, centre, model.colours.fingers),)


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


# In parts of the size at that place.
ROD_RADIUS = 0.02
COLUMN_RADIUS = 0.04
FOOT_RADIUS = 0.11
FOOT_HEIGHT = 0.03
PLATE_HEIGHT = 0.02


def base_shapes(model: RobotModel) -> tuple[UrdfGeometry, ...]:
    """Foot of the arm and what leads from it to the first joint, in base_link."""
    unit, first = reach(model), joint_origins(model)[0]
    foot = UrdfGeometry(
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


def link_shapes(model: RobotModel, index: int) -> tuple[UrdfGeometry, ...]:
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


def _guide(model: RobotModel, index: int, origin: Origin) -> list[UrdfGeometry]:
    """Box that a prismatic joint slides through, on the link before it; none for a revolute."""
    if model.joints[index].type != "prismatic":
        return []
    side, length = (
        part * size_at(model, index) for part in (2.4 * JOINT_RADIUS, 1.5 * JOINT_LENGTH)
    )
    return [UrdfGeometry("box", (side, side, length), origin, model.colours.joints)]


def _bar(lower: float, upper: float, size: float, colour: str) -> UrdfGeometry:
    """What slides: a square bar that is in its guide at every position."""
    start, end = min(-upper, 0.0), max(-lower, 0.0)
    side = 2 * ROD_RADIUS * size
    middle = Origin((0.0, 0.0, (start + end) / 2))
    return UrdfGeometry("box", (side, side, end - start), middle, colour)


def _plate(model: RobotModel, shapes: Sequence[UrdfGeometry]) -> UrdfGeometry:
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
    return UrdfGeometry("cylinder", (radius, height), place, model.colours.gripper)


def _rods(corners: Sequence[Triple], radius: float, colour: str) -> list[UrdfGeometry]:
    """Round rods from corner to corner."""
    rods = []
    for start, end in pairwise(np.array(corners)):
        length = float(np.linalg.norm(end - start))
        if length > SHORTEST:
            place = Origin(_triple((start + end) / 2), _along(end - start))
            rods.append(UrdfGeometry("cylinder", (radius, length), place, colour))
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
