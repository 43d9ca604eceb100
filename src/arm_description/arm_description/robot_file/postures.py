# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Named postures of a robot file: a position for every joint, and a width for the gripper."""

from __future__ import annotations

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
        value = scope.position(keys[joint.name], joint.type)
        values[joint.name] = _inside(keys[joint.name], value, joint.lower, joint.upper)
    if gripper and GRIPPER in keys:
        width = scope.length(keys[GRIPPER])
        values[GRIPPER] = _inside(keys[GRIPPER], width, gripper.min_width, gripper.max_width)
    return MappingProxyType(values)


def _inside(field: Field, value: float, lower: float, upper: float) -> float:
    if not lower - SLACK <= value <= upper + SLACK:
        raise field.error(
            f"{value:.6g} is outside the limits {lower:.6g} .. {upper:.6g} (in rad or m)",
            "change the posture or the limits",
        )
    return min(max(value, lower), upper)
