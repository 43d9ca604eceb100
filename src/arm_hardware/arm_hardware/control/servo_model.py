# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A model of a hobby servo, which slews to its last pulse and has a dead band."""

from __future__ import annotations

from arm_hardware.calibration.servo_map import SLEW_US

DEAD_BAND_US = 5.0  # smallest difference between pulse and position that moves a servo


class ServoModel:
    """A servo whose position is measured in microseconds of pulse, computed on request."""

    def __init__(self, position_us: float = 1500.0, slew_us: float = SLEW_US) -> None:
        """Create a servo without pulses.

        Args:
            position_us: Position, as the pulse that would hold it [us].
            slew_us: Speed [us/s].
        """
        self._position = position_us
        self._slew = slew_us
        self._target: float | None = None
        self._since = 0.0

    def command(self, pulse_us: float, now: float) -> None:
        """Set the pulse length [us] at a time [s]; at 0 (no pulses) the servo stays in place."""
        self._position = self.position_us(now)
        self._since = now
        if pulse_us <= 0.0:
            self._target = None
        elif self._target is not None or abs(pulse_us - self._position) > DEAD_BAND_US:
            self._target = pulse_us

    def position_us(self, now: float) -> float:
        """Return the position at a time [s], as the pulse that would hold it [us]."""
        if self._target is None:
            return self._position
        distance = self._target - self._position
        if abs(distance) <= DEAD_BAND_US:
            return self._position
        reach = self._slew * max(0.0, now - self._since)
        return self._position + max(-reach, min(reach, distance))
