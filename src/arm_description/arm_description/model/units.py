# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/trajectories/test_files.py
"""Units of robot files and their conversion to metres and radians."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from arm_common.errors import number_text

# Units per metre: dividing by this keeps 105 mm exactly 0.105 m.
# 1 inch = 25.4 mm exactly (international yard and pound agreement, 1959).
PER_METRE: Mapping[str, float] = {"m": 1.0, "dm": 10.0, "cm": 100.0, "mm": 1000.0}
METRES_PER_INCH = 0.0254
LENGTHS = (*PER_METRE, "inch")
ANGLES = ("deg", "rad")
_DECIMALS = {"m": 6, "dm": 5, "cm": 4, "mm": 3, "inch": 5, "rad": 6, "deg": 4}


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
        return 1.0 if self.angle == "rad" else math.pi / 180.0

    def unit(self, joint_type: str) -> str:
        """Return the unit of a joint position: that of angles for a revolute joint."""
        return self.angle if joint_type == "revolute" else self.length

    def metres(self, value: float) -> float:
        """Convert a length of the file to metres."""
        if self.length == "inch":
            return value * METRES_PER_INCH
        return value / PER_METRE[self.length]

    def radians(self, value: float) -> float:
        """Convert an angle of the file to radians."""
        return value if self.angle == "rad" else math.radians(value)

    def si(self, value: float, joint_type: str) -> float:
        """Convert a joint position of the file to radians (revolute) or metres."""
        return self.radians(value) if joint_type == "revolute" else self.metres(value)

    def written(self, value: float, joint_type: str) -> float:
        """Convert a joint position in radians (revolute) or metres to the unit of the file."""
        if joint_type == "revolute":
            return value if self.angle == "rad" else math.degrees(value)
        if self.length == "inch":
            return value / METRES_PER_INCH
        return value * PER_METRE[self.length]

    def number(self, value: float, joint_type: str, digits: int = 6) -> str:
        """Format a joint position in radians (revolute) or metres in the unit of the file.

        It is rounded to about a millionth of a radian or metre, a tenth of the tolerance of IK.
        """
        decimals = _DECIMALS[self.unit(joint_type)]
        return number_text(self.written(float(value), joint_type), digits, decimals)

    def text(self, value: float, joint_type: str, digits: int = 6) -> str:
        """Format a joint position as `number` does, with the unit of the file."""
        return f"{self.number(value, joint_type, digits)} {self.unit(joint_type)}"


SI = Units("m", "rad")
SHOWN = Units("mm", "deg")
"""Units of messages and pictures that do not belong to a file."""


def exact_text(value: float) -> str:
    """Return the shortest text of a number that reads back as the same double."""
    return repr(value + 0.0).removesuffix(".0")
