# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Numbers of a robot file as text: the shortest that is read back as the very same double."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..units import METRES_PER_INCH, PER_METRE, Units

# Turns that a person writes as a fraction of pi in a file in radians.
_DENOMINATORS = (1, 2, 3, 4, 6, 8, 12)
_MOST_PIS = 24


class NotExactError(ValueError):
    """No text in this unit is read back as the same double."""


def length_text(metres: float, units: Units) -> str:
    """Text of a length (or rate of a length) in the file's unit.

    Args:
        metres: the length [m].
        units: units of the file.

    Raises:
        NotExactError: the unit has no such text.
    """
    inches = units.length == "inch"
    guess = metres / METRES_PER_INCH if inches else metres * PER_METRE[units.length]
    return _shortest(metres, guess, units.metres)


def angle_text(radians: float, units: Units) -> str:
    """Text of an angle (or rate of an angle) in the file's unit, over pi where that is exact.

    Args:
        radians: the angle [rad].
        units: units of the file.

    Raises:
        NotExactError: the unit has no such text.
    """
    if units.angle == "deg":
        return _shortest(radians, math.degrees(radians), units.radians)
    return _over_pi(radians) or number_text(radians)


def number_text(value: float) -> str:
    """Shortest text of a number in no unit or the file's own."""
    return repr(value + 0.0).removesuffix(".0")


def _shortest(value: float, guess: float, read: Callable[[float], float]) -> str:
    for digits in range(1, 18):
        written = float(f"{guess:.{digits}g}")
        if read(written) == value:
            return number_text(written)
    for written in (math.nextafter(guess, -math.inf), math.nextafter(guess, math.inf)):
        if read(written) == value:
            return number_text(written)
    raise NotExactError(value)


def _over_pi(radians: float) -> str:
    """The text ``n*pi/m`` if it is evaluated to exactly this angle, else nothing."""
    for below in _DENOMINATORS:
        count = round(radians * below / math.pi)
        if 0 < abs(count) <= _MOST_PIS and count * math.pi / below == radians:
            over = f"/{below}" if below > 1 else ""
            times = {1: "", -1: "-"}.get(count, f"{count}*")
            return f"{times}pi{over}"
    return ""
