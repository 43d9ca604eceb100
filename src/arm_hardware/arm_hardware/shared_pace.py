# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/test_clock.py
"""Time that a simulated world and the driver share, in lock-step, by a file."""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
from pathlib import Path

from arm_hardware.clock import SteadyClock

ROUNDING = 1e-6  # [s]
POLL = 5e-4  # [s]


class SharedPace(ctypes.Structure):
    """How far a simulated world and the driver have come, at time 0 at first.

    Attributes:
        world: Time to which the world is simulated [s].
        driver: The next moment at which the driver acts [s]; the registers have all that it did
            before.
    """

    _fields_ = (("world", ctypes.c_double), ("driver", ctypes.c_double))
    world: float
    driver: float

    @classmethod
    def in_file(cls, file: Path) -> SharedPace:
        """Open or create a file that both processes map; raise OSError if it cannot be written."""
        size = ctypes.sizeof(cls)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(descriptor, size)
            return cls.from_buffer(mmap.mmap(descriptor, size))
        finally:
            os.close(descriptor)

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
    """Return the clock of a driver whose world paces it by a file; raise OSError as in_file()."""
    return PacedClock(SharedPace.in_file(Path(file)))
