# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_reader.py
"""Read the gripper of a robot file: two fingers that slide, or a claw."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

from arm_common.yaml.document import Field

from arm_description.model.constraints import SLACK
from arm_description.model.elements import Triple
from arm_description.model.gripper import MAX_JAW_ANGLE, Claw, FingerShape, Gripper, Turning
from arm_description.robot_file.joints import read_joint_name
from arm_description.robot_file.robot_keys import CLAW, FINGER, GRIPPER, NAMES_2, PALM
from arm_description.robot_file.scope import EvaluationContext, Section


def read_gripper(field: Field, joint_names: tuple[str, ...], scope: EvaluationContext) -> Gripper:
    """Read the gripper; its fingers must not have names of arm joints."""
    keys = scope.read(GRIPPER, field)
    claw = _read_claw(keys["claw"], scope) if "claw" in keys else None
    low, high = _widths(field, keys, claw)
    velocity = scope.velocity(keys["velocity"], "prismatic")
    default = default_finger(high)
    default = replace(default, length=claw.length) if claw else default
    return Gripper(
        joints=_read_fingers(keys["joints"], joint_names),
        min_width=low,
        max_width=high,
        velocity=velocity,
        acceleration=scope.acceleration(keys.get("acceleration"), "prismatic", velocity),
        effort=keys.number("effort"),
        finger=_read_finger(keys.get("finger"), default, scope),
        palm=_read_box(scope.read(PALM, keys["palm"])) if "palm" in keys else default_palm(high),
        claw=claw,
        source=keys.text("source"),
    )


def _widths(field: Field, keys: Section, claw: Claw | None) -> tuple[float, float]:
    """Return the smallest and the largest width, which a claw determines by its geometry."""
    for key in ("min_width", "max_width"):
        if claw and key in keys:
            raise keys[key].error("follows from the claw", "delete it")
        if not claw and key not in keys:
            raise field.error(f"{key} is missing", "add it, or claw: for jaws that turn")
    if claw:
        return max(claw.width(claw.closed), 0.0), claw.width(claw.open)
    low, high = keys.length("min_width"), keys.length("max_width")
    if low >= high:
        raise field.error("min_width must be below max_width", "swap them")
    return low, high


def _read_claw(field: Field, scope: EvaluationContext) -> Claw:
    keys = scope.read(CLAW, field)
    turning = cast(Turning, keys.choice("turning"))
    length, pivots = keys.length("length"), keys.length("pivots")
    reach = (2.0 if turning == "both" else 1.0) * length
    if not pivots < reach * math.sin(MAX_JAW_ANGLE):
        raise keys["pivots"].error("jaws of this length cannot meet", "check both in one unit")
    meeting = -math.asin(pivots / reach)
    claw = Claw(
        length=length,
        pivots=pivots,
        closed=keys.angle("closed", meeting),
        open=keys.angle("open"),
        turning=turning,
    )
    if claw.closed < meeting - SLACK:
        low = math.degrees(meeting)
        raise keys["closed"].error(f"the tips already meet at {low:.4g} deg", "raise it")
    if not claw.closed < claw.open <= MAX_JAW_ANGLE:
        most = math.degrees(MAX_JAW_ANGLE)
        raise keys["open"].error(f"must be above closed, and at most {most:.3g} deg")
    if "face" not in keys:
        return replace(claw, face=claw.width(claw.open) / 2 if turning != "both" else 0.0)
    if turning == "both":
        raise keys["face"].error("is for a claw with one fixed jaw", "delete it")
    return replace(claw, face=keys.length("face"))


def default_finger(opening: float) -> FingerShape:
    """Return the box of a finger in proportion to the maximum width [m]."""
    return FingerShape(0.75 * opening, 0.25 * opening, 0.15 * opening, 0.0)


def default_palm(opening: float) -> Triple:
    """Return the box of the palm (z, y, x) in proportion to the maximum width [m]."""
    return (0.45 * opening, 1.5 * opening, 0.5 * opening)


def _read_fingers(field: Field, joint_names: tuple[str, ...]) -> tuple[str, str]:
    items = NAMES_2.items(field, "names", "write [left, right]")
    left, right = (read_joint_name(item) for item in items)
    for name in (left, right):
        if name in joint_names or left == right:
            raise field.error(f"the name {name!r} is already used", "rename the finger")
    return left, right


def _read_finger(
    field: Field | None, default: FingerShape, scope: EvaluationContext
) -> FingerShape:
    if field is None:
        return default
    keys = scope.read(FINGER, field)
    length, width, thickness = _read_box(keys)
    overhang = keys.length("overhang")
    if overhang >= length:
        raise keys["overhang"].error("must be less than the finger's length")
    return FingerShape(length, width, thickness, overhang)


def _read_box(keys: Section) -> Triple:
    return (keys.length("length"), keys.length("width"), keys.length("thickness"))
