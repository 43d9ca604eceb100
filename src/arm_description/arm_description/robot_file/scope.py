# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What every section of a robot file is read with: the units and the constants of that file."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..elements import Origin, Triple
from ..errors import DescriptionError
from ..expressions import Expressions, constant_name_problem
from ..units import ANGLES, LENGTHS, Units
from ..yaml_fields import Field

# Bounds that only a mistaken unit exceeds: millimetres read as metres, degrees as radians.
LONGEST = 20.0
MOST_ROTATION = 2.0 * math.pi * 10.0
FORBIDDEN_IN_NAMES = "/$<>&"


@dataclass(frozen=True)
class Scope:
    """Units and constants of one file.

    Attributes:
        units: units of all numbers in the file.
        expressions: evaluator over the file's constants.
    """

    units: Units
    expressions: Expressions

    def number(self, field: Field) -> float:
        """Read a number or an expression, in the file's units."""
        text = field.raw("a number or an expression")
        if text.lower().lstrip("+-") in (".nan", ".inf", "nan", "inf", "infinity"):
            raise field.error(f"{text} is not finite", "write a finite number")
        try:
            return self.expressions.evaluate(text)
        except DescriptionError as error:
            raise field.error(error.problem, error.remedy) from None

    def length(self, field: Field) -> float:
        """Read a length in metres."""
        value = self.units.metres(self.number(field))
        if abs(value) > LONGEST:
            raise field.error(f"is {value:g} m", f"is units.length = {self.units.length} right?")
        return value

    def positive_length(self, field: Field) -> float:
        """Read a length above zero in metres."""
        value = self.length(field)
        if value <= 0.0:
            raise field.error("must be more than 0")
        return value

    def angle(self, field: Field, most: float = 2.0 * math.pi) -> float:
        """Read an angle in radians, of at most the given size."""
        value = self.units.radians(self.number(field))
        if abs(value) > most + 1e-9:
            raise field.error(
                f"is {math.degrees(value):g} deg", f"is units.angle = {self.units.angle} right?"
            )
        return value

    def position(self, field: Field, joint_type: str) -> float:
        """Read a position of a joint in radians or metres."""
        if joint_type == "revolute":
            return self.angle(field, MOST_ROTATION)
        return self.length(field)

    def rate(self, field: Field, joint_type: str) -> float:
        """Read a speed or acceleration of a joint, in radians or metres per second (squared)."""
        number = self.number(field)
        value = (
            self.units.radians(number) if joint_type == "revolute" else self.units.metres(number)
        )
        if value <= 0.0:
            raise field.error("must be more than 0")
        return value

    def origin(self, field: Field | None) -> Origin:
        """Read a transform ``{xyz: [..], rpy: [..]}``, no transform if there is none."""
        if field is None:
            return Origin()
        parts = field.mapping(("xyz", "rpy"))
        xyz, rpy = parts.get("xyz"), parts.get("rpy")
        return Origin(
            self._triple(xyz, "length") if xyz else (0.0, 0.0, 0.0),
            self._triple(rpy, "angle") if rpy else (0.0, 0.0, 0.0),
        )

    def _triple(self, field: Field, kind: str) -> Triple:
        items = field.items()
        if len(items) != 3:
            raise field.error(f"must be three numbers, not {len(items)}", "write [x, y, z]")
        x, y, z = (self.length(i) if kind == "length" else self.angle(i) for i in items)
        return (x, y, z)


def read_units(field: Field) -> Units:
    """Read ``units: {length: .., angle: ..}``."""
    parts = field.mapping(("length", "angle"), required=("length", "angle"))
    return Units(parts["length"].choice(LENGTHS), parts["angle"].choice(ANGLES))


def read_scope(units: Units, field: Field | None) -> Scope:
    """Read ``constants`` and evaluate each once, so that a wrong one is named on its own line."""
    fields = field.mapping(None) if field else {}
    for name, value in fields.items():
        problem = constant_name_problem(name)
        if problem:
            raise value.error(problem)
    texts = {name: value.raw("a number or an expression") for name, value in fields.items()}
    scope = Scope(units, Expressions(texts, units.radian))
    for name, value in fields.items():
        scope.number(value)
        scope.expressions.constant(name)
    return scope


def read_name(field: Field) -> str:
    """Read a name that may become part of frame names, topics and XML."""
    name = field.text()
    bad = [c for c in name if c.isspace() or not c.isprintable() or c in FORBIDDEN_IN_NAMES]
    if bad:
        raise field.error(f"{name!r} holds {bad[0]!r}", "use letters, digits, _ and -")
    return name
