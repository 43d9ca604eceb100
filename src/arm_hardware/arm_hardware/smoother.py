# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A limit of jerk: the mean of the last ticks' commands.

Each rate of a mean is the mean of the rates: so the bounds of position, speed and acceleration of
what goes in hold for what comes out, and nothing overshoots. Over m ticks the mean's acceleration
changes in a tick by ``(a_k - a_{k-m}) / m``, at most ``2 a / m``: a jerk of ``2 a / (m dt)``. All
joints are averaged over the same time, so that they stay together.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence


def ticks_of(jerk_time: float, dt: float) -> int:
    """Return how many ticks to average so that jerk is at most ``acceleration / jerk_time``.

    Args:
        jerk_time: Seconds in which acceleration may rise from 0 to its limit; 0 for no limit.
        dt: Length of a tick [s].
    """
    return max(1, math.ceil(2.0 * jerk_time / dt - 1e-9))


class Smoother:
    """Averages the commands of all axes over some ticks."""

    def __init__(self, ticks: int) -> None:
        """Begin without commands.

        Args:
            ticks: How many to average, 1 for none.
        """
        self._past: deque[tuple[float, ...]] = deque(maxlen=ticks)

    def hold(self, positions: Sequence[float]) -> None:
        """Forget what was; the arm rests there [rad or m]."""
        self._past.extend([tuple(positions)] * (self._past.maxlen or 1))

    def push(self, positions: Sequence[float]) -> list[float]:
        """Take the commands of a tick and return what is to be sent [rad or m]."""
        self._past.append(tuple(positions))
        n = len(self._past)
        if n == 1:
            return list(positions)
        return [math.fsum(column) / n for column in zip(*self._past, strict=True)]

    def settled(self, first: int, end: int) -> bool:
        """Return whether what is sent of some axes has come to what was commanded."""
        return all(past[first:end] == self._past[-1][first:end] for past in self._past)
