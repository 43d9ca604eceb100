# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Stamps: the node's clock at speed 1, else the driver's own time, as published on /clock."""

from __future__ import annotations

import time
from typing import Any

from builtin_interfaces.msg import Time

from arm_hardware.clock import Clock

NANO = 1_000_000_000
TRIES, AT_ONCE = 5, 5e-4  # [s]


class DriverTime:
    """Tells the time that messages carry.

    Attributes:
        simulated: Whether it runs at another speed than the wall.
    """

    def __init__(self, node: Any, clock: Clock, speed: float) -> None:
        """Begin at the present time of day.

        Args:
            node: Its clock is the time at speed 1.
            clock: The driver's.
            speed: Of that clock.
        """
        self.simulated = speed != 1.0
        self._node_clock = node.get_clock()
        self._clock = clock
        self._epoch = time.time_ns() - round(clock.now() * NANO)

    def now(self) -> Time:
        """Return the present stamp."""
        return _stamp(self._nanoseconds())

    def at(self, moment: float) -> Time:
        """Return the stamp of a moment of the driver's clock [s]."""
        if self.simulated:
            return _stamp(self._epoch + round(moment * NANO))
        for _ in range(TRIES):
            before, now, after = self._clock.now(), self._nanoseconds(), self._clock.now()
            if after - before < AT_ONCE:
                break  # else the thread had to wait between the two clocks
        return _stamp(now - round((after - moment) * NANO))

    def seconds_until(self, stamp: Time) -> float | None:
        """Return how far ahead a stamp lies [s], None for the stamp 0 ("now")."""
        if stamp.sec == 0 and stamp.nanosec == 0:
            return None
        return float(stamp.sec * NANO + stamp.nanosec - self._nanoseconds()) / NANO

    def _nanoseconds(self) -> int:
        if self.simulated:
            return int(self._epoch + round(self._clock.now() * NANO))
        return int(self._node_clock.now().nanoseconds)


def _stamp(nanoseconds: int) -> Time:
    seconds, rest = divmod(nanoseconds, NANO)
    return Time(sec=seconds, nanosec=rest)
