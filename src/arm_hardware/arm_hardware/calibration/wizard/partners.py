# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Servos that share a joint: where one must be when another one holds it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from arm_description.transmissions.transmission import SeveralActuatorsTransmission

from arm_description import RobotModel
from arm_hardware.calibration.calibration import ServoCalibration


class ServoPartners:
    """Which servos share a joint with which."""

    def __init__(self, model: RobotModel | None, count_us: float) -> None:
        """Find the groups of a robot, none without one; a count is ``count_us`` long [us]."""
        drives = (
            zip(model.drivetrain.actuators, model.drivetrain.drives(), strict=True)
            if model
            else ()
        )
        self._drives = {
            name: (drive.transmission, drive.output)
            for name, drive in drives
            if isinstance(drive.transmission, SeveralActuatorsTransmission)
        }
        self._count_us = count_us

    def of(self, name: str) -> tuple[str, ...]:
        """Return the other servos on the joint of a servo."""
        if name not in self._drives:
            return ()
        return tuple(other for other in self._drives[name][0].actuators if other != name)

    def count_beside(
        self, name: str, other: str, servos: Mapping[str, ServoCalibration], count: int
    ) -> int:
        """Return the count of a servo where another one on its joint has a count."""
        place = servos[other].map(self._count_us).position_of(count)
        return servos[name].map(self._count_us).count_of(self._ratio(name, other) * place)

    def difference(
        self,
        name: str,
        other: str,
        servos: Mapping[str, ServoCalibration],
        counts: tuple[int, int],
    ) -> tuple[float, float]:
        """Return by how much two servos at counts differ, and the most allowed [deg or mm]."""
        transmission = self._drives[name][0]
        mine, its = (
            servos[n].map(self._count_us).position_of(c)
            for n, c in zip((name, other), counts, strict=True)
        )
        unit = 1e3 if servos[name].unit == "m" else math.degrees(1.0)
        away = abs(mine - self._ratio(name, other) * its)
        return away * unit, transmission.allowed_difference * unit

    def measured(self, servo: ServoCalibration, count: int) -> bool:
        """Return whether a count lies among the measured points of a servo."""
        pulses = [pulse for _, pulse in servo.points]
        return (
            min(pulses) - self._count_us <= count * self._count_us <= max(pulses) + self._count_us
        )

    def _ratio(self, name: str, other: str) -> float:
        transmission, k = self._drives[name]
        matrix = transmission.matrix
        return float(matrix[k, 0] / matrix[self._drives[other][1], 0])
