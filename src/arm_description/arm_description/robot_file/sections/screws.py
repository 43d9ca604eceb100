# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read joints that are given by their axes, or by a table with frames far from the arm.

Both become the standard DH table of the same arm, with frames near its joints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import numpy as np
from arm_common.yaml.document import Field

from arm_description.model.dh_from_axes import (
    AxisLine,
    AxisTolerances,
    NearlyParallelError,
    dh_from_axes,
    near_the_arm,
)
from arm_description.model.elements import Joint, JointType
from arm_description.robot_file.joints import JointTable, read_joint_name, read_limits
from arm_description.robot_file.relations import JointRelations
from arm_description.robot_file.robot_keys import MAX_ROWS, SCREW
from arm_description.robot_file.scope import EvaluationContext, Section, triple
from arm_description.robot_model import in_order

# Axes given by direction and point are met to this error [m or rad].
_EXACT = 1e-14


def table_near_the_arm(table: JointTable, longest: float) -> JointTable:
    """Return a table with frames near the arm; links are no longer than the longest [m]."""
    rows = in_order(table.joints, table.dependents)
    near = near_the_arm(rows, table.base, table.convention, longest)
    by_name = {joint.name: row for joint, row in zip(rows, near.rows, strict=True)}
    return JointTable(
        "standard",
        tuple(replace(joint, row=by_name[joint.name]) for joint in table.joints),
        tuple(replace(joint, row=by_name[joint.name]) for joint in table.dependents),
        near.base,
        near.tool,
        as_written=False,
    )


def read_screws(keys: Mapping[str, Field], scope: EvaluationContext) -> JointTable:
    """Read the axes of joints and the flange's pose with every joint at 0."""
    field, home = keys["joints"], keys["home"]
    screws = [scope.read(SCREW, row) for row in field.items()]
    if not 0 < len(screws) <= MAX_ROWS:
        raise field.error(f"has {len(screws)} rows", f"write 1 to {MAX_ROWS}, one for each joint")
    axes = [_axis_line(keys, scope) for keys in screws]
    names = [axis.name for axis in axes]
    for row, name in zip(field.items(), names, strict=True):
        if names.count(name) > 1:
            raise row.error(f"the name {name!r} is used twice", "rename one of them")
    try:
        exactly = AxisTolerances(_EXACT, _EXACT, scope.units.max_length, tilted=True)
        table = dh_from_axes(axes, scope.origin(home).matrix, "standard", exactly)
    except NearlyParallelError as error:
        raise field.error(error.problem, "check units.length and the axes") from None
    types = [cast(JointType, keys.choice("type")) for keys in screws]
    limits = {name: keys["limits"] for name, keys in zip(names, screws, strict=True)}
    by_type = dict(zip(names, types, strict=True))
    relations = JointRelations(scope, by_type, limits)
    joints = tuple(
        Joint(
            name,
            by_type[name],
            row,
            source=keys.text("source"),
            **read_limits(limits[name], by_type[name], scope, relations.range(name)),
        )
        for name, row, keys in zip(names, table.rows, screws, strict=True)
    )
    return JointTable("standard", joints, (), table.base, table.tool, as_written=False)


def _axis_line(keys: Section, scope: EvaluationContext) -> AxisLine:
    direction = np.array(triple(keys["axis"], scope.number))
    length = float(np.linalg.norm(direction))
    if not 0.0 < length < math.inf:
        raise keys["axis"].error("has no direction", "write for example [0, 0, 1]")
    at = np.array(keys.lengths("at"))
    return AxisLine(read_joint_name(keys["name"]), at, direction / length)
