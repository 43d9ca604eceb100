# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The driver's monotonic clock, which can differ from wall time with simulated hardware."""

from __future__ import annotations

import threading
import time

from arm_hardware import PARTS
from arm_hardware.errors import HardwareError


class SteadyClock:
    """Monotonic time; ``speed`` is the number of its seconds per wall second.

    Attributes:
        origin: Creation in seconds of the clock since the computer's start; all clocks of one
            speed on a computer have the same ``origin + now()``.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._zero = time.monotonic()
        self.origin = self._zero * speed
        self.simulated = speed != 1.0  # whether it differs from wall time

    def now(self) -> float:
        """Return the seconds since the clock was created."""
        return (time.monotonic() - self._zero) * self.speed

    def sleep_until(self, moment: float, wake: threading.Event) -> None:
        """Wait until a moment of this clock [s], or until the event is set."""
        wake.wait(max(0.0, (moment - self.now()) / self.speed))


def driver_clock(speed: float, pace: str) -> SteadyClock:
    """Return the clock of a driver, that of a simulated world if the file of its pace is given.

    Raises:
        HardwareError: The file cannot be written.
    """
    if not pace:
        return SteadyClock(speed)
    try:
        clock: SteadyClock = PARTS.load("paced clock")(pace)
        return clock
    except OSError as error:
        raise HardwareError(f"sim_pace {pace} cannot be written: {error.strerror}.") from None
