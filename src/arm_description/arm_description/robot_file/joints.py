# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_reader.py
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
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

from arm_common.yaml.document import Field
from arm_common.yaml.schema_types import Fields

from arm_description.model.constraints import LinearLimits
from arm_description.model.elements import (
    MAX_OFFSET,
    NO_MOTION,
    Axis,
    Convention,
    DependentJoint,
    DhRow,
    Joint,
    JointType,
    Origin,
    parallel_runs,
)
from arm_description.model.servo_types import SERVO_TYPES
from arm_description.robot_file import SECTIONS
from arm_description.robot_file.robot_keys import COMPOUND, DEFAULT_VELOCITY, LIMITS, MAX_ROWS, ROW
from arm_description.robot_file.scope import PREDEFINED, EvaluationContext, Section, read_name

_ENDS = ("lower", "upper")
# Lower and upper of a joint [rad or m], and its limits where they depend on other joints.
JointRange: TypeAlias = tuple[float, float, LinearLimits | None]


def read_limits(
    field: Field, joint_type: JointType, scope: EvaluationContext, bounds: JointRange
) -> dict[str, Any]:
    """Read the limits of one joint, or of one axis of a joint, as the arguments of Joint.

    Args:
        field: the limits.
        joint_type: type of the joint.
        scope: of the file.
        bounds: their lower and upper, already read.
    """
    keys = scope.read(LIMITS, field)
    lower, upper, constraint = bounds
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


def _effort(keys: Section, joint_type: JointType, scope: EvaluationContext) -> float:
    """Return the torque or force of a joint [N m or N], inf if the file gives none."""
    servo = keys.choice("servo", scope.servo)
    if "effort" in keys:
        return keys.number("effort")
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


@dataclass(frozen=True)
class JointTable:
    """What the joints of a file amount to."""

    convention: Convention
    joints: tuple[Joint, ...]
    dependents: tuple[DependentJoint, ...]
    base: Origin  # base_link <- frame 0
    end: Origin = NO_MOTION  # frame n <- where the tool begins
    as_written: bool = True  # whether the rows are those of the file


def read_table(
    keys: Mapping[str, Field], convention: Convention, scope: EvaluationContext
) -> JointTable:
    """Read the rows of the DH table, and the base before it."""
    field, base = keys["joints"], scope.origin(keys.get("base"))
    rows = field.items()
    if not rows:
        raise field.error("has no rows", "write one row for each joint")
    if len(rows) > MAX_ROWS:
        raise field.error(f"has {len(rows)} rows, at most {MAX_ROWS} are supported")
    table = JointRows([JointRow.read(row) for row in rows], convention, scope)
    if all(map(table.is_independent, table.rows)):
        joints = table.joints(table.range)
        return JointTable(convention, joints, (), base)
    joints, dependents = SECTIONS.load("related joints")(table, field)
    return JointTable(convention, joints, dependents, base)


@dataclass(frozen=True)
class JointRow:
    """One row: its keys, and the name of each of its joints."""

    field: Field
    type: str
    keys: Fields
    names: tuple[str, ...]  # one, or those of a universal or ball joint

    @classmethod
    def read(cls, row: Field) -> JointRow:
        """Read a row; its numbers are not evaluated."""
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
        """The origin of its numbers."""
        return self.keys.text("source")

    @cached_property
    def limits(self) -> dict[str, Field]:
        """The limits of its joints by name; they must be given."""
        axes = COMPOUND.get(self.type)
        if axes is None:
            return {self.names[0]: self.keys["limits"]}
        fields = self.keys["limits"].mapping(axes, required=axes)
        return dict(zip(self.names, (fields[axis] for axis in axes), strict=True))


class JointRows:
    """The rows of a table, and the joints that they describe.

    Attributes:
        rows: the rows from base to tool.
        types: type of each joint by name.
        scope: of the file.
    """

    def __init__(
        self, rows: Sequence[JointRow], convention: Convention, scope: EvaluationContext
    ) -> None:
        self.rows, self.scope, self._convention = rows, scope, convention
        self.types: dict[str, JointType] = {}
        for row in rows:
            for name in row.names:
                if name in self.types:
                    raise row.field.error(f"the name {name!r} is used twice", "rename one of them")
                self.types[name] = row.simple

    def is_independent(self, row: JointRow) -> bool:
        """Return whether a row has limits, and neither these nor its offset names a variable."""
        if "limits" not in row.keys or "effort" in row.keys:
            return False
        ends = [LIMITS.read(field)[end] for field in row.limits.values() for end in _ENDS]
        cells = [row.keys[row.variable]] if row.variable in row.keys else []
        predefined = PREDEFINED - self.types.keys()
        return all(predefined.issuperset(self.scope.names_in(cell)) for cell in (*cells, *ends))

    def range(self, joint: str, field: Field) -> JointRange:
        """Return lower and upper of a joint that depends on no other [rad or m]."""
        keys = LIMITS.read(field)
        lower, upper = (self.scope.position(keys[end], self.types[joint]) for end in _ENDS)
        return lower, upper, None

    def joints(
        self,
        read_range: Callable[[str, Field], JointRange],
        dependents: Collection[str] = (),
    ) -> tuple[Joint, ...]:
        """Return the independent joints; ``read_range`` takes a joint and its limits."""
        self._check_offsets(dependents)
        found: list[Joint] = []
        for row in self.rows:
            if row.names[0] not in dependents:
                limits = [
                    read_limits(field, row.simple, self.scope, read_range(name, field))
                    for name, field in row.limits.items()
                ]
                found += self._joints_of(row, limits)
        return tuple(found)

    def _joints_of(self, row: JointRow, limits: Sequence[dict[str, Any]]) -> tuple[Joint, ...]:
        dh = self.dh_row(row)
        if row.type in COMPOUND:
            by_axis = dict(zip(COMPOUND[row.type], limits, strict=True))
            name = row.keys["name"].text()
            return compound_joints(name, dh, by_axis, row.source, self._convention)
        return (Joint(row.names[0], row.simple, dh, source=row.source, **limits[0]),)

    def _check_offsets(self, dependents: Collection[str]) -> None:
        """Raise an error for a d that is too long, unless those of parallel axes cancel."""
        longest = self.scope.units.max_length
        rows = [self.dh_row(row, row.names[0] in dependents) for row in self.rows]
        for run, total in parallel_runs(rows, self._convention):
            for i in run:
                if abs(rows[i].d) > longest and (len(run) == 1 or abs(total) > longest):
                    raise self.scope.too_long(self.rows[i].keys["d"], rows[i].d)

    def dh_row(self, row: JointRow, dependent: bool = False) -> DhRow:
        """Return the numbers of a row, without the variable of a dependent joint."""
        scope = self.scope
        read: dict[str, Callable[[Field], float]] = {
            "theta": scope.angle,
            "d": partial(scope.length, limit=MAX_OFFSET),
            "a": scope.length,
            "alpha": scope.angle,
        }
        if dependent:
            del read[row.variable]
        values = {key: read[key](row.keys[key]) for key in read if key in row.keys}
        return DhRow(**{"theta": 0.0, "d": 0.0, "a": 0.0, "alpha": 0.0, **values})


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
