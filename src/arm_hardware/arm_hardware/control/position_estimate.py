# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/control/test_arming.py
"""Estimates the servos' positions with a model of their motion; nothing is measured.

The model is that of a hobby servo, which slews to its last pulse and has a dead band.
"""

from __future__ import annotations

from collections.abc import Sequence

from arm_hardware.calibration.servo_map import SLEW_US, PointMap, ServoMap

DEAD_BAND = 5.0  # smallest difference between setpoint and position that moves a servo
MODELS_AGREE = 2.0 * DEAD_BAND + 1e-6  # [us] difference at which two models have converged


class ServoModel:
    """A servo whose position is measured in setpoints and computed on request."""

    def __init__(self, position: float = 1500.0, slew: float = SLEW_US) -> None:
        """Create a servo without pulses.

        Args:
            position: Position, as the setpoint that would hold it.
            slew: Speed [setpoint/s].
        """
        self._position = position
        self._slew = slew
        self._target: float | None = None
        self._since = 0.0

    def command(self, setpoint: float, now: float) -> None:
        """Set the setpoint at a time [s]; at 0 (no pulses) the servo stays in place."""
        self._position = self.position(now)
        self._since = now
        if setpoint <= 0.0:
            self._target = None
        elif self._target is not None or abs(setpoint - self._position) > DEAD_BAND:
            self._target = setpoint

    def position(self, now: float) -> float:
        """Return the position at a time [s], as the setpoint that would hold it."""
        if self._target is None:
            return self._position
        distance = self._target - self._position
        if abs(distance) <= DEAD_BAND:
            return self._position
        reach = self._slew * max(0.0, now - self._since)
        return self._position + max(-reach, min(reach, distance))


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
