# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The gripper of a robot file: two fingers, the width between them, and the shape drawn."""

from __future__ import annotations

from ..elements import FingerShape, Gripper, Triple
from ..yaml_fields import Field
from .joints import read_joint_name
from .keys import FINGER, GRIPPER, PALM
from .scope import Scope


def read_gripper(field: Field, joint_names: tuple[str, ...], scope: Scope) -> Gripper:
    """Read the gripper.

    Args:
        field: the section.
        joint_names: names of the arm's joints, which the fingers must not take.
        scope: units and constants.

    Raises:
        DescriptionError: something is missing or wrong.
    """
    keys = GRIPPER.read(field)
    low, high = scope.length(keys["min_width"]), scope.length(keys["max_width"])
    if low < 0.0:
        raise keys["min_width"].error("must not be negative")
    if low >= high:
        raise field.error("min_width must be below max_width", "exchange them")
    velocity = scope.velocity(keys["velocity"], "prismatic")
    return Gripper(
        joints=_read_fingers(keys["joints"], joint_names),
        min_width=low,
        max_width=high,
        velocity=velocity,
        acceleration=scope.acceleration(keys.get("acceleration"), "prismatic", velocity),
        finger=_read_finger(keys.get("finger"), high, scope),
        palm=_read_palm(keys.get("palm"), high, scope),
        source=keys["source"].text() if "source" in keys else "",
    )


def default_finger(opening: float) -> FingerShape:
    """Box of a finger in proportion to the widest opening [m]."""
    return FingerShape(0.75 * opening, 0.25 * opening, 0.15 * opening, 0.0)


def default_palm(opening: float) -> Triple:
    """Box of the palm, along z, y and x, in proportion to the widest opening [m]."""
    return (0.45 * opening, 1.5 * opening, 0.5 * opening)


def _read_fingers(field: Field, joint_names: tuple[str, ...]) -> tuple[str, str]:
    items = field.items()
    if len(items) != 2:
        raise field.error(f"must be two names, not {len(items)}", "write [left, right]")
    left, right = (read_joint_name(item) for item in items)
    for name in (left, right):
        if name in joint_names or left == right:
            raise field.error(f"the name {name!r} is taken", "rename the finger")
    return left, right


def _read_finger(field: Field | None, opening: float, scope: Scope) -> FingerShape:
    if field is None:
        return default_finger(opening)
    keys = FINGER.read(field)
    length, width, thickness = (
        scope.positive_length(keys[key]) for key in ("length", "width", "thickness")
    )
    overhang = scope.length(keys["overhang"]) if "overhang" in keys else 0.0
    if not 0.0 <= overhang < length:
        raise keys["overhang"].error("must be at least 0 and less than the finger's length")
    return FingerShape(length, width, thickness, overhang)


def _read_palm(field: Field | None, opening: float, scope: Scope) -> Triple:
    if field is None:
        return default_palm(opening)
    keys = PALM.read(field)
    length, width, thickness = (
        scope.positive_length(keys[key]) for key in ("length", "width", "thickness")
    )
    return (length, width, thickness)
