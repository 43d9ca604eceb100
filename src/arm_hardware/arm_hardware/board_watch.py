# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Sees that a board was reset, lost its power or is written to by somebody else.

Such a board answers every transfer and would be "moved" for ever. So its registers are read back,
one channel or the settings at a time, which costs a bus of 100 kHz about a percent of its time.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from arm_hardware.errors import BusError
from arm_hardware.line import Line

PERIOD = 0.1  # [s] between two looks

RESET = (
    "The servo board was reset or lost its power, or another program set it up anew; check the "
    "supply, then deactivate and activate."
)


class BoardWatch:
    """Looks at one thing of the board in turn."""

    def __init__(self, line: Line, channels: Sequence[int], dt: float) -> None:
        """Make the watch.

        Args:
            line: To the board.
            channels: Of the axes, in their order.
            dt: Time between two calls of look() [s].
        """
        self._line = line
        self._dt = dt
        self._channels = tuple(channels)
        self._turns = itertools.cycle(range(-1, len(self._channels)))
        self._wait = 0.0

    def look(self, counts: Sequence[int | None]) -> None:
        """Compare the board with what it was told, if it is time.

        Args:
            counts: What each axis' channel was last told, None for no pulses.

        Raises:
            BusError: It differs, or the bus is lost.
        """
        self._wait -= self._dt
        if self._wait > 0.0:
            return
        self._wait = PERIOD
        turn = next(self._turns)
        if turn < 0:
            if not self._line.running():
                raise BusError(RESET)
            return
        channel, told = self._channels[turn], counts[turn]
        found = self._line.read([channel])[channel]
        if found == told:
            return
        if found is None or not self._line.running():
            raise BusError(RESET)
        raise BusError(
            f"Channel {channel} of the servo board stands at count {found}, not at {told or 0} as "
            "it was told: another program writes to the board; end it, then deactivate and "
            "activate."
        )
