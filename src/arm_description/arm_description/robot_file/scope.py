# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_hostile_text.py
"""Units and constants of a robot file, used to read every section.

Errors in a file are DescriptionErrors that name file, line and key.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from arm_common.yaml.document import Field
from arm_common.yaml.expressions import (
    RESERVED,
    Expressions,
    constant_name_problem,
    parse_expression,
)
from arm_common.yaml.schema_types import Fields, Leaf, Table

from arm_description.errors import DescriptionError
from arm_description.model.elements import NO_MOTION, Origin, Triple
from arm_description.model.units import SI, Units
from arm_description.robot_file import robot_keys

# Larger values mean a mistaken unit: degrees read as radians.
MAX_ROTATION = 2.0 * math.pi * 10.0  # [rad]
MAX_VELOCITY = {"revolute": 200.0, "prismatic": 50.0}  # [rad/s or m/s]
MAX_CONSTANTS = 1000
MAX_NAME_LENGTH = 100
FORBIDDEN_IN_NAMES = "/$<>&"
PREDEFINED = RESERVED - {"q"}  # names with a meaning in expressions; q is a joint's variable
_DECIMALS = re.compile(r"[+-]?\d*\.(\d{2,})")


@dataclass(frozen=True)
class EvaluationContext:
    """Units and constants of one file."""

    units: Units  # units of all numbers in the file
    expressions: Expressions  # evaluator over the file's constants
    folder: Path = Path()  # of the file, for the files that it names
    servo: str = ""  # the servo of joints that name none, a key of SERVO_TYPES

    def read(self, table: Table, field: Field) -> Section:
        """Read a mapping of a file."""
        return Section(table.read(field), self)

    def number(self, field: Field, leaf: Leaf = robot_keys.NUMBER) -> float:
        """Read a number or an expression, without a unit or in SI units."""
        return leaf.check(field, self._evaluate(field))

    def _evaluate(self, field: Field) -> float:
        field = sourced_value(field)
        try:
            return self.expressions.evaluate(field.raw("a number or an expression"))
        except DescriptionError as error:
            raise field.error(error.problem, error.remedy) from None

    def names_in(self, field: Field) -> tuple[str, ...]:
        """Return the names in an expression but those of constants, in the order of the text.

        There are none in what is not an expression.
        """
        value = sourced_value(field)
        if value.is_list or value.is_mapping:
            return ()
        try:
            tree = parse_expression(value.raw("a number or an expression"))
        except DescriptionError:
            return ()  # reported where it is evaluated
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        found.sort(key=lambda node: node.col_offset)
        constants = frozenset(self.expressions.names)
        return tuple(dict.fromkeys(n.id for n in found if n.id not in constants))

    def length(self, field: Field, leaf: Leaf = robot_keys.LENGTH, limit: float = 0.0) -> float:
        """Read a length in metres; it must not exceed the limit, by default that of the file."""
        value = self.units.metres(self._evaluate(field))
        if abs(value) > (limit or self.units.max_length):
            raise self.too_long(field, value)
        return leaf.check(field, value)

    def too_long(self, field: Field, value: float) -> Exception:
        """Return the error of a length [m] that is longer than an arm's."""
        longest = f"{self.units.written(self.units.max_length, 'prismatic'):.9g}"
        remedy = f"{self._check_unit('prismatic')}; above {longest} {self.units.length} give also "
        return field.error(f"is {value:g} m", f"{remedy}units.max_length")

    def angle(
        self, field: Field, leaf: Leaf = robot_keys.ANGLE, limit: float = 2.0 * math.pi
    ) -> float:
        """Read an angle in radians; its absolute value must not exceed the limit."""
        value = self.units.radians(self._evaluate(field))
        if abs(value) > limit + 1e-9:
            raise field.error(f"is {math.degrees(value):g} deg", self._check_unit("revolute"))
        if self.units.angle == "deg":
            _reject_radians(sourced_value(field))
        return leaf.check(field, value)

    def position(self, field: Field, joint_type: str, leaf: Leaf = robot_keys.POSITION) -> float:
        """Read a joint position in radians or metres."""
        if joint_type == "revolute":
            return self.angle(field, leaf, MAX_ROTATION)
        return self.length(field, leaf)

    def velocity(self, field: Field, joint_type: str) -> float:
        """Read a joint speed in radians or metres per second."""
        value = robot_keys.RATE.check(field, self.units.si(self._evaluate(field), joint_type))
        if value > MAX_VELOCITY[joint_type]:
            unit = SI.unit(joint_type)
            raise field.error(f"is {value:g} {unit}/s", self._check_unit(joint_type))
        return value

    def _check_unit(self, joint_type: str) -> str:
        key = "angle" if joint_type == "revolute" else "length"
        return f"check units.{key} = {self.units.unit(joint_type)}"

    def acceleration(self, field: Field | None, joint_type: str, velocity: float) -> float:
        """Read an acceleration in radians or metres per second squared.

        By default the maximum speed is reached in the time robot_keys.RAMP.
        """
        if field is None:
            return velocity / robot_keys.RAMP
        return robot_keys.ACCELERATION.check(
            field, self.units.si(self._evaluate(field), joint_type)
        )

    def origin(self, field: Field | None) -> Origin:
        """Read a transform ``{xyz: [..], rpy: [..]}``, identity if there is no field."""
        if field is None:
            return NO_MOTION
        return self.read(robot_keys.ORIGIN, field).origin()


class Section(Fields):
    """The keys of one mapping, whose numbers are read in the units of the file."""

    def __init__(self, fields: Fields, scope: EvaluationContext) -> None:
        super().__init__(fields, fields.table)
        self._scope = scope

    def number(self, name: str, otherwise: float | None = None) -> float:
        """Return a number or an expression; if it is omitted its default, or the other value."""
        return self.read(name, self._scope.number, otherwise)

    def length(self, name: str, otherwise: float | None = None) -> float:
        """Return a length [m], likewise."""
        return self.read(name, self._scope.length, otherwise)

    def angle(self, name: str, otherwise: float | None = None) -> float:
        """Return an angle [rad], likewise."""
        return self.read(name, self._scope.angle, otherwise)

    def lengths(self, name: str) -> Triple:
        """Return three lengths [m]."""
        return self._triple(name, self._scope.length)

    def origin(self, xyz: str = "xyz") -> Origin:
        """Return the transform of the key of its position, and of ``rpy``."""
        return Origin(self.lengths(xyz), self._triple("rpy", self._scope.angle))

    def _triple(self, name: str, read: Callable[[Field, Leaf], float]) -> Triple:
        leaf = self.table.leaf(name)
        given = triple(self[name], lambda item: read(item, leaf)) if name in self else None
        return given or self.default(name)


def triple(field: Field, read: Callable[[Field], float]) -> Triple:
    """Read a list of three numbers, each with the given function."""
    items = robot_keys.LENGTHS_3.items(field, "numbers", "write [x, y, z]")
    x, y, z = (read(item) for item in items)
    return (x, y, z)


def sourced_value(field: Field) -> Field:
    """Return the value of ``{value: 80, source: ..}``, or the field itself if it is plain."""
    if not field.is_mapping:
        return field
    keys = robot_keys.SOURCED.read(field)
    keys["source"].text()
    return keys["value"]


def read_scope(keys: Mapping[str, Field], folder: Path = Path()) -> EvaluationContext:
    """Read ``units`` and ``constants``; evaluate each, so that errors name the constant's line."""
    units, field = read_units(keys["units"]), keys.get("constants")
    fields = field.mapping(None) if field else {}
    if field and len(fields) > MAX_CONSTANTS:
        raise field.error(f"has {len(fields)} names, at most {MAX_CONSTANTS} are supported")
    for name, value in fields.items():
        problem = constant_name_problem(name)
        if problem:
            raise value.error(problem)
    texts = {name: sourced_value(f).raw("a number or an expression") for name, f in fields.items()}
    scope = EvaluationContext(units, Expressions(texts, units.radian), folder)
    for name in fields:
        try:
            scope.expressions.constant(name)
        except DescriptionError as error:
            raise fields[error.key].error(error.problem, error.remedy) from None
    return scope


def read_units(field: Field, max_length: float = Units.max_length) -> Units:
    """Read ``units: {length: .., angle: .., max_length: ..}``; the default of the last in m."""
    parts = robot_keys.UNITS.read(field)
    units = Units(parts.choice("length"), parts.choice("angle"), max_length)
    if "max_length" not in parts:
        return units
    scope = EvaluationContext(units, Expressions({}, units.radian))
    return replace(
        units, max_length=units.metres(scope.number(parts["max_length"], robot_keys.SIZE))
    )


def read_name(field: Field) -> str:
    """Read a name that is valid in frame names, topics and XML."""
    name = field.text()
    problem, remedy = name_problem(name)
    if problem:
        raise field.error(problem, remedy)
    return name


def name_problem(name: str) -> tuple[str, str]:
    """Return the problem of a name and its remedy, both "" for a valid name."""
    bad = [c for c in name if c.isspace() or not c.isprintable() or c in FORBIDDEN_IN_NAMES]
    if bad:
        return f"{name!r} contains {bad[0]!r}", "use letters, digits, _ and -"
    if len(name) > MAX_NAME_LENGTH:
        return f"is a name of {len(name)} characters", f"use at most {MAX_NAME_LENGTH}"
    return "", ""


def _reject_radians(field: Field) -> None:
    """Reject 1.5708 in a file in degrees: it is a multiple of pi/2 rounded to its decimals."""
    text = field.raw("an angle")
    match = _DECIMALS.fullmatch(text)
    if match is None:
        return
    quarters = round(float(text) / (math.pi / 2))
    if quarters and round(quarters * math.pi / 2, len(match[1])) == float(text):
        raise field.error(
            f"{text} is {quarters}*pi/2 in radians, but this file's angles are in deg",
            f"write {90 * quarters}, or deg({text}) if you mean that small angle",
        )
