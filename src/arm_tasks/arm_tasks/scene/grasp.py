# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/planning/screwing/test_planner.py
"""What two parallel jaws hold: whether they grip a nut or a payload, and if not, why.

`resting_pose` tells where a payload lands when it is released.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array, inverse, pose, so3_exp, tilt_z, turn_z, twist_z
from arm_description.model.gripper import Gripper
from arm_description.model.units import SHOWN, mm

from arm_tasks.scene.scene import Nut, Primitive, Scene, SceneObject

SIXTH = math.pi / 3.0
SQUEEZE = math.radians(1.8)  # by which the jaws' servo is commanded past the touch
FLOOR = "the floor"
_AT_REST = 1e-3  # largest distance from the resting pose of an object at rest [m]
_MAX_RIGHTING_TILT = math.radians(20.0)  # a payload tilted by less lands upright


@dataclass(frozen=True)
class GripRules:
    """Tolerances of a grip and compliance of the arm; lengths [m], angles [rad].

    Chosen for flat pads, 10 mm long and 9 mm wide, of a hobby gripper on a compliant arm: a servo
    of 0.9 N m that reaches its full torque at an error of 5 degrees has a stiffness of 10 N m/rad,
    or 250 N/m at a lever of 0.2 m. So 1 N moves the tool by 4 mm, and jaws that squeeze with about
    10 N pull it over a nut on a bolt. These are assumptions, not measurements. In contact physics
    (./arm bench contact_rules) jaws of friction 0.8 tolerate more, as each line says; pads of a
    real gripper may be worse, so the rules stay on the safe side. The jaws open along the tool's
    y; the width of the pads is along its x.
    """

    # largest distance of the nut's centre from that of the pads along the tool, even when it
    # slides along them: part of the nut is still between them; physics: 6 mm turn it, 8 mm do not
    pad_half: float = 6e-3
    # largest distance of the nut's axis from the middle of the pads; physics: 7 mm
    pad_side: float = 3.5e-3
    # largest distance of the nut's axis from the middle of the jaws along the opening: the arm
    # yields that far, or the free nut is pushed; physics: 5 mm, with 2 N/mm and with 0.25 N/mm
    centring: float = 3.5e-3
    # largest angle between the axes of nut and tool for a grip; physics: 30 deg about either axis
    tilt: float = math.radians(12.0)
    # largest angle between jaws and flats, which then settle; physics: any
    flats: float = math.radians(15.0)
    close_gap: float = 0.3e-3  # the nut is gripped at a width of across_flats plus this
    open_gap: float = 0.6e-3  # the nut is released at a width of across_flats plus this
    held_off_axis: float = (
        4.5e-3  # largest lateral distance of the tool from a held nut on a thread
    )
    held_tilt: float = math.radians(20.0)  # largest angle between tool and bolt for a held nut
    give: float = 4e-3  # the arm yields this far along the bolt before the nut slides in the jaws


GRIP = GripRules()


@dataclass(frozen=True)
class GripCheck:
    """Result of closing the jaws."""

    held: bool
    settle: float = 0.0  # roll of the nut about its z that aligns its flats with the jaws [rad]
    near: bool = True  # whether the jaws close near the nut
    reason: str = ""  # why the nut is missed; "" if it is held


def check_grip(T_tool: Array, T_nut: Array, nut: Nut, opened: float = math.inf) -> GripCheck:
    """Return whether closing the jaws now grips the nut, and if not, why.

    The tool is at base_link <- tool0, the nut at base_link <- nut (4, 4) [m]. The jaws miss a nut
    that does not fit between them; they close from the width opened [m].
    """
    tool_nut = inverse(T_tool) @ T_nut
    x, y, z = (float(v) for v in tool_nut[:3, 3])
    near = math.hypot(x, y, z) < 2.0 * nut.across_flats
    tilt = tilt_z(tool_nut[:3, :3])
    tilt = min(tilt, math.pi - tilt)
    settle = _settle(tool_nut)
    aside = min(GRIP.centring, (opened - nut.across_flats) / 2.0)
    checks = (
        (abs(z), GRIP.pad_half, "its centre is {} along the tool from the pads", "prismatic"),
        (abs(y), aside, "its axis is {} beside the jaws' middle", "prismatic"),
        (abs(x), GRIP.pad_side, "its axis is {} beside the pads' middle", "prismatic"),
        (tilt, GRIP.tilt, "its axis is tilted by {} from the tool's", "revolute"),
        (abs(settle), GRIP.flats, "its flats are {} off the jaws", "revolute"),
    )
    for value, most, text, kind in checks:
        if value > most:
            off, possible = SHOWN.fixed(value, kind), SHOWN.written(most, kind)
            reason = f"{text.format(off)}; at most {possible:.1f} is possible"
            return GripCheck(False, near=near, reason=reason)
    return GripCheck(True, settle)


def seated(T_tool: Array, T_nut: Array) -> Array:
    """Return tool0 <- nut (4, 4) of a free nut in the closed jaws [m].

    Flat pads centre the nut and align its flats; its position along the pads and its tilt between
    them stay as they were.
    """
    tool_nut = inverse(T_tool) @ T_nut
    R, (x, _, z) = tool_nut[:3, :3], tool_nut[:3, 3]
    lean = math.atan2(float(R[0, 2]), float(R[2, 2]))
    upright = so3_exp(np.array([0.0, lean, 0.0]))
    roll = twist_z(R) + _settle(tool_nut)
    at = (float(x), 0.0, min(max(float(z), -GRIP.pad_half), GRIP.pad_half))
    return pose(upright, at) @ turn_z(roll)


def _settle(tool_nut: Array) -> float:
    """Return the roll about the nut's z that aligns the nearest flat with the jaws [rad]."""
    x, y = (float(v) for v in tool_nut[1, :2])  # the opening's direction, in the nut
    return math.remainder(math.atan2(y, x), SIXTH)


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
        return f"it extends from {_mm(y)} across jaws that are {mm(opened)} wide"
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
    return f"{SHOWN.rounded(span[0], 'prismatic')} to {mm(span[1], 1)}"


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
