# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The rows of the DH table, with type and limits; one joint each, two or three of some."""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from ..dh import Convention, DhRow, JointType
from ..elements import Joint
from ..yaml_fields import Field
from .compound import COMPOUND, compound_joints
from .limits import read_limits
from .scope import Scope, read_name

TYPES = ("revolute", "prismatic", *COMPOUND)
KEYS = ("name", "type", "theta", "d", "a", "alpha", "limits", "source")
MOST_ROWS = 64
# Names of frames that are not a joint's, so that no joint may be called so.
TAKEN = ("base", "gripper")


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


def _read_row(row: Field, convention: Convention, scope: Scope) -> tuple[Joint, ...]:
    keys = row.mapping(KEYS, required=("name", "type"))
    name = read_name(keys["name"])
    if name in TAKEN:
        raise keys["name"].error(
            f"{name!r} is taken by the frame {name}_link", f"call the joint {name}_joint or so"
        )
    joint_type = keys["type"].choice(TYPES)
    variable = "d" if joint_type == "prismatic" else "theta"
    row.mapping(KEYS, required=[k for k in ("theta", "d", "a", "alpha") if k != variable])
    values = {
        key: (scope.angle if key in ("theta", "alpha") else scope.length)(keys[key])
        for key in ("theta", "d", "a", "alpha")
        if key in keys
    }
    dh = DhRow(**{"theta": 0.0, "d": 0.0, **values})
    row.mapping(KEYS, required=("limits",))
    source = keys["source"].text() if "source" in keys else ""
    if joint_type in COMPOUND:
        axes = COMPOUND[joint_type]
        fields = keys["limits"].mapping(axes, required=axes)
        limits_of = {axis: read_limits(fields[axis], "revolute", scope) for axis in axes}
        return compound_joints(name, dh, limits_of, source, convention)
    simple = cast(JointType, joint_type)
    limits = read_limits(keys["limits"], simple, scope)
    return (Joint(name, simple, dh, source=source, **asdict(limits)),)
