# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A model of a hobby servo, which slews to its last pulse and has a dead band."""

from __future__ import annotations

from arm_hardware.calibration.servo_map import SLEW_US

DEAD_BAND = 5.0  # smallest difference between setpoint and position that moves a servo


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
