# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The driver's clock: steady, and faster than the wall by a factor where nothing real moves."""

from __future__ import annotations

import threading
import time


class SteadyClock:
    """Monotonic time; ``speed`` is how many of its seconds are one second of the wall."""

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._zero = time.monotonic()

    def now(self) -> float:
        """Return seconds since the clock was made."""
        return (time.monotonic() - self._zero) * self.speed

    def sleep_until(self, moment: float, wake: threading.Event) -> None:
        """Return at a moment of this clock, or as soon as the event is set."""
        wake.wait(max(0.0, (moment - self.now()) / self.speed))
