# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""New values of a servo, as they are measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from arm_hardware.calibration.calibration import ServoCalibration
from arm_hardware.calibration.file import TO_SI, Wires, file_unit, monotonic
from arm_hardware.calibration.writing.changes import DECIMALS, changed_keys, within_reach


class MeasuredPoint(NamedTuple):
    """Positions of a joint and of its servo [deg or mm], and the setpoint there."""

    joint: float
    place: float
    setpoint: float


class CalibrationDraft:
    """New points and pulse limits of a servo; positions in deg or mm."""

    def __init__(self, servo: ServoCalibration, wires: Wires) -> None:
        self.servo = servo  # as in the file
        self._wires = wires
        self.unit = file_unit(servo)
        self._si = TO_SI[self.unit]
        # Position of the servo -> setpoint, in order of measurement.
        self.points: dict[float, float] = {}
        self.channel = servo.channel
        # New (least, most) setpoint, None if not set.
        self.clamp: list[float | None] = [None, None]
        self.compliances: list[float] = []  # readings of 1 / stiffness [rad/(N m) or m/N]

    def point(self, joint: float, position: float, setpoint: float) -> MeasuredPoint:
        """Return a point measured at a joint's and at its actuator's position, not yet added.

        Raises:
            ValueError: It contradicts the other points.
        """
        place = round(self.servo.sign * position + self.servo.zero / self._si, DECIMALS)
        setpoint = round(setpoint, DECIMALS)
        points = dict(sorted({**self.points, place: setpoint}.items()))
        if not monotonic(list(points.values())):
            raise ValueError(
                "with the other points, pulses would neither rise nor fall throughout"
            )
        return MeasuredPoint(joint, place, setpoint)

    def add(self, point: MeasuredPoint) -> None:
        """Add a measured point as the last one."""
        self.points.pop(point.place, None)
        self.points[point.place] = point.setpoint

    def keep_file_points(self) -> None:
        """Add the file's points to the new ones."""
        old = {round(place / self._si, DECIMALS): us for place, us in self.servo.points}
        self.points = {**old, **self.points}

    def undo(self) -> None:
        """Remove the last point."""
        if self.points:
            self.points.popitem()

    def joint_position(self, place: float) -> float:
        """Return the joint position at a servo position."""
        return self.servo.sign * (place - self.servo.zero / self._si)

    def result(self, today: date) -> ServoCalibration:
        """Return the updated servo; the old points remain until there are two new ones."""
        servo, old = replace(self.servo, channel=self.channel), self.servo.setpoint_limits
        if len(self.points) >= 2:
            rows = tuple(sorted((place * self._si, us) for place, us in self.points.items()))
            servo = replace(servo, points=rows, calibrated=today)
            old = min(self.points.values()), max(self.points.values())
        least, most = self.clamp
        clamp = (old[0] if least is None else least, old[1] if most is None else most)
        if self.compliances:
            servo = replace(servo, stiffness=len(self.compliances) / sum(self.compliances))
        return within_reach(replace(servo, setpoint_limits=clamp))

    def values(self, today: date) -> Mapping[str, str]:
        """Return the keys of the file that change, as YAML."""
        return changed_keys(self.servo, self.result(today), self._wires)


def number(text: str) -> float:
    """Return a typed number; raise ValueError with the reason if it is none."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
    if not math.isfinite(value) or abs(value) > 1e4:
        raise ValueError(f"{text} is not a position")
    return value
