# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read the rows of the DH table with their joint types and limits.

A row without limits is a dependent joint: theta or d is a sum of the joints that it follows. Any
other row is one joint, but a universal or ball joint becomes two or three revolute joints at one
point. They turn about z, then y, then x of the frame whose z is the axis of a revolute joint in
the same row: frame i-1 in the standard convention, frame i in the modified one. With all of them
at 0 the transform of the row is that of the revolute joint at 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from arm_common.yaml.document import Field

from arm_description.model.dh_from_axes import (
    MAX_OFFSET,
    AxisLine,
    AxisTolerances,
    NearlyParallelError,
    dh_from_axes,
    parallel_runs,
)
from arm_description.model.elements import (
    Axis,
    Convention,
    DependentJoint,
    DhRow,
    Joint,
    JointType,
    Origin,
    dependent_joint,
    mimic_names,
)
from arm_description.model.servo_types import SERVO_TYPES
from arm_description.robot_file.keys import COMPOUND, LIMITS, LINEAR, MAX_ROWS, ROW, SCREW
from arm_description.robot_file.relations import (
    JointRelations,
    drop_own_variable,
    joint_variables,
    joints_in,
    reject_unknown_names,
    reject_variable,
)
from arm_description.robot_file.scope import EvaluationContext, read_name, triple

# Slow enough for any arm [rad/s or m/s].
DEFAULT_VELOCITY = {"revolute": 1.0, "prismatic": 0.1}
# Axes given by direction and point are met to this error [m or rad].
_EXACT = 1e-14


def _read_limits(
    field: Field,
    name: str,
    joint_type: JointType,
    scope: EvaluationContext,
    relations: JointRelations,
) -> dict[str, Any]:
    """Read the limits of one joint, or of one axis of a joint, as the arguments of Joint."""
    keys = LIMITS.read(field)
    lower, upper, constraint = relations.range(name)
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
        "effort": _effort(keys, joint_type, scope),
        "constraint": constraint,
    }


def _effort(keys: Mapping[str, Field], joint_type: JointType, scope: EvaluationContext) -> float:
    """Return the torque or force of a joint [N m or N], inf if the file gives none."""
    servo = keys["servo"].choice(SERVO_TYPES) if "servo" in keys else scope.servo
    if "effort" in keys:
        return scope.positive(keys["effort"])
    if "servo" in keys and joint_type == "prismatic":
        raise keys["servo"].error(
            "has a torque, but the joint slides", "give effort: its force in N"
        )
    turned = servo and joint_type == "revolute"
    return SERVO_TYPES[servo].continuous if turned else math.inf


def _remedy(lower: float, upper: float, joint_type: JointType, scope: EvaluationContext) -> str:
    """Return the remedy for reversed limits: an arc across half a turn is written 170 .. 190."""
    if lower == upper:
        return (
            "is the joint fixed? then leave out its row: base or tool takes up its transform at "
            "an end of the arm, and with convention: screws there is none"
        )
    around = upper + 2.0 * math.pi
    if joint_type == "prismatic" or not lower < around:
        return "swap them"
    written = scope.units.written(around, joint_type)
    return f"swap them, or write upper: {written:.9g} for the arc across half a turn"


def compound_joints(
    name: str,
    row: DhRow,
    limits: Mapping[Axis, dict[str, Any]],
    source: str,
    convention: Convention,
) -> tuple[Joint, ...]:
    """Return the revolute joints <name>_z, <name>_y and, for a ball joint, <name>_x.

    Args:
        name: of the row.
        row: its numbers.
        limits: lower, upper, velocity, acceleration, effort by axis.
        source: origin of the numbers.
        convention: of the table.
    """
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
) -> tuple[tuple[Joint, ...], tuple[DependentJoint, ...]]:
    """Read the rows of the DH table: the independent and the dependent joints."""
    rows = field.items()
    if not rows:
        raise field.error("has no rows", "write one row for each joint")
    if len(rows) > MAX_ROWS:
        raise field.error(f"has {len(rows)} rows, at most {MAX_ROWS} are supported")
    table = _Table([_TableRow.read(row) for row in rows], convention, scope)
    if len(table.dependents) == len(rows):
        raise field.error("has only dependent joints", "give one row limits")
    table.check_offsets()
    return table.joints(), table.dependent_joints()


@dataclass(frozen=True)
class _TableRow:
    """One row: its keys, and the name of each of its joints."""

    field: Field
    type: str
    keys: Mapping[str, Field]
    names: tuple[str, ...]  # one, or those of a universal or ball joint

    @classmethod
    def read(cls, row: Field) -> _TableRow:
        if "mimic" in row.mapping():
            raise row.mapping()["mimic"].error(
                "is written as a sum in theta, or in d of a prismatic joint",
                "delete the key and the limits, and write for example theta: -shoulder",
            )
        joint_type, keys = ROW.read(row)
        name = read_joint_name(keys["name"])
        axes = COMPOUND.get(joint_type)
        names = tuple(f"{name}_{axis}" for axis in axes) if axes else (name,)
        return cls(row, joint_type, keys, names)

    @property
    def simple(self) -> JointType:
        """The type of its joints."""
        return "prismatic" if self.type == "prismatic" else "revolute"

    @property
    def variable(self) -> str:
        """The key of its joint variable."""
        return "d" if self.type == "prismatic" else "theta"

    @property
    def source(self) -> str:
        return self.keys["source"].text() if "source" in self.keys else ""


class _Table:
    """All rows, with what joints follow and what their limits depend on."""

    def __init__(
        self, rows: Sequence[_TableRow], convention: Convention, scope: EvaluationContext
    ) -> None:
        self._rows, self._convention, self._scope = rows, convention, scope
        types: dict[str, JointType] = {}
        for row in rows:
            for name in row.names:
                if name in types:
                    raise row.field.error(f"the name {name!r} is used twice", "rename one of them")
                types[name] = row.simple
        self._variables = joint_variables(scope, types)
        for number, row in enumerate(rows, 1):
            self._read_variable(row, number)
        self.dependents = {row.names[0]: row for row in rows if self._is_dependent(row)}
        sums = {name: row.keys[row.variable] for name, row in self.dependents.items()}
        limits: dict[str, Field] = {}
        for row in rows:
            if row.names[0] not in self.dependents:
                limits |= self._limits(row)
        self._limit_fields = limits
        self._relations = JointRelations(scope, types, sums, limits)

    def _read_variable(self, row: _TableRow, number: int) -> None:
        """Leave the offset alone in a cell that also has the joint's variable."""
        if (cell := row.keys.get(row.variable)) is None:
            return
        words = {"q", "theta"} if row.variable == "theta" else {"q", "d"}
        own = {row.keys["name"].text(), *words}
        own |= {f"{word}{sep}{number}" for word in words for sep in ("", "_")}
        limited = "limits" in row.keys
        drop_own_variable(cell, self._scope, own, self._variables - set(row.names), limited)
        if limited:
            reject_variable(cell, self._scope, self._variables)

    def _is_dependent(self, row: _TableRow) -> bool:
        """Return whether a row has a sum of joints in place of limits."""
        named = (
            joints_in(row.keys[row.variable], self._variables) if row.variable in row.keys else ()
        )
        if "limits" in row.keys:
            if named:
                raise row.keys["limits"].error(
                    f"contradict {row.variable}, by which the joint follows {' and '.join(named)}",
                    "delete them: its range follows from theirs",
                )
            if "effort" in row.keys:
                raise row.keys["effort"].error(
                    "is for a joint that follows others", "write it into limits"
                )
            return False
        if not named:
            if row.variable in row.keys:
                reject_unknown_names(row.keys[row.variable], self._scope, self._variables)
            raise row.field.error(
                f"has no limits, and {row.variable} names no joint that it follows",
                f"add {row.field.key}.limits, or write {row.variable} as a sum of joints",
            )
        return True

    @staticmethod
    def _limits(row: _TableRow) -> dict[str, Field]:
        axes = COMPOUND.get(row.type)
        if axes is None:
            return {row.names[0]: row.keys["limits"]}
        fields = row.keys["limits"].mapping(axes, required=axes)
        return dict(zip(row.names, (fields[axis] for axis in axes), strict=True))

    def check_offsets(self) -> None:
        """Raise an error for a d that is too long, unless those of parallel axes cancel."""
        longest, rows = self._scope.units.max_length, [self._dh_row(row) for row in self._rows]
        for run, total in parallel_runs(rows, self._convention):
            for i in run:
                if abs(rows[i].d) > longest and (len(run) == 1 or abs(total) > longest):
                    raise self._scope.too_long(self._rows[i].keys["d"], rows[i].d)

    def joints(self) -> tuple[Joint, ...]:
        """Return the independent joints."""
        rows = [row for row in self._rows if row.names[0] not in self.dependents]
        return tuple(joint for row in rows for joint in self._independent(row))

    def _independent(self, row: _TableRow) -> tuple[Joint, ...]:
        dh = self._dh_row(row)
        limits = [
            _read_limits(self._limit_fields[name], name, row.simple, self._scope, self._relations)
            for name in row.names
        ]
        if row.type in COMPOUND:
            by_axis = dict(zip(COMPOUND[row.type], limits, strict=True))
            name = row.keys["name"].text()
            return compound_joints(name, dh, by_axis, row.source, self._convention)
        return (Joint(row.names[0], row.simple, dh, source=row.source, **limits[0]),)

    def dependent_joints(self) -> tuple[DependentJoint, ...]:
        """Return the dependent joints."""
        found, index, leaders = [], 0, {joint.name: joint for joint in self.joints()}
        for row in self._rows:
            name = row.names[0]
            if name in self.dependents:
                followed = self._relations.followed(name)
                self._reject_used_names(row, followed.factors)
                dh = replace(self._dh_row(row), **{row.variable: followed.constant})
                joint = dependent_joint(
                    name, row.simple, dh, followed.factors, leaders, index, row.source
                )
                if "effort" in row.keys:
                    joint = replace(joint, effort=self._scope.positive(row.keys["effort"]))
                found.append(joint)
            index += len(row.names)
        return tuple(found)

    def _reject_used_names(self, row: _TableRow, terms: Sequence[tuple[str, float]]) -> None:
        """Raise an error if a mimic joint of the URDF would have the name of another joint."""
        used = {name for other in self._rows for name in other.names}
        for name in mimic_names(row.names[0], terms):
            if name in used - set(row.names):
                raise row.field.error(
                    f"the URDF needs the name {name!r} for a part of it", "rename that joint"
                )

    def _dh_row(self, row: _TableRow) -> DhRow:
        scope = self._scope
        read: dict[str, Callable[[Field], float]] = {
            "theta": scope.angle,
            "d": partial(scope.length, limit=MAX_OFFSET),
            "a": scope.length,
            "alpha": scope.angle,
        }
        if row.names[0] in self.dependents:
            del read[row.variable]
        values = {key: read[key](row.keys[key]) for key in read if key in row.keys}
        return DhRow(**{"theta": 0.0, "d": 0.0, "a": 0.0, "alpha": 0.0, **values})


def read_screws(
    field: Field, home: Field, scope: EvaluationContext
) -> tuple[tuple[Joint, ...], Origin, Origin]:
    """Read joints given by their axes, as the standard DH table of the same arm.

    Args:
        field: the axes, with every joint at 0.
        home: base_link <- flange, likewise.
        scope: of the file.

    Returns:
        The joints, base_link <- frame 0, and frame n <- flange.
    """
    screws = [SCREW.read(row) for row in field.items()]
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
    types = [cast(JointType, keys["type"].choice(LINEAR)) for keys in screws]
    limits = {name: keys["limits"] for name, keys in zip(names, screws, strict=True)}
    by_type = dict(zip(names, types, strict=True))
    relations = JointRelations(scope, by_type, {}, limits)
    joints = tuple(
        Joint(
            name,
            by_type[name],
            row,
            source=keys["source"].text() if "source" in keys else "",
            **_read_limits(limits[name], name, by_type[name], scope, relations),
        )
        for name, row, keys in zip(names, table.rows, screws, strict=True)
    )
    return joints, table.base, table.tool


def _axis_line(keys: Mapping[str, Field], scope: EvaluationContext) -> AxisLine:
    direction = np.array(triple(keys["axis"], scope.number))
    length = float(np.linalg.norm(direction))
    if not 0.0 < length < math.inf:
        raise keys["axis"].error("has no direction", "write for example [0, 0, 1]")
    at = np.array(triple(keys["at"], scope.length))
    return AxisLine(read_joint_name(keys["name"]), at, direction / length)


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
