# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read the rows of the DH table with their joint types and limits.

A row is one joint, but a universal or ball joint becomes two or three revolute joints at one
point. They turn about z, then y, then x of the frame whose z is the axis of a revolute joint in
the same row: frame i-1 in the standard convention, frame i in the modified one. With all of them
at 0 the transform of the row is that of the revolute joint at 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, cast

from arm_common.yaml.document import Field

from arm_description.model.elements import Axis, Convention, DhRow, Joint, JointType
from arm_description.robot_file.keys import COMPOUND, LIMITS, MAX_ROWS, ROW
from arm_description.robot_file.scope import EvaluationContext, read_name

# Defaults, slow enough for any arm [rad/s or m/s], [N m or N].
DEFAULT_VELOCITY = {"revolute": 1.0, "prismatic": 0.1}
DEFAULT_EFFORT = 10.0


def _read_limits(field: Field, joint_type: JointType, scope: EvaluationContext) -> dict[str, Any]:
    """Read the limits of one joint, or of one axis of a joint, as the arguments of Joint."""
    keys = LIMITS.read(field)
    lower = scope.position(keys["lower"], joint_type)
    upper = scope.position(keys["upper"], joint_type)
    if lower >= upper:
        raise field.error("lower must be below upper", _remedy(lower, upper, joint_type, scope))
    velocity = DEFAULT_VELOCITY[joint_type]
    if "velocity" in keys:
        velocity = scope.velocity(keys["velocity"], joint_type)
    return {
        "lower": lower,
        "upper": upper,
        "velocity": velocity,
        "acceleration": scope.acceleration(keys.get("acceleration"), joint_type, velocity),
        "effort": scope.positive(keys["effort"]) if "effort" in keys else DEFAULT_EFFORT,
    }


def _remedy(lower: float, upper: float, joint_type: JointType, scope: EvaluationContext) -> str:
    """Return the remedy for reversed limits: an arc across half a turn is written 170 .. 190."""
    around = upper + 2.0 * math.pi
    if joint_type == "prismatic" or not lower < around:
        return "swap them"
    written = scope.units.written(around, joint_type)
    return f"swap them, or write upper: {written:.9g} for the arc across half a turn"


def _compound_joints(
    name: str,
    row: DhRow,
    limits: Mapping[Axis, dict[str, Any]],
    source: str,
    convention: Convention,
) -> tuple[Joint, ...]:
    """Return the revolute joints <name>_z, <name>_y and, for a ball joint, <name>_x."""
    # The link comes after the last rotation in the standard convention, else before the first.
    rows = {tuple(limits)[-1 if convention == "standard" else 0]: row}
    none = DhRow(0.0, 0.0, 0.0, 0.0)
    return tuple(
        Joint(f"{name}_{x}", "revolute", rows.get(x, none), source=source, axis=x, **limits[x])
        for x in limits
    )


# Joint names reserved by the URDF, for the link <name>_link or for the joint itself.
RESERVED_LINKS = ("base", "gripper", "payload")
RESERVED_JOINTS = re.compile(r"mount|(flange|tool0|gripper_link|payload_link|dh_\d+)_fixed")


def read_joints(
    field: Field, convention: Convention, scope: EvaluationContext
) -> tuple[Joint, ...]:
    """Read the rows of the DH table."""
    rows = field.items()
    if not rows:
        raise field.error("has no rows", "write one row for each joint")
    if len(rows) > MAX_ROWS:
        raise field.error(f"has {len(rows)} rows, at most {MAX_ROWS} are supported")
    joints: dict[str, Joint] = {}
    for row in rows:
        for joint in _read_row(row, convention, scope):
            if joint.name in joints:
                raise row.error(f"the name {joint.name!r} is used twice", "rename one of them")
            joints[joint.name] = joint
    return tuple(joints.values())


def read_joint_name(field: Field) -> str:
    """Read the name of a joint or finger; names that the URDF uses are rejected."""
    name = read_name(field)
    owner = name_owner(name)
    if owner:
        raise field.error(f"{name!r} is already used by {owner}", f"call it {name}_joint or so")
    return name


def name_owner(name: str) -> str:
    """Return the URDF element that already has a joint's name, "" if none."""
    if name in RESERVED_LINKS:
        return f"the frame {name}_link"
    return "a joint of the URDF" if RESERVED_JOINTS.fullmatch(name) else ""


def _read_row(row: Field, convention: Convention, scope: EvaluationContext) -> tuple[Joint, ...]:
    if "mimic" in row.mapping():
        raise row.mapping()["mimic"].error(
            "robot files do not support mimic joints",
            "delete the key, or use a URDF with mimic joints",
        )
    joint_type, keys = ROW.read(row)
    name = read_joint_name(keys["name"])
    read = {"theta": scope.angle, "d": scope.length, "a": scope.length, "alpha": scope.angle}
    dh = DhRow(*(read[key](keys[key]) if key in keys else 0.0 for key in read))
    source = keys["source"].text() if "source" in keys else ""
    if joint_type in COMPOUND:
        axes = COMPOUND[joint_type]
        fields = keys["limits"].mapping(axes, required=axes)
        limits_of = {axis: _read_limits(fields[axis], "revolute", scope) for axis in axes}
        return _compound_joints(name, dh, limits_of, source, convention)
    simple = cast(JointType, joint_type)
    limits = _read_limits(keys["limits"], simple, scope)
    return (Joint(name, simple, dh, source=source, **limits),)
