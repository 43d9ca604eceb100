# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read the rows of the DH table with their types and limits.

A row is one joint, but that of a universal or ball joint becomes two or three revolute joints at
one place. They turn about z, then y, then x of the frame whose z is the axis that a revolute joint
of the same row would have: frame i-1 in the standard convention, frame i in the modified one. With
all of them at 0 the row's transform is the revolute joint's at 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, cast

from arm_common.yaml.document import Field

from arm_description.model.elements import Axis, Convention, DhRow, Joint, JointType
from arm_description.robot_file.keys import COMPOUND, LIMITS, MOST_ROWS, ROW
from arm_description.robot_file.scope import EvaluationContext, read_name

# Of a joint whose file gives none: slow enough for any arm. [rad/s], [m/s]
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
    """An arc across half a turn, 170 .. -170, is written 170 .. 190."""
    around = upper + 2.0 * math.pi
    if joint_type == "prismatic" or not lower < around:
        return "exchange them"
    written = scope.units.written(around, joint_type)
    return f"exchange them, or write upper: {written:.9g} for the arc that goes on from lower"


def _compound_joints(
    name: str,
    row: DhRow,
    limits: Mapping[Axis, dict[str, Any]],
    source: str,
    convention: Convention,
) -> tuple[Joint, ...]:
    """Return the revolute joints <name>_z, <name>_y and, of a ball joint, <name>_x."""
    # The link lies behind the last turn in the standard convention, before the first in the other.
    rows = {tuple(limits)[-1 if convention == "standard" else 0]: row}
    none = DhRow(0.0, 0.0, 0.0, 0.0)
    return tuple(
        Joint(f"{name}_{x}", "revolute", rows.get(x, none), source=source, axis=x, **limits[x])
        for x in limits
    )


# Names of joints whose link, <name>_link, or which themselves the URDF uses for something else.
TAKEN_LINKS = ("base", "gripper", "payload")
TAKEN_JOINTS = re.compile(r"mount|(flange|tool0|gripper_link|payload_link|dh_\d+)_fixed")


def read_joints(
    field: Field, convention: Convention, scope: EvaluationContext
) -> tuple[Joint, ...]:
    """Read the list of rows."""
    rows = field.items()
    if not rows:
        raise field.error("has no rows", "write one row for each joint")
    if len(rows) > MOST_ROWS:
        raise field.error(f"has {len(rows)} rows, at most {MOST_ROWS} are supported")
    joints: dict[str, Joint] = {}
    for row in rows:
        for joint in _read_row(row, convention, scope):
            if joint.name in joints:
                raise row.error(f"the name {joint.name!r} is used twice", "rename one of them")
            joints[joint.name] = joint
    return tuple(joints.values())


def read_joint_name(field: Field) -> str:
    """Read the name of a joint or finger, which the URDF must not use for something else."""
    name = read_name(field)
    owner = taken_by(name)
    if owner:
        raise field.error(f"{name!r} is taken by {owner}", f"call it {name}_joint or so")
    return name


def taken_by(name: str) -> str:
    """Return what already has a joint's name in the URDF, "" if nothing does."""
    if name in TAKEN_LINKS:
        return f"the frame {name}_link"
    return "a joint of the URDF" if TAKEN_JOINTS.fullmatch(name) else ""


def _read_row(row: Field, convention: Convention, scope: EvaluationContext) -> tuple[Joint, ...]:
    if "mimic" in row.mapping():
        raise row.mapping()["mimic"].error(
            "a joint that follows another is not possible in a robot file",
            "delete the key; the URDF of a machine with such joints may have them",
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
