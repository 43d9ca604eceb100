# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What was measured of one servo and is not written yet."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from arm_hardware.calibration import Servo
from arm_hardware.calibration_file import TO_SI


class Draft:
    """New points and pulse limits of a servo; positions of the joint in deg or mm.

    Attributes:
        servo: As its file has it.
        unit: "deg" or "mm".
        points: New ones: position of the servo -> pulse [us], in the order of their measurement.
        clamp: New (least, most) pulse, None where not set.
    """

    def __init__(self, servo: Servo) -> None:
        self.servo = servo
        self.unit = "deg" if servo.unit == "rad" else "mm"
        self._si = TO_SI[self.unit]
        self.points: dict[float, float] = {}
        self.clamp: list[float | None] = [None, None]

    def note(self, position: float, pulse_us: float) -> None:
        """Add a point: the joint stands at a position with this pulse.

        Raises:
            ValueError: It does not fit the others; says why.
        """
        place = round(self.servo.sign * position + self.servo.zero / self._si, 3)
        pulse_us = round(pulse_us, 3)
        points = dict(sorted({**self.points, place: pulse_us}.items()))
        steps = [b - a for a, b in itertools.pairwise(points.values())]
        if not (all(s > 0 for s in steps) or all(s < 0 for s in steps)):
            raise ValueError(
                "with the other points, pulses would neither rise nor fall throughout"
            )
        self.points.pop(place, None)
        self.points[place] = pulse_us

    def keep_old(self) -> None:
        """Take the file's points into the new ones."""
        old = {round(place / self._si, 3): us for place, us in self.servo.points}
        self.points = {**old, **self.points}

    def take_back(self) -> None:
        """Forget the last point."""
        if self.points:
            self.points.popitem()

    def joint(self, place: float) -> float:
        """Return where the joint stands while the servo is at a place [both deg or mm]."""
        return self.servo.sign * (place - self.servo.zero / self._si)

    def result(self, today: date) -> Servo:
        """Return the servo as it is known now; the old points stay until there are two new."""
        servo = self.servo
        pulses = [pulse for _, pulse in servo.points]
        if len(self.points) >= 2:
            rows = tuple(sorted((place * self._si, us) for place, us in self.points.items()))
            servo = replace(servo, points=rows, calibrated=today)
            pulses = list(self.points.values())
            old = (min(pulses), max(pulses))
        else:
            old = servo.pulse_limits_us
        least, most = self.clamp
        clamp = (old[0] if least is None else least, old[1] if most is None else most)
        servo = replace(servo, pulse_limits_us=clamp)
        reach = servo.map(1.0)
        limits = max(servo.limits[0], reach.lower), min(servo.limits[1], reach.upper)
        return servo if math.isinf(servo.limits[0]) else replace(servo, limits=limits)

    def values(self, today: date) -> Mapping[str, str]:
        """Return the keys of the file that change, as YAML; none if nothing was found out."""
        old, new = self.servo, self.result(today)
        values: dict[str, str] = {}
        if new.points != old.points:
            pairs = ", ".join(f"[{number(p / self._si)}, {number(us)}]" for p, us in new.points)
            values[f"points_{self.unit}_us"] = f"[{pairs}]"
        if new.pulse_limits_us != old.pulse_limits_us:
            values["pulse_limits_us"] = _pair(*new.pulse_limits_us)
        if new.limits != old.limits:
            lower, upper = (value / self._si * 1e3 for value in new.limits)
            inside = math.ceil(lower - 1e-6) / 1e3, math.floor(upper + 1e-6) / 1e3
            values[f"limits_{self.unit}"] = _pair(*inside)
        if len(self.points) >= 2:
            values["calibrated"] = today.isoformat()
        return values


def number(value: float) -> str:
    """Return a number of a file, in finer steps than any board or protractor has."""
    return f"{round(value, 3):.12g}"


def _pair(low: float, high: float) -> str:
    return f"[{number(low)}, {number(high)}]"
