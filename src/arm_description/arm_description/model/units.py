# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Units in which people read and write lengths and angles: conversion, rounding, both ways."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from arm_common.errors import number_text
from arm_common.yaml.expressions import Expressions


@dataclass(frozen=True)
class Unit:
    """A unit of lengths or of angles."""

    written: Callable[[float], float]  # converts from metres or radians
    si: Callable[[float], float]  # converts to metres or radians
    decimals: int  # about a millionth of a metre or radian, a tenth of the tolerance of IK
    plural: str  # its name


def _length(per_metre: float, decimals: int, plural: str) -> Unit:
    """Return a unit of lengths; dividing by `per_metre` keeps 105 mm exactly 0.105 m."""
    return Unit(lambda x: x * per_metre, lambda x: x / per_metre, decimals, plural)


METRES_PER_INCH = 0.0254  # exactly (international yard and pound agreement, 1959)
UNITS: Mapping[str, Unit] = {
    "m": _length(1.0, 6, "metres"),
    "dm": _length(10.0, 5, "decimetres"),
    "cm": _length(100.0, 4, "centimetres"),
    "mm": _length(1000.0, 3, "millimetres"),
    "inch": Unit(lambda x: x / METRES_PER_INCH, lambda x: x * METRES_PER_INCH, 5, "inches"),
    "deg": Unit(math.degrees, math.radians, 4, "degrees"),
    "rad": Unit(float, float, 6, "radians"),
}
ANGLES = ("deg", "rad")
LENGTHS = tuple(name for name in UNITS if name not in ANGLES)
# A number and its unit, as 30deg or (10 + 20) mm, but not a name that ends as a unit does.
_WITH_UNIT = re.compile(rf"(.*[\d.)\s])({'|'.join(UNITS)})", re.DOTALL)


@dataclass(frozen=True)
class Units:
    """Units of one file."""

    length: str  # one of ``LENGTHS``
    angle: str  # one of ``ANGLES``
    max_length: float = 20.0  # longer ones mean a mistaken unit: millimetres read as metres [m]

    def using(self, unit: str) -> Units:
        """Return these units with a unit of lengths or of angles in place of the present one."""
        return replace(self, angle=unit) if unit in ANGLES else replace(self, length=unit)

    @property
    def radian(self) -> float:
        """Size of the angle unit in radians."""
        return self.radians(1.0)

    def unit(self, joint_type: str) -> str:
        """Return the unit of a joint position: that of angles for a revolute joint."""
        return self.angle if joint_type == "revolute" else self.length

    def metres(self, value: float) -> float:
        """Convert a length of the file to metres."""
        return UNITS[self.length].si(value)

    def radians(self, value: float) -> float:
        """Convert an angle of the file to radians."""
        return UNITS[self.angle].si(value)

    def si(self, value: float, joint_type: str) -> float:
        """Convert a joint position of the file to radians (revolute) or metres."""
        return UNITS[self.unit(joint_type)].si(value)

    def written(self, value: float, joint_type: str) -> float:
        """Convert a joint position in radians (revolute) or metres to the unit of the file."""
        return UNITS[self.unit(joint_type)].written(value)

    def number(
        self, value: float, joint_type: str, digits: int = 6, decimals: int | None = None
    ) -> str:
        """Format a joint position in radians (revolute) or metres in the unit of the file.

        It has no zeros at its end, and the decimals of the unit at most if none are given.
        """
        most = UNITS[self.unit(joint_type)].decimals if decimals is None else decimals
        return number_text(self.written(float(value), joint_type), digits, most)

    def text(self, value: float, joint_type: str, digits: int = 6) -> str:
        """Format a joint position as `number` does, with the unit of the file."""
        return f"{self.number(value, joint_type, digits)} {self.unit(joint_type)}"

    def rounded(self, value: float, joint_type: str, decimals: int = 1) -> str:
        """Format a joint position with all these decimals, in the unit of the file."""
        number = round(self.written(float(value), joint_type), decimals) + 0.0  # never -0
        return f"{number:.{decimals}f}"

    def fixed(self, value: float, joint_type: str, decimals: int = 1) -> str:
        """Format a joint position as `rounded` does, with the unit: 12.0 mm, 30.5 deg."""
        return f"{self.rounded(value, joint_type, decimals)} {self.unit(joint_type)}"

    def named(self, text: str, joint_type: str) -> tuple[Units, str]:
        """Return these units, with the one that ends a text, and the text without it."""
        found = _WITH_UNIT.fullmatch(text.strip())
        if found is None or (found[2] in ANGLES) != (joint_type == "revolute"):
            return self, text
        return self.using(found[2]), found[1].strip()

    def read(self, text: str, joint_type: str) -> float:
        """Return a number or expression, with or without a unit, as SI, or raise InputError."""
        units, number = self.named(text, joint_type)
        return units.evaluate(number, joint_type)

    def evaluate(self, text: str, joint_type: str) -> float:
        """Return a number or expression without a unit as SI, or raise InputError."""
        return self.si(Expressions({}, self.radian).evaluate(text), joint_type)


SI = Units("m", "rad")
SHOWN = Units("mm", "deg")
"""Units of messages and pictures that do not belong to a file."""


def mm(length: float, decimals: int | None = None) -> str:
    """Format a length [m] for a message: 12.0 mm with one decimal, 12 mm or 6.35 mm with None."""
    if decimals is None:
        return f"{SHOWN.number(length, 'prismatic', decimals=9)} mm"
    return SHOWN.fixed(length, "prismatic", decimals)


def deg(angle: float, decimals: int) -> str:
    """Format an angle [rad] for a message: 30.5 deg with one decimal."""
    return SHOWN.fixed(angle, "revolute", decimals)


def millimetres(xyz: Iterable[float]) -> str:
    """Return coordinates [m] for a message, in millimetres: 12.0, -3.5, 0.0."""
    return ", ".join(SHOWN.rounded(value, "prismatic") for value in xyz)


def with_degree_sign(text: str) -> str:
    """Return a text with the sign of degrees, where space is scarce: 30.5°."""
    return text.replace(" deg", "°")
