# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Watchdogs: a stream that ends early, a client that is lost, a board that was reset."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.errors import BusError


class StreamWatchdog:
    """Watches commands that come one after another, each to be taken over by the next.

    A single command is no stream: it is done to its end. Once a second one takes over a first that
    has not ended, within the timeout, the next must come within the timeout too, or the motion at
    rest before.
    """

    def __init__(self, timeout: float) -> None:
        """Watch nothing yet.

        Args:
            timeout: Longest time between two commands of a stream [s]; 0 to watch nothing.
        """
        self._timeout = timeout
        self._age = float("inf")
        self._streaming = False

    def command_received(self, moving: bool) -> None:
        """Note a command.

        Args:
            moving: Whether the one before it still moves the arm.
        """
        self._streaming = moving and self._age <= self._timeout
        self._age = 0.0

    def end(self) -> None:
        """Forget the stream: something else has taken over, or the arm is at rest."""
        self._age = float("inf")
        self._streaming = False

    def expired(self, dt: float) -> bool:
        """Let a tick [s] pass; return whether the stream has ended too early."""
        self._age += dt
        return self._streaming and 0.0 < self._timeout < self._age


RETRY_PERIOD = 0.5  # [s] of the wall; a question without an answer may have been lost on its way


class ClientLivenessMonitor:
    """Asks one question after another, and misses the client when no answer comes.

    A question is any message whose arrival the middleware acknowledges. So a cable that was
    pulled, a computer that sleeps and a program that was killed are all missed within the timeout,
    long before the middleware gives the client up.
    """

    def __init__(self, timeout: float, now: float, known: bool) -> None:
        """Begin to watch.

        Args:
            timeout: [s] without an answer after which the client counts as gone; 0 for never.
            now: Steady time [s].
            known: Whether the client is known. One that never was is not missed.
        """
        self._timeout = timeout
        self._last_answer = now if known else None
        self._last_question = -float("inf")

    def poll(self, now: float, known: bool, answered: bool) -> bool:
        """Take note of what is known; return whether to ask now.

        Args:
            now: Steady time [s].
            known: Whether the middleware knows of a client.
            answered: Whether the last question, if known was one, has been acknowledged.
        """
        if known and answered:
            self._last_answer = now
        if not answered and now - self._last_question < RETRY_PERIOD:
            return False
        self._last_question = now
        return True

    def timed_out(self, now: float) -> bool:
        """Return whether the client was known and has not answered for the timeout."""
        return self._last_answer is not None and 0.0 < self._timeout < now - self._last_answer


PERIOD = 0.1  # [s] between two checks

RESET = (
    "The servo board was reset or lost its power, or another program set it up anew; check the "
    "supply, then deactivate and activate."
)


class BoardMonitor:
    """Looks at one thing of the board in turn."""

    def __init__(self, bus: RetryingBus, channels: Sequence[int], dt: float) -> None:
        """Make the watch.

        Args:
            bus: To the board.
            channels: Of the axes, in their order.
            dt: Time between two calls of poll() [s].
        """
        self._bus = bus
        self._dt = dt
        self._channels = tuple(channels)
        self._turns = itertools.cycle(range(-1, len(self._channels)))
        self._wait = 0.0

    def poll(self, counts: Sequence[int | None]) -> None:
        """Compare the board with what was sent, if it is time.

        Args:
            counts: What was last sent to each axis' channel, None for no pulses.

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
