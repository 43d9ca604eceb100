# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The rows of the DH table, with type and limits; one joint each, two or three of some."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import cast

from ..dh import Convention, DhRow, JointType
from ..elements import Joint
from ..yaml_fields import Field
from .compound import compound_joints
from .keys import COMPOUND, MOST_ROWS, ROW
from .limits import read_limits
from .scope import Scope, read_name

# Names of joints whose link, <name>_link, or which themselves the URDF uses for something else.
TAKEN_LINKS = ("base", "gripper", "payload")
TAKEN_JOINTS = re.compile(r"mount|(flange|tool0|gripper_link|payload_link|dh_\d+)_fixed")


def read_joints(field: Field, convention: Convention, scope: Scope) -> tuple[Joint, ...]:
    """Read the list of rows.

    Raises:
        DescriptionError: no rows, too many, or something wrong in one of them.
    """
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
    """Read the name of a joint or finger.

    Raises:
        DescriptionError: it is none, or the URDF uses it for something else.
    """
    name = read_name(field)
    owner = taken_by(name)
    if owner:
        raise field.error(f"{name!r} is taken by {owner}", f"call it {name}_joint or so")
    return name


def taken_by(name: str) -> str:
    """What of the URDF stands in the way of a joint's name, "" if nothing does."""
    if name in TAKEN_LINKS:
        return f"the frame {name}_link"
    return "a joint of the URDF" if TAKEN_JOINTS.fullmatch(name) else ""


def _read_row(row: Field, convention: Convention, scope: Scope) -> tuple[Joint, ...]:
    if "mimic" in row.mapping():
        raise row.mapping()["mimic"].error(
            "a joint that follows another is not possible in a robot file",
            "delete the key; the URDF of a machine with such joints may have them",
        )
    joint_type, keys = ROW.read(row)
    name = read_joint_name(keys["name"])
    values = {
        key: (scope.angle if key in ("theta", "alpha") else scope.length)(keys[key])
        for key in ("theta", "d", "a", "alpha")
        if key in keys
    }
    dh = DhRow(**{"theta": 0.0, "d": 0.0, **values})
    source = keys["source"].text() if "source" in keys else ""
    if joint_type in COMPOUND:
        axes = COMPOUND[joint_type]
        fields = keys["limits"].mapping(axes, required=axes)
        limits_of = {axis: read_limits(fields[axis], "revolute", scope) for axis in axes}
        return compound_joints(name, dh, limits_of, source, convention)
    simple = cast(JointType, joint_type)
    limits = read_limits(keys["limits"], simple, scope)
    return (Joint(name, simple, dh, source=source, **asdict(limits)),)
