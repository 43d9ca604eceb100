# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Units a robot file may be written in, and their conversion to metres and radians."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

# Length: how many of the unit make one metre, as a division by it keeps 105 mm exactly 0.105 m.
# 1 inch = 25.4 mm exactly (international yard and pound agreement, 1959).
PER_METRE: Mapping[str, float] = {"m": 1.0, "dm": 10.0, "mm": 1000.0}
METRES_PER_INCH = 0.0254
LENGTHS = (*PER_METRE, "inch")
ANGLES = ("deg", "rad")


@dataclass(frozen=True)
class Units:
    """Units of one file."""

    length: str  # one of ``LENGTHS``
    angle: str  # one of ``ANGLES``

    @property
    def radian(self) -> float:
        """One unit of angle in radians."""
        return 1.0 if self.angle == "rad" else math.pi / 180.0

    def unit(self, joint_type: str) -> str:
        """Return the unit of a joint's position, that of angles if the joint is revolute."""
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
        """Convert a joint's position of the file to radians (revolute) or metres."""
        return self.radians(value) if joint_type == "revolute" else self.metres(value)

    def written(self, value: float, joint_type: str) -> float:
        """Convert a joint's position in radians (revolute) or metres to the file's unit."""
        if joint_type == "revolute":
            return value if self.angle == "rad" else math.degrees(value)
        if self.length == "inch":
            return value / METRES_PER_INCH
        return value * PER_METRE[self.length]

    def text(self, value: float, joint_type: str) -> str:
        """Return a joint's position in radians (revolute) or metres with the file's unit."""
        return f"{self.written(float(value), joint_type):.6g} {self.unit(joint_type)}"


SI = Units("m", "rad")
