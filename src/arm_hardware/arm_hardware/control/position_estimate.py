# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Estimates the servos' positions with a model of their motion; nothing is measured."""

from __future__ import annotations

from collections.abc import Sequence

from arm_hardware.calibration.servo_map import PointMap, ServoMap
from arm_hardware.control.servo_model import DEAD_BAND, ServoModel

MODELS_AGREE = 2.0 * DEAD_BAND + 1e-6  # [us] difference at which two models have converged


class PositionEstimate:
    """Models the response of servos, initially of unknown position, to their pulses.

    Two models start from the ends of the travel; the position is known once they agree.
    """

    def __init__(self, maps: Sequence[ServoMap]) -> None:
        self._maps = tuple(maps)
        self._now = 0.0
        self._counts: list[int | None] = [None] * len(self._maps)
        self._models = [_from_both_ends(servo) for servo in self._maps]

    def synchronize(self, counts: Sequence[int | None]) -> None:
        """Take over the counts in the board's registers, where servos are assumed to be.

        Servos with unchanged counts continue; the position of one without pulses (None) is
        unknown, as it may sink.
        """
        known, self._counts = self._counts, list(counts)
        for i, (servo, count) in enumerate(zip(self._maps, counts, strict=True)):
            if count is not None and count == known[i]:
                continue
            self._models[i] = _from_both_ends(servo)
            if count is not None and isinstance(servo, PointMap):
                setpoint = count * servo.setpoint_per_count
                self._models[i] = tuple(ServoModel(setpoint, servo.slew) for _ in range(2))
        self._command(range(len(self._maps)))

    def advance(self, counts: Sequence[int | None], dt: float) -> None:
        """Advance by dt [s], then take over the counts sent from now on."""
        self._now += dt
        if self._counts != counts:
            new = [i for i, count in enumerate(counts) if count != self._counts[i]]
            self._counts = list(counts)
            self._command(new)

    def positions(self) -> list[float | None]:
        """Return the estimated positions [rad or m], None where unknown."""
        return [self._position(i) for i in range(len(self._maps))]

    def _command(self, indices: Sequence[int]) -> None:
        for i in indices:
            servo, count = self._maps[i], self._counts[i]
            setpoint = (
                count * servo.setpoint_per_count if count and isinstance(servo, PointMap) else 0.0
            )
            for model in self._models[i]:
                model.command(setpoint, self._now)

    def _position(self, i: int) -> float | None:
        servo, count = self._maps[i], self._counts[i]
        if not isinstance(servo, PointMap):
            return None if count is None else servo.position_of(count)
        low, high = (model.position(self._now) for model in self._models[i])
        return servo.position_at(0.5 * (low + high)) if high - low <= MODELS_AGREE else None


def _from_both_ends(servo: ServoMap) -> tuple[ServoModel, ...]:
    """Return the two models of a servo of unknown position; fake hardware needs none."""
    if not isinstance(servo, PointMap):
        return ()
    return tuple(ServoModel(end, servo.slew) for end in servo.travel)
