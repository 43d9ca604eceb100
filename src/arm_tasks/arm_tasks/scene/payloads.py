# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Geometry of payloads: whether the jaws hold one, and where it lands when released."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array, inverse, pose, so3_exp
from arm_description.model.gripper import Gripper

from arm_tasks.scene.objects import Primitive, SceneObject
from arm_tasks.scene.scene import Scene

SQUEEZE = math.radians(1.8)  # by which the jaws' servo is commanded past the touch
FLOOR = "the floor"
_AT_REST = 1e-3  # largest distance from the resting pose of an object at rest [m]
_MAX_RIGHTING_TILT = math.radians(20.0)  # a payload tilted by less lands upright


@dataclass(frozen=True)
class Carried:
    """A payload in the jaws."""

    name: str
    grasp: Array  # tool0 <- payload (4, 4) [m]
    width: float  # its width between the jaws [m]


def grasp(obj: SceneObject, T_tool: Array, jaws: Gripper, opened: float) -> Carried | str:
    """Return the grasp of a payload by closing jaws, or why it is not between them.

    The tool is at base_link <- tool0 (4, 4); the fingers close along its y from a width [m].
    """
    x, y, z = (_span(obj, T_tool, axis) for axis in range(3))
    middle = jaws.middle(opened)
    if y[0] < middle - opened / 2.0 or y[1] > middle + opened / 2.0:
        return f"it extends from {_mm(y)} across jaws that are {opened * 1e3:g} mm wide"
    finger = jaws.finger
    if not _overlap(z, (finger.overhang - finger.length, finger.overhang)):
        return f"it is {_mm(z)} along the tool, where the fingers are not"
    if not _overlap(x, (-finger.width / 2.0, finger.width / 2.0)):
        return f"it is {_mm(x)} beside the fingers"
    held = inverse(T_tool) @ obj.pose
    width = y[1] - y[0]
    held[1, 3] += jaws.middle(width) - (y[0] + y[1]) / 2.0  # the fingers move it there
    return Carried(obj.name, held, width)


def holding_width(jaws: Gripper, width: float) -> float:
    """Return the width [m] to which jaws are commanded to hold something of a width [m].

    The servo of a claw turns its jaws; that of sliding fingers moves them over their whole travel
    in a quarter turn.
    """
    if jaws.claw is not None:
        narrow = jaws.claw.width(jaws.claw.angle(width) - SQUEEZE)
    else:
        narrow = width - SQUEEZE / (math.pi / 2.0) * (jaws.max_width - jaws.min_width)
    return max(narrow, jaws.min_width)


def resting_pose(scene: Scene, name: str) -> tuple[Array, str]:
    """Return base_link <- payload (4, 4) where a released payload rests, and its support.

    It falls straight down onto the highest object below its centre, or else onto the FLOOR, and
    lands upright if its tilt is small.
    """
    obj = scene.object(name)
    obj = obj.at(_upright(obj.pose))
    bottom, top = obj.span(np.array([0.0, 0.0, 1.0]))
    middle = np.array([*obj.pose[:2, 3], (bottom + top) / 2.0])
    below = [(scene.floor, FLOOR)]
    below += [
        (height, other.name)
        for other in scene.objects.values()
        if other.name != name
        for part in other.parts
        if (height := _height_under(other, part, middle)) is not None
    ]
    height, on = max(below)
    T = np.array(obj.pose)
    T[2, 3] += height - bottom
    return T, on


def lies_on(scene: Scene, name: str) -> str:
    """Return what a payload of a scene lies on, "" if it is in the air."""
    landed, on = resting_pose(scene, name)
    off = np.linalg.norm(landed[:3, 3] - scene.object(name).pose[:3, 3])
    return on if off < _AT_REST else ""


def _span(obj: SceneObject, T_tool: Array, axis: int) -> tuple[float, float]:
    """Return the interval of an object along an axis of the tool, from tool0 [m]."""
    direction = T_tool[:3, axis]
    low, high = obj.span(direction)
    origin = float(T_tool[:3, 3] @ direction)
    return low - origin, high - origin


def _overlap(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def _mm(span: tuple[float, float]) -> str:
    return f"{span[0] * 1e3:.1f} to {span[1] * 1e3:.1f} mm"


def _upright(T: Array) -> Array:
    """Return the pose with the most vertical axis made vertical if its tilt is small."""
    axis = int(np.argmax(np.abs(T[2, :3])))
    up = math.copysign(1.0, float(T[2, axis])) * T[:3, axis]
    angle = math.acos(min(1.0, float(up[2])))
    if angle > _MAX_RIGHTING_TILT or angle < 1e-12:
        return T
    turn = np.cross(up, [0.0, 0.0, 1.0])
    R = so3_exp(turn / np.linalg.norm(turn) * angle)
    return pose(R @ T[:3, :3], T[:3, 3])


def _height_under(obj: SceneObject, part: Primitive, point: Array) -> float | None:
    """Return the height of a part's top straight below a point (3,), None if it is not below.

    It intersects the vertical line with the slabs of the part's bounding box.
    """
    T = obj.pose @ part.pose
    size = part.size if part.kind == "box" else (2 * part.size[0], 2 * part.size[0], part.size[1])
    start = T[:3, :3].T @ (point - T[:3, 3])
    down = -T[2, :3]
    near, far = 0.0, math.inf
    for s, d, length in zip(start, down, size, strict=True):
        if abs(float(d)) < 1e-9:
            if abs(float(s)) > length / 2.0:
                return None
            continue
        ends = sorted((half - s) / d for half in (-length / 2.0, length / 2.0))
        near, far = max(near, float(ends[0])), min(far, float(ends[1]))
    return float(point[2]) - near if near <= far else None
