# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Skeleton of an arm from its DH table alone: rods along d and a, bodies at the joints.

A revolute joint is a cylinder along its axis, a prismatic one a box that a bar slides through, the
end of the arm a plate normal to the tool's z, a gripper a palm and two fingers, all boxes. Sizes
are proportional to the reach and taper towards the tool.

Where axes intersect, each later cylinder is thinner and longer, so that it protrudes from the
earlier ones: a wrist looks like a cross. The parts of a universal or ball joint are a cross of
equal, slim cylinders.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from arm_common.transforms import Matrix, Vector

from arm_description.model.elements import LookShape, Origin, Triple, cos_sin
from arm_description.model.gripper import Gripper, MountedTool
from arm_description.urdf.elements import UrdfGeometry
from arm_description.urdf.joint_frames import JointFrames

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

_MIN_LENGTH = 1e-6  # shorter rods are not drawn [m]
_TAPER = 0.45
# Relative to the size at the joint.
_JOINT_RADIUS, _JOINT_LENGTH = 0.045, 0.11
_CROSS_RADIUS, _CROSS_LENGTH = 0.025, 0.14
_ROD_RADIUS, _COLUMN_RADIUS = 0.02, 0.04
_FOOT_RADIUS, _FOOT_HEIGHT = 0.11, 0.03
_PLATE_HEIGHT = 0.02
# Ratio of radius and length of a hinge to those of one it crosses, and how often it is applied.
_THINNER, _LONGER, _MAX_CROSSED = 0.75, 1.3, 3

_ARC = 10  # pieces of a fillet's quarter circle


class Skeleton:
    """Shapes of the links of an arm."""

    def __init__(self, model: RobotModel, frames: JointFrames) -> None:
        self._model, self._frames = model, frames
        self._colours, self._size = model.colours, _length(model)

    def base_shapes(self) -> tuple[UrdfGeometry, ...]:
        """Return the foot of the arm and the rods to the first joint, in base_link."""
        unit, first = self._size, self._frames.joints[0]
        foot = UrdfGeometry(
            "cylinder",
            (_FOOT_RADIUS * unit, _FOOT_HEIGHT * unit),
            Origin((0.0, 0.0, _FOOT_HEIGHT * unit / 2)),
            self._colours.base,
        )
        x, y, z = self._model.base.xyz
        corners = [(0.0, 0.0, 0.0), (0.0, 0.0, z), (x, y, z)]
        if self._model.convention == "modified":
            a = self._model.rows[0].row.a
            corners += [_triple((self._model.base.matrix @ (a, 0.0, 0.0, 1.0))[:3]), first.xyz]
        column = rods(corners, _COLUMN_RADIUS * unit, self._colours.base)
        return (foot, *column, *self._guide(0, first))

    def link_shapes(self, index: int) -> tuple[UrdfGeometry, ...]:
        """Return the skeleton of a joint's child link in the frame of that link."""
        joint, size = self._model.rows[index], self.size_at(index)
        colour = self._colours.links[index % len(self._colours.links)]
        shapes = rods(self._corners(index), _ROD_RADIUS * size, colour)
        if joint.type == "prismatic":
            shapes.append(_bar(joint.lower, joint.upper, size, colour))
        else:
            shapes.append(self._hinge(index))
        if index + 1 < len(self._model.rows):
            shapes += self._guide(index + 1, self._frames.joints[index + 1])
        elif self._model.mounted or not self._model.gripper:
            shapes.append(self._plate(shapes))
        return tuple(shapes)

    def palm_shapes(self, gripper: Gripper) -> tuple[UrdfGeometry, ...]:
        """Return the palm in a frame at the grasp point with the axes of the tool."""
        length, width, thickness = gripper.palm
        centre = Origin((0.0, 0.0, -gripper.depth - length / 2))
        return (UrdfGeometry("box", (thickness, width, length), centre, self._colours.gripper),)

    def tool_shapes(self, tool: MountedTool) -> tuple[UrdfGeometry, ...]:
        """Return boxes and cylinders around the shapes of a tool's body, in its link."""
        return tuple(_around(shape) for shape in tool.body)

    def finger_shapes(self, gripper: Gripper, side: int) -> tuple[UrdfGeometry, ...]:
        """Return a finger, side -1 (left) or 1, in a frame on its face.

        The frame is at the grasp point, that of a turning jaw at its pivot.
        """
        shape, turns = gripper.finger, gripper.joints[side > 0] in gripper.moving
        grasp = gripper.claw.length if gripper.claw and turns else 0.0
        middle = grasp + shape.overhang - shape.length / 2
        centre = Origin((0.0, side * shape.thickness / 2, middle))
        box = (shape.width, shape.thickness, shape.length)
        return (UrdfGeometry("box", box, centre, self._colours.fingers),)

    def size_at(self, index: int) -> float:
        """Return the reference size at a joint [m], which decreases towards the tool."""
        return self._size * (1.0 - _TAPER * index / max(len(self._model.rows) - 1, 1))

    def _hinge(self, index: int) -> UrdfGeometry:
        """Return a cylinder along the axis, at the start of a long rod along it."""
        crossed, size = self._crossed(index), self.size_at(index)
        # Part of a universal or ball joint: a slim cross.
        if any(joint.axis != "z" for joint in self._model.rows[index : index + 2]):
            axis = self._model.rows[index].axis
            body = (_CROSS_RADIUS * size, _CROSS_LENGTH * size)
            turn = (math.pi / 2 * (axis == "y"), math.pi / 2 * (axis == "x"), 0.0)
            return UrdfGeometry("cylinder", body, Origin(rpy=turn), self._colours.joints)
        radius = _JOINT_RADIUS * size * _THINNER**crossed
        length = _JOINT_LENGTH * size * _LONGER**crossed
        d = self._model.rows[index].row.d
        shift = 0.0 if self._model.convention == "standard" else -d
        if abs(d) > 2 * length:
            clearance = _JOINT_RADIUS * self.size_at(index - 1) if crossed else 0.0
            shift += math.copysign(length / 2 + clearance, d)
        if index == 0:
            shift = _above_ground(self._frames.joints[0], shift, length)
        return UrdfGeometry(
            "cylinder", (radius, length), Origin((0.0, 0.0, shift)), self._colours.joints
        )

    def _crossed(self, index: int) -> int:
        """Return the number of joints directly before this one at the same point."""
        count = 0
        for origin in reversed(self._frames.joints[1 : index + 1]):
            if math.hypot(*origin.xyz) > _MIN_LENGTH or count == _MAX_CROSSED:
                break
            count += 1
        return count

    def _corners(self, index: int) -> list[Triple]:
        """Return the corners of the path from a joint to the next one, or to the tool."""
        row, end = self._model.rows[index].row, self._frames.dh[index + 1]
        last = index + 1 == len(self._model.rows)
        if self._model.convention == "standard":
            corners: list[Triple] = [(0.0, 0.0, 0.0), (0.0, 0.0, row.d), end.xyz]
        elif last:
            corners = [(0.0, 0.0, 0.0)]
        else:
            c, s = cos_sin(row.theta)
            a = self._model.rows[index + 1].row.a
            corners = [(0.0, 0.0, 0.0), (c * a, s * a, 0.0), self._frames.joints[index + 1].xyz]
        if last:
            tip = end.matrix @ self._model.end.matrix
            corners.append(_triple(tip[:3, 3]))
            if self._model.gripper and not self._model.mounted:
                reserve = self._model.gripper.depth + self._model.gripper.palm[0]
                corners = _shortened(corners, tip[:3, 2], reserve)
        return corners

    def _guide(self, index: int, origin: Origin) -> list[UrdfGeometry]:
        """Return the box that a prismatic joint slides through, on its parent link."""
        if self._model.rows[index].type != "prismatic":
            return []
        size = self.size_at(index)
        side, length = 2.4 * _JOINT_RADIUS * size, 1.5 * _JOINT_LENGTH * size
        height = origin.xyz[2]
        if index == 0 and height > _MIN_LENGTH and abs(origin.matrix[2, 2]) < 0.5:
            side = min(side, 2 * height)  # a horizontal track lies on the ground
        return [UrdfGeometry("box", (side, side, length), origin, self._colours.joints)]

    def _plate(self, shapes: Sequence[UrdfGeometry]) -> UrdfGeometry:
        """Return the end plate of an arm without gripper, with its face at the tool.

        If the tool is inside the last hinge, as at a wrist centre, the plate caps that hinge.
        """
        size = self.size_at(len(self._model.rows) - 1)
        radius, height = _JOINT_RADIUS * size, _PLATE_HEIGHT * size
        tip = self._frames.dh[-1].matrix @ self._model.end.matrix
        face = height / 20  # slightly beyond the end of the rod, to cover it
        if np.linalg.norm(tip[:3, 3]) < _MIN_LENGTH and shapes[-1].kind == "cylinder":
            face = shapes[-1].size[1] / 2 + height
        centre = _triple(tip[:3, 3] + (face - height / 2) * tip[:3, 2])
        place = Origin(centre, _along(tip[:3, 2]))
        return UrdfGeometry("cylinder", (radius, height), place, self._colours.gripper)


def profile(kind: str, size: tuple[float, ...]) -> Matrix:
    """Return the outline (k, 2) of a body of revolution: radius and height [m], counter-clockwise.

    It begins and ends on the axis or, for a ring and a fillet, at the same point.
    """
    if kind == "fillet":
        radius, rounding = size
        arc = np.linspace(-math.pi / 2, -math.pi, _ARC + 1)
        outer = np.column_stack((np.cos(arc), np.sin(arc)))
        groove = outer * rounding + (radius + rounding, rounding)
        return np.vstack(([(radius, 0.0)], groove, [(radius, 0.0)]))
    end = 0.5 * size[-1]
    if kind == "ring":
        outside, inside = size[:2]
        corners = [(inside, -end), (outside, -end), (outside, end), (inside, end), (inside, -end)]
        return np.array(corners)
    lower, upper = (size[0], size[0]) if kind == "cylinder" else size[:2]
    return np.array([(0.0, -end), (lower, -end), (upper, end), (0.0, end)])


def _around(shape: LookShape) -> UrdfGeometry:
    """Return the box or cylinder around a shape."""
    if shape.kind == "box":
        return UrdfGeometry("box", shape.size, shape.origin, shape.colour)
    if shape.kind == "sphere":
        (radius,) = shape.size
        low, high = -radius, radius
    else:
        outline = profile(shape.kind, shape.size)
        radius = float(outline[:, 0].max())
        low, high = (float(z) for z in (outline[:, 1].min(), outline[:, 1].max()))
    middle = shape.origin.matrix @ (0.0, 0.0, (low + high) / 2, 1.0)
    place = Origin(_triple(middle[:3]), shape.origin.rpy)
    return UrdfGeometry("cylinder", (radius, high - low), place, shape.colour)


def _length(model: RobotModel) -> float:
    """Return the length of the stretched arm from the ground [m], the reference of all sizes."""
    total = math.hypot(*model.base.xyz) + math.hypot(*model.end.xyz)
    for joint in model.rows:
        total += abs(joint.row.a) + abs(joint.row.d)
        if joint.type == "prismatic":
            total += max(abs(joint.lower), abs(joint.upper))
    return total if total > _MIN_LENGTH else 0.1


def _above_ground(first: Origin, shift: float, length: float) -> float:
    """Return the shift of the first hinge, which keeps a vertical one above the ground."""
    up, height = first.matrix[2, 2], first.xyz[2]
    if abs(up) < 0.99 or height < 0.0:
        return shift
    return float(up) * max(float(up) * shift, length / 2 - height)


def _shortened(corners: Sequence[Triple], tool_z: Vector, reserve: float) -> list[Triple]:
    """Return a path that ends at the palm, or before it if the palm reaches over the corner."""
    path = [np.array(corner) for corner in corners]
    while len(path) > 1 and np.linalg.norm(path[-1] - path[-2]) < _MIN_LENGTH:
        path.pop()
    if len(path) > 1:
        end = path.pop()
        last = end - path[-1]
        along = float(last @ tool_z)
        if along > reserve or along < 0.999999 * float(np.linalg.norm(last)):
            path.append(end - reserve * tool_z)
    return [_triple(point) for point in path]


def _bar(lower: float, upper: float, size: float, colour: str) -> UrdfGeometry:
    """Return a square bar that stays in its guide at every position."""
    start, end = min(-upper, 0.0), max(-lower, 0.0)
    side = 2 * _ROD_RADIUS * size
    middle = Origin((0.0, 0.0, (start + end) / 2))
    return UrdfGeometry("box", (side, side, end - start), middle, colour)


def rods(corners: Sequence[Triple], radius: float, colour: str) -> list[UrdfGeometry]:
    """Return cylinders along a path, in the frame of its corners [m]."""
    cylinders = []
    for start, end in pairwise(np.array(corners)):
        length = float(np.linalg.norm(end - start))
        if length > _MIN_LENGTH:
            place = Origin(_triple((start + end) / 2), _along(end - start))
            cylinders.append(UrdfGeometry("cylinder", (radius, length), place, colour))
    return cylinders


def _along(direction: Vector) -> Triple:
    """Return the roll, pitch, yaw [rad] that rotate z to a direction."""
    x, y, z = _triple(direction)
    return (0.0, math.atan2(math.hypot(x, y), z), math.atan2(y, x))


def _triple(values: Vector) -> Triple:
    x, y, z = (float(value) for value in values)
    return (x, y, z)
