# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The driver's clock: steady, and faster than the wall by a factor where nothing real moves."""

from __future__ import annotations

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """What the driver needs of a clock."""

    def now(self) -> float:
        """Return seconds since the clock was made."""

    def sleep_until(self, moment: float, wake: threading.Event) -> None:
        """Return at a moment of this clock, or as soon as the event is set."""


class SteadyClock:
    """Monotonic time, scaled.

    Attributes:
        speed: Seconds of this clock per second of the wall.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._zero = time.monotonic()

    def now(self) -> float:
        """Return seconds since the clock was made."""
        return (time.monotonic() - self._zero) * self.speed

    def sleep_until(self, moment: float, wake: threading.Event) -> None:
        """Return at a moment of this clock, or as soon as the event is set."""
        left = (moment - self.now()) / self.speed
        if left > 0.0:
            wake.wait(left)
