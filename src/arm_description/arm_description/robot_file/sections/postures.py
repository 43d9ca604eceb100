# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read the postures of a robot file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from arm_common.yaml.document import Field

from arm_description.model.constraints import SLACK
from arm_description.model.elements import Joint, JointType
from arm_description.model.gripper import Gripper
from arm_description.robot_file.keys import GRIPPER_KEY
from arm_description.robot_file.scope import EvaluationContext
from arm_description.robot_model import RobotModel


def read_postures(
    field: Field | None,
    joints: tuple[Joint, ...],
    gripper: Gripper | None,
    scope: EvaluationContext,
) -> Mapping[str, Mapping[str, float]]:
    """Read all postures; each must have every joint within its limits."""
    named = field.mapping(None) if field else {}
    for name, posture in named.items():
        if not name.strip():
            raise posture.error("a posture needs a name", "write for example rest:")
    return MappingProxyType(
        {name: _read_posture(f, joints, gripper, scope) for name, f in named.items()}
    )


def _read_posture(
    field: Field, joints: tuple[Joint, ...], gripper: Gripper | None, scope: EvaluationContext
) -> Mapping[str, float]:
    names = tuple(joint.name for joint in joints)
    keys = field.mapping((*names, GRIPPER_KEY) if gripper else names, required=names)
    ranges = {joint.name: (joint.lower, joint.upper, joint.type) for joint in joints}
    if gripper:
        ranges[GRIPPER_KEY] = (gripper.min_width, gripper.max_width, "prismatic")
    return MappingProxyType(
        {name: _inside(keys[name], *r, scope) for name, r in ranges.items() if name in keys}
    )


def _inside(
    field: Field, lower: float, upper: float, joint_type: JointType, scope: EvaluationContext
) -> float:
    value = scope.position(field, joint_type)
    if lower - SLACK <= value <= upper + SLACK:
        return min(max(value, lower), upper)

    def written(number: float) -> str:
        return f"{scope.units.written(number, joint_type):.9g}"

    remedy = "change the posture or the limits"
    whole = value + 2.0 * math.pi * math.ceil((lower - SLACK - value) / (2.0 * math.pi))
    if joint_type == "revolute" and whole <= upper + SLACK:
        remedy = f"write {written(whole)}, which differs by whole turns"
    limits = f"{written(lower)} .. {written(upper)} {scope.units.unit(joint_type)}"
    raise field.error(f"{written(value)} is outside the limits {limits}", remedy)


def check_postures(model: RobotModel, field: Field) -> None:
    """Raise an error for a posture that limits which depend on other joints do not allow."""
    for name, posture in field.mapping().items():
        q = [model.postures[name][joint] for joint in model.joint_names]
        if violation := model.constraint_set.worst(q):
            raise posture.error(
                f"is outside the limits ({violation.sentence})", "change the posture or the limits"
            )
