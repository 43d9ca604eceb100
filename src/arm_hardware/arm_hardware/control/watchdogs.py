# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Watchdogs: a stream that ends early, a client that is lost, a board that was reset."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.errors import BusError


class StreamWatchdog:
    """Watches commands that replace each other at most a timeout [s] apart; 0 for any time.

    A single command is no stream: it runs to its end. Once a second one replaces a first that has
    not ended, within the timeout, the next must come within the timeout too, or the motion be at
    rest before.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._age = float("inf")
        self._streaming = False

    def command_received(self, moving: bool) -> None:
        """Note a command, and whether the one before it still moves the arm."""
        self._streaming = moving and self._age <= self._timeout
        self._age = 0.0

    def end(self) -> None:
        """Forget the stream: another command replaced it, or the arm is at rest."""
        self._age = float("inf")
        self._streaming = False

    def expired(self, dt: float) -> bool:
        """Let a tick [s] pass; return whether the stream has ended too early."""
        self._age += dt
        return self._streaming and 0.0 < self._timeout < self._age


RETRY_PERIOD = 0.5  # [s] of the wall, after which an unacknowledged probe may have been lost


class ClientLivenessMonitor:
    """Sends probes to a client, which is lost if none is acknowledged within a timeout [s].

    A probe is any message whose arrival the middleware acknowledges. A pulled cable, a computer
    that sleeps and a killed program are thus detected long before the middleware notices. A client
    that was never known is not lost; with the timeout 0, none is.
    """

    def __init__(self, timeout: float, now: float, known: bool) -> None:
        self._timeout = timeout
        self._last_acknowledged = now if known else None
        self._last_probe = -float("inf")

    def poll(self, now: float, known: bool, acknowledged: bool) -> bool:
        """Return whether to send a probe now [s].

        The middleware may know of a client, and have acknowledged the last probe (or none).
        """
        if known and acknowledged:
            self._last_acknowledged = now
        if not acknowledged and now - self._last_probe < RETRY_PERIOD:
            return False
        self._last_probe = now
        return True

    def timed_out(self, now: float) -> bool:
        """Return whether the client was known and acknowledged nothing for the timeout."""
        last = self._last_acknowledged
        return last is not None and 0.0 < self._timeout < now - last


PERIOD = 0.1  # [s] between two checks

RESET = (
    "The servo board was reset or lost its power, or another program set it up anew; check the "
    "supply, then deactivate and activate."
)


class BoardMonitor:
    """Checks the mode and the channels of the axes of a board in turn; polled every dt [s]."""

    def __init__(self, bus: RetryingBus, channels: Sequence[int], dt: float) -> None:
        self._bus = bus
        self._dt = dt
        self._channels = tuple(channels)
        self._turns = itertools.cycle(range(-1, len(self._channels)))
        self._wait = 0.0

    def poll(self, counts: Sequence[int | None]) -> None:
        """Compare the board with what was last sent to each axis' channel, if it is time.

        Raises:
            BusError: It differs, or the bus is lost.
        """
        self._wait -= self._dt
        if self._wait > 0.0:
            return
        self._wait = PERIOD
        turn = next(self._turns)
        if turn < 0:
            if not self._bus.running():
                raise BusError(RESET)
            return
        channel, commanded = self._channels[turn], counts[turn]
        found = self._bus.read([channel])[channel]
        if found == commanded:
            return
        if found is None or not self._bus.running():
            raise BusError(RESET)
        raise BusError(
            f"Channel {channel} of the servo board is at count {found}, not at the commanded "
            f"{commanded or 0}: another program writes to the board; end it, then deactivate and "
            "activate."
        )
