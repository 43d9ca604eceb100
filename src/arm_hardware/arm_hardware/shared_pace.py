# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Time that a simulated world and the driver share, in lock-step, by a file."""

from __future__ import annotations

import mmap
import os
import threading
from pathlib import Path

from arm_hardware.clock import SteadyClock

DOUBLE = 8  # bytes
ROUNDING = 1e-6  # [s]
POLL = 5e-4  # [s]


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


def paced_clock(file: str) -> PacedClock:
    """Return the clock of a driver whose world paces it by a file; raise OSError as SharedPace."""
    return PacedClock(SharedPace(Path(file)))
