# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Watchdogs: a stream that ends early, a board that was reset."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.errors import ARM, BusError

_LOGGER = logging.getLogger(__name__)


class StreamWatchdog:
    """Detects the end of a stream of commands at most a timeout [s] apart; 0 disables it.

    A command that ends within the timeout and replaces an unfinished one within the timeout
    belongs to a stream: the next one must follow within the timeout unless the motion ends before.
    A longer command, and one that repeats the last, runs to its end.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._age = float("inf")
        self._streaming = False

    def command_received(self, moving: bool, duration: float, repeated: bool) -> None:
        """Record a command.

        Args:
            moving: Whether the previous command is still moving the arm.
            duration: From now to its end [s].
            repeated: Whether it is the previous command again.
        """
        follows = moving and self._age <= self._timeout
        if not repeated:
            self._streaming = follows and duration <= self._timeout
        self._age = 0.0

    def end(self) -> None:
        """End the stream, because another command replaced it or the arm is at rest."""
        self._age = float("inf")
        self._streaming = False

    def expired(self, dt: float) -> bool:
        """Advance by a tick [s]; return whether the stream has ended too early."""
        self._age += dt
        return self._streaming and 0.0 < self._timeout < self._age


# Writes repeated since the last change without a cause, after which the next one is taken for a
# write whose register number was corrupted twice alike, in the write and in its read-back: about
# one in 500 corrupted writes.
ASTRAY = 100
ROUNDS = 10  # of reading back and restoring after a disturbance, before the bus counts as lost
PERIOD = 0.1  # [s] between two checks of a board at rest, and of its mode

RESET = (
    "{board} was reset or lost its power, or another program reconfigured it; check the "
    f"supply, then run {ARM}."
)
DISTURBED = (
    f"The bus is disturbed all the time: {ROUNDS} times in a row, {{channels}} could not be read "
    f"back or restored without an error; check power and wires, then run {ARM}."
)
RECONFIGURED = (
    "Another program, or data corrupted on the way, changed {settings}; end it or check the "
    f"wires, then run {ARM}."
)


class BoardMonitor:
    """Reads back a board's mode and the axes' channels; polled every dt [s].

    A difference has one of three causes; the time of the change shows which:

    - A write reads back different: it was corrupted on the way. The bus writes it again.
    - A channel changed while writes to others were disturbed: one of them went astray (a flipped
      bit in the register's number). It is restored, and the motion continues.
    - A channel changed after all writes had read back right and before the next one: no transfer
      of this driver can have caused that, whichever bits differ. Another program writes to the
      board. The channel is restored, and the driver faults, except once after each ASTRAY
      repeated writes. A channel that was switched off stays off, since ``release`` may have done
      it.

    Attributes:
        unexplained: Changes without a cause that were restored without a fault.
    """

    def __init__(self, bus: RetryingBus, channels: Sequence[int], dt: float) -> None:
        self._bus = bus
        self._dt = dt
        self._channels = tuple(channels)
        self._wait = self._wait_for_mode = 0.0
        self._disturbances = 0
        self._rewrites = 0
        self._next_warning = 1
        self.unexplained = 0

    def poll(self, counts: Sequence[int | None]) -> None:
        """Compare the board, if due, with the counts last sent to the axes, before any write.

        Raises:
            BusError: It differs, or the bus is lost.
        """
        self._wait -= self._dt
        self._wait_for_mode -= self._dt
        if self._wait_for_mode <= 0.0:
            self._wait_for_mode = PERIOD
            if not self._bus.running():
                raise self._mode_changed(counts)
        if self._wait <= 0.0:
            self._wait = PERIOD
            changed = self._bus.differences(self._by_channel(counts))
            if changed and not self._is_corruption(changed):
                raise self._changed_by_others(changed, counts)
            if changed:
                self._report_unexplained(changed, counts)
            self._restore(changed, counts)

    def check_written(self, counts: Sequence[int | None]) -> None:
        """Restore channels that disturbed writes have hit by mistake; the next poll is due.

        Raises:
            BusError: A channel cannot be restored, the bus is lost, or disturbed all the time.
        """
        self._wait = 0.0
        rounds = 0
        expected = self._by_channel(counts)
        pulsing = {channel for channel, count in expected.items() if count is not None}
        # Repeated, because a write that restores a channel can go astray, too.
        while (disturbances := self._bus.faults + self._bus.rewrites) != self._disturbances:
            self._disturbances = disturbances
            rounds += 1
            if rounds > ROUNDS:
                raise self._error(DISTURBED)
            changed = self._bus.differences(expected)
            if pulsing and pulsing <= {c for c, found in changed.items() if found is None}:
                return  # a reset or release, which the next poll reports
            self._restore(changed, counts)
        if self._bus.rewrites >= self._next_warning:
            self._next_warning = 10 * self._bus.rewrites
            _LOGGER.warning(
                "The bus corrupts data: %d writes read back different and were repeated; check "
                "the wires, keep them short and off the motors'.",
                self._bus.rewrites,
            )

    def _is_corruption(self, changed: Mapping[int, int | None]) -> bool:
        """Return whether a change is taken for a write that went astray with its read-back."""
        if None in changed.values() or self._bus.rewrites - self._rewrites < ASTRAY:
            return False
        self._rewrites = self._bus.rewrites
        return True

    def _report_unexplained(
        self, changed: Mapping[int, int | None], counts: Sequence[int | None]
    ) -> None:
        self.unexplained += 1
        expected = self._by_channel(counts)
        for channel, found in changed.items():
            _LOGGER.warning(
                "%s went from count %s to %s without a known cause and "
                "is put back: data corrupted on the way, or a write of another program; check "
                "the wires, and that no other program writes to %s.",
                self._bus.label(channel),
                expected[channel] or 0,
                found,
                self._bus.phrases.board,
            )

    def _restore(self, channels: Iterable[int], counts: Sequence[int | None]) -> None:
        expected = self._by_channel(counts)
        for channel in channels:
            self._bus.restore(channel, expected[channel])

    def _by_channel(self, counts: Sequence[int | None]) -> dict[int, int | None]:
        return dict(zip(self._channels, counts, strict=True))

    def _changed_by_others(
        self, changed: Mapping[int, int | None], counts: Sequence[int | None]
    ) -> BusError:
        """Restore changed channels that send pulses; return the error."""
        if not self._bus.running():
            return self._mode_changed(counts)
        expected = self._by_channel(counts)
        self._restore([c for c, found in changed.items() if found is not None], counts)
        channel, found = next(iter(changed.items()))
        if found is None:
            off = f"{self._bus.label(channel)} {self._bus.phrases.off}"
            return BusError(f"{off}; to arm again, run {ARM}.")
        return BusError(
            f"{self._bus.label(channel)} went from count {expected[channel] or 0} to {found} "
            f"without this driver: another program writes to {self._bus.phrases.board}; end "
            f"it, then run {ARM}."
        )

    def _mode_changed(self, counts: Sequence[int | None]) -> BusError:
        """Set the mode again if the board still has its counts; return the error."""
        if self._bus.differences(self._by_channel(counts)):
            return self._error(RESET)
        self._bus.start()
        return self._error(RECONFIGURED)

    def _error(self, sentence: str) -> BusError:
        """Return the error of a sentence in the words of the bus."""
        text = sentence.format(**self._bus.phrases._asdict())
        return BusError(text[0].upper() + text[1:])
