# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Named postures of a robot file: a position for every joint, and a width for the gripper."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from ..elements import Gripper, Joint
from ..yaml_fields import Field
from .scope import Scope

GRIPPER = "gripper"
# A limit and a posture at it may be written by two expressions that differ by rounding.
SLACK = 1e-9


def read_postures(
    field: Field | None, joints: tuple[Joint, ...], gripper: Gripper | None, scope: Scope
) -> Mapping[str, Mapping[str, float]]:
    """Read all postures.

    Raises:
        DescriptionError: a joint is missing, unknown, or outside its limits.
    """
    named = field.mapping(None) if field else {}
    for name, posture in named.items():
        if not name.strip():
            raise posture.error("a posture needs a name", "write for example rest:")
    return MappingProxyType(
        {name: _read_posture(f, joints, gripper, scope) for name, f in named.items()}
    )


def _read_posture(
    field: Field, joints: tuple[Joint, ...], gripper: Gripper | None, scope: Scope
) -> Mapping[str, float]:
    names = tuple(joint.name for joint in joints)
    keys = field.mapping((*names, GRIPPER) if gripper else names, required=names)
    values: dict[str, float] = {}
    for joint in joints:
        limits = (joint.lower, joint.upper)
        values[joint.name] = _inside(keys[joint.name], limits, joint.type, scope)
    if gripper and GRIPPER in keys:
        widths = (gripper.min_width, gripper.max_width)
        values[GRIPPER] = _inside(keys[GRIPPER], widths, "prismatic", scope)
    return MappingProxyType(values)


def _inside(field: Field, limits: tuple[float, float], joint_type: str, scope: Scope) -> float:
    """Read a position that must be within limits [rad or m]."""
    value, (lower, upper) = scope.position(field, joint_type), limits
    if lower - SLACK <= value <= upper + SLACK:
        return min(max(value, lower), upper)

    def written(number: float) -> str:
        return f"{scope.units.written(number, joint_type):.9g}"

    remedy = "change the posture or the limits"
    whole = value + 2.0 * math.pi * math.ceil((lower - SLACK - value) / (2.0 * math.pi))
    if joint_type == "revolute" and whole <= upper + SLACK:
        remedy = f"write {written(whole)}, the same direction some whole turns on"
    unit = scope.units.angle if joint_type == "revolute" else scope.units.length
    raise field.error(
        f"{written(value)} is outside the limits {written(lower)} .. {written(upper)} {unit}",
        remedy,
    )
