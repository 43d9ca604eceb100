# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Watchdogs: a stream that ends early, a client that is lost, a board that was reset."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.errors import BusError


class StreamWatchdog:
    """Detects the end of a stream of commands at most a timeout [s] apart; 0 disables it.

    A single command runs to its end. A command that replaces an unfinished one within the timeout
    starts a stream: the next one must follow within the timeout unless the motion ends before.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._age = float("inf")
        self._streaming = False

    def command_received(self, moving: bool) -> None:
        """Record a command and whether the previous one is still moving the arm."""
        self._streaming = moving and self._age <= self._timeout
        self._age = 0.0

    def end(self) -> None:
        """End the stream, because another command replaced it or the arm is at rest."""
        self._age = float("inf")
        self._streaming = False

    def expired(self, dt: float) -> bool:
        """Advance by a tick [s]; return whether the stream has ended too early."""
        self._age += dt
        return self._streaming and 0.0 < self._timeout < self._age


RETRY_PERIOD = 0.5  # [s] of wall time after which an unacknowledged probe counts as lost


class ClientLivenessMonitor:
    """Detects a lost client: one that acknowledges no probe within a timeout [s].

    A probe is any message whose arrival the middleware acknowledges. This detects an unplugged
    cable, a sleeping computer or a killed program long before the middleware does. A client that
    was never known cannot be lost; the timeout 0 disables detection.
    """

    def __init__(self, timeout: float, now: float, known: bool) -> None:
        self._timeout = timeout
        self._last_acknowledged = now if known else None
        self._last_probe = -float("inf")

    def poll(self, now: float, known: bool, acknowledged: bool) -> bool:
        """Return whether to send a probe now.

        Args:
            now: Present time [s].
            known: Whether the middleware knows of a client.
            acknowledged: Whether no probe is awaiting its acknowledgement.
        """
        if known and acknowledged:
            self._last_acknowledged = now
        if not acknowledged and now - self._last_probe < RETRY_PERIOD:
            return False
        self._last_probe = now
        return True

    def timed_out(self, now: float) -> bool:
        """Return whether a known client has acknowledged nothing for the timeout."""
        last = self._last_acknowledged
        return last is not None and 0.0 < self._timeout < now - last


PERIOD = 0.1  # [s] between two checks

RESET = (
    "The servo board was reset or lost its power, or another program reconfigured it; check the "
    "supply, then deactivate and activate."
)


class BoardMonitor:
    """Checks a board's mode and the axes' channels in turn; polled every dt [s]."""

    def __init__(self, bus: RetryingBus, channels: Sequence[int], dt: float) -> None:
        self._bus = bus
        self._dt = dt
        self._channels = tuple(channels)
        self._turns = itertools.cycle(range(-1, len(self._channels)))
        self._wait = 0.0

    def poll(self, counts: Sequence[int | None]) -> None:
        """Compare the next register, if due, with the counts last sent to the axes.

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
