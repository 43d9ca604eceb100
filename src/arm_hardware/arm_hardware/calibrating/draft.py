# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What was measured of one servo and is not written yet."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from arm_hardware.calibration import Servo
from arm_hardware.calibration_file import TO_SI
from arm_hardware.calibration_text import DECIMALS, changed_keys, unit_of, within_reach


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
        self.unit = unit_of(servo)
        self._si = TO_SI[self.unit]
        self.points: dict[float, float] = {}
        self.clamp: list[float | None] = [None, None]

    def note(self, position: float, pulse_us: float) -> None:
        """Add a point: the joint stands at a position with this pulse.

        Raises:
            ValueError: It does not fit the others; says why.
        """
        place = round(self.servo.sign * position + self.servo.zero / self._si, DECIMALS)
        pulse_us = round(pulse_us, DECIMALS)
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
        old = {round(place / self._si, DECIMALS): us for place, us in self.servo.points}
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
        servo, old = self.servo, self.servo.pulse_limits_us
        if len(self.points) >= 2:
            rows = tuple(sorted((place * self._si, us) for place, us in self.points.items()))
            servo = replace(servo, points=rows, calibrated=today)
            old = min(self.points.values()), max(self.points.values())
        least, most = self.clamp
        clamp = (old[0] if least is None else least, old[1] if most is None else most)
        return within_reach(replace(servo, pulse_limits_us=clamp))

    def values(self, today: date) -> Mapping[str, str]:
        """Return the keys of the file that change, as YAML; none if nothing was found out."""
        return changed_keys(self.servo, self.result(today))
