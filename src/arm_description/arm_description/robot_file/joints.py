# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The rows of the DH table, with type and limits."""

from __future__ import annotations

from typing import cast

from ..dh import DhRow, JointType
from ..elements import Joint
from ..yaml_fields import Field
from .scope import Scope, read_name

TYPES = ("revolute", "prismatic")
TYPES_LATER = ("universal", "ball")
KEYS = ("name", "type", "theta", "d", "a", "alpha", "limits", "source")
LIMIT_KEYS = ("lower", "upper", "velocity", "acceleration", "effort")
# Of a joint whose file gives none: slow enough for any arm. [rad/s], [m/s]; reached in 0.25 s.
DEFAULT_VELOCITY = {"revolute": 1.0, "prismatic": 0.1}
DEFAULT_EFFORT = 10.0
MOST_ROWS = 64
# Names of frames that are not a joint's, so that no joint may be called so.
TAKEN = ("base", "gripper")


def read_joints(field: Field, scope: Scope) -> tuple[Joint, ...]:
    """Read the list of rows.

    Raises:
        DescriptionError: no rows, too many, or something wrong in one of them.
    """
    rows = field.items()
    if not rows:
        raise field.error("has no rows", "write one row for each joint")
    if len(rows) > MOST_ROWS:
        raise field.error(f"has {len(rows)} rows, at most {MOST_ROWS} are supported")
    joints: list[Joint] = []
    for row in rows:
        joint = _read_row(row, scope)
        if joint.name in (other.name for other in joints):
            raise row.error(f"the name {joint.name!r} is used twice", "rename one of the joints")
        joints.append(joint)
    return tuple(joints)


def _read_row(row: Field, scope: Scope) -> Joint:
    keys = row.mapping(KEYS, required=("name", "type"))
    name = read_name(keys["name"])
    if name in TAKEN:
        raise keys["name"].error(
            f"{name!r} is taken by the frame {name}_link", f"call the joint {name}_joint or so"
        )
    joint_type = _read_type(keys["type"])
    variable = "theta" if joint_type == "revolute" else "d"
    row.mapping(KEYS, required=[k for k in ("theta", "d", "a", "alpha") if k != variable])
    values = {
        key: (scope.angle if key in ("theta", "alpha") else scope.length)(keys[key])
        for key in ("theta", "d", "a", "alpha")
        if key in keys
    }
    dh = DhRow(**{"theta": 0.0, "d": 0.0, **values})
    row.mapping(KEYS, required=("limits",))
    lower, upper, velocity, acceleration, effort = _read_limits(keys["limits"], joint_type, scope)
    source = keys["source"].text() if "source" in keys else ""
    return Joint(name, joint_type, dh, lower, upper, velocity, acceleration, effort, source)


def _read_type(field: Field) -> JointType:
    text = field.raw("a type")
    if text in TYPES_LATER:
        raise field.error(
            f"{text} joints are not supported yet",
            "write them as two or three revolute rows with a = d = 0 between them",
        )
    return cast(JointType, field.choice(TYPES))


def _read_limits(
    field: Field, joint_type: JointType, scope: Scope
) -> tuple[float, float, float, float, float]:
    keys = field.mapping(LIMIT_KEYS, required=("lower", "upper"))
    lower = scope.position(keys["lower"], joint_type)
    upper = scope.position(keys["upper"], joint_type)
    if lower >= upper:
        turn = "360" if scope.units.angle == "deg" else "2*pi"
        arc = f", or add {turn} to upper for an arc across half a turn"
        raise field.error(
            "lower must be below upper",
            "exchange them" + (arc if joint_type == "revolute" else ""),
        )
    velocity = DEFAULT_VELOCITY[joint_type]
    if "velocity" in keys:
        velocity = scope.rate(keys["velocity"], joint_type)
    acceleration = 4.0 * velocity
    if "acceleration" in keys:
        acceleration = scope.rate(keys["acceleration"], joint_type)
    effort = DEFAULT_EFFORT
    if "effort" in keys:
        effort = scope.number(keys["effort"])
        if effort <= 0.0:
            raise keys["effort"].error("must be more than 0")
    return lower, upper, velocity, acceleration, effort
