# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The driver's monotonic clock, which can differ from wall time with simulated hardware."""

from __future__ import annotations

import mmap
import os
import threading
import time
from pathlib import Path

from arm_hardware.errors import HardwareError

DOUBLE = 8  # bytes
ROUNDING = 1e-6  # [s]
POLL = 5e-4  # [s]


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


class SharedPace:
    """How far a simulated world and the driver have come, in a file that both processes map."""

    def __init__(self, file: Path | None = None) -> None:
        """Open or create the file; a new one, or none, is at time 0.

        Raises:
            OSError: It cannot be written.
        """
        if file is None:
            self._values = memoryview(bytearray(2 * DOUBLE)).cast("d")
            return
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(descriptor, 2 * DOUBLE)
            self._values = memoryview(mmap.mmap(descriptor, 2 * DOUBLE)).cast("d")
        finally:
            os.close(descriptor)

    @property
    def world(self) -> float:
        """Time to which the world is simulated [s]."""
        return self._values[0]

    @world.setter
    def world(self, moment: float) -> None:
        self._values[0] = moment

    @property
    def driver(self) -> float:
        """The next moment at which the driver acts [s]; all it did before is in the registers."""
        return self._values[1]

    @driver.setter
    def driver(self, moment: float) -> None:
        self._values[1] = moment

    @property
    def may_advance(self) -> bool:
        """Whether the driver has done all that it does until the time of the world."""
        return self.driver > self.world + ROUNDING


class PacedClock(SteadyClock):
    """The time of a simulated world, in lock-step: neither it nor the driver gets ahead."""

    def __init__(self, pace: SharedPace) -> None:
        super().__init__()
        self.simulated = True
        self._pace = pace

    def now(self) -> float:
        """Return the time to which the world is simulated [s]."""
        return self._pace.world

    def sleep_until(self, moment: float, wake: threading.Event) -> None:
        """Let the world go on to a moment of its time [s], or until the event is set."""
        self._pace.driver = moment
        while self.now() < moment - ROUNDING and not wake.wait(POLL):
            pass


def driver_clock(speed: float, pace: str) -> SteadyClock:
    """Return the clock of a driver, that of a simulated world if the file of its pace is given.

    Raises:
        HardwareError: The file cannot be written.
    """
    if not pace:
        return SteadyClock(speed)
    try:
        return PacedClock(SharedPace(Path(pace)))
    except OSError as error:
        raise HardwareError(f"sim_pace {pace} cannot be written: {error.strerror}.") from None
