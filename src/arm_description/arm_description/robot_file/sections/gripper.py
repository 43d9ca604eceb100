# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_reader.py
"""Read the gripper of a robot file: two fingers that slide, or a claw."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from arm_common.yaml.document import Field

from arm_description.model.constraints import SLACK
from arm_description.model.elements import Triple
from arm_description.model.gripper import (
    DEFAULT_FORCE,
    MAX_JAW_ANGLE,
    TURNING,
    Claw,
    FingerShape,
    Gripper,
    Turning,
)
from arm_description.robot_file.joints import read_joint_name
from arm_description.robot_file.robot_keys import CLAW, FINGER, GRIPPER, PALM
from arm_description.robot_file.scope import EvaluationContext


def read_gripper(field: Field, joint_names: tuple[str, ...], scope: EvaluationContext) -> Gripper:
    """Read the gripper; its fingers must not have names of arm joints."""
    keys = GRIPPER.read(field)
    claw = _read_claw(keys["claw"], scope) if "claw" in keys else None
    low, high = _widths(field, keys, claw, scope)
    velocity = scope.velocity(keys["velocity"], "prismatic")
    default = default_finger(high)
    default = replace(default, length=claw.length) if claw else default
    return Gripper(
        joints=_read_fingers(keys["joints"], joint_names),
        min_width=low,
        max_width=high,
        velocity=velocity,
        acceleration=scope.acceleration(keys.get("acceleration"), "prismatic", velocity),
        effort=scope.positive(keys["effort"]) if "effort" in keys else DEFAULT_FORCE,
        finger=_read_finger(keys.get("finger"), default, scope),
        palm=_read_box(PALM.read(keys["palm"]), scope) if "palm" in keys else default_palm(high),
        claw=claw,
        source=keys["source"].text() if "source" in keys else "",
    )


def _widths(
    field: Field, keys: Mapping[str, Field], claw: Claw | None, scope: EvaluationContext
) -> tuple[float, float]:
    """Return the smallest and the largest width, which a claw determines by its geometry."""
    for key in ("min_width", "max_width"):
        if claw and key in keys:
            raise keys[key].error("follows from the claw", "delete it")
        if not claw and key not in keys:
            raise field.error(f"{key} is missing", "add it, or claw: for jaws that turn")
    if claw:
        return max(claw.width(claw.closed), 0.0), claw.width(claw.open)
    low, high = scope.length(keys["min_width"]), scope.length(keys["max_width"])
    if low < 0.0:
        raise keys["min_width"].error("must not be negative")
    if low >= high:
        raise field.error("min_width must be below max_width", "swap them")
    return low, high


def _read_claw(field: Field, scope: EvaluationContext) -> Claw:
    keys = CLAW.read(field)
    turning = cast(Turning, keys["turning"].choice(TURNING)) if "turning" in keys else "both"
    length, pivots = scope.positive_length(keys["length"]), scope.length(keys["pivots"])
    reach = (2.0 if turning == "both" else 1.0) * length
    if not 0.0 <= pivots < reach * math.sin(MAX_JAW_ANGLE):
        raise keys["pivots"].error("jaws of this length cannot meet", "check both in one unit")
    meeting = -math.asin(pivots / reach)
    claw = Claw(
        length=length,
        pivots=pivots,
        closed=scope.angle(keys["closed"]) if "closed" in keys else meeting,
        open=scope.angle(keys["open"]),
        turning=turning,
    )
    if claw.closed < meeting - SLACK:
        low = math.degrees(meeting)
        raise keys["closed"].error(f"the tips already meet at {low:.4g} deg", "raise it")
    if not claw.closed < claw.open <= MAX_JAW_ANGLE:
        raise keys["open"].error("must be above closed, and at most 85 deg")
    if "face" not in keys:
        return replace(claw, face=claw.width(claw.open) / 2 if turning != "both" else 0.0)
    if turning == "both":
        raise keys["face"].error("is for a claw with one fixed jaw", "delete it")
    return replace(claw, face=scope.length(keys["face"]))


def default_finger(opening: float) -> FingerShape:
    """Return the box of a finger in proportion to the maximum width [m]."""
    return FingerShape(0.75 * opening, 0.25 * opening, 0.15 * opening, 0.0)


def default_palm(opening: float) -> Triple:
    """Return the box of the palm (z, y, x) in proportion to the maximum width [m]."""
    return (0.45 * opening, 1.5 * opening, 0.5 * opening)


def _read_fingers(field: Field, joint_names: tuple[str, ...]) -> tuple[str, str]:
    items = field.items()
    if len(items) != 2:
        raise field.error(f"must be two names, not {len(items)}", "write [left, right]")
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
    keys = FINGER.read(field)
    length, width, thickness = _read_box(keys, scope)
    overhang = scope.length(keys["overhang"]) if "overhang" in keys else 0.0
    if not 0.0 <= overhang < length:
        raise keys["overhang"].error("must be at least 0 and less than the finger's length")
    return FingerShape(length, width, thickness, overhang)


def _read_box(keys: Mapping[str, Field], scope: EvaluationContext) -> Triple:
    length, width, thickness = (
        scope.positive_length(keys[key]) for key in ("length", "width", "thickness")
    )
    return (length, width, thickness)
