# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The interface of a servo board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol


class Bus(Protocol):
    """A servo board: 12-bit pulse lengths by channel.

    Every verb but ``close`` may raise OSError as the bus under it does, and may then be called
    again; none waits without end.
    """

    name: str  # of the board and its bus, to begin a sentence with

    def open(self) -> None:
        """Connect. Writes nothing: pulses of an earlier process continue.

        Raises:
            BusError: Board or library is not there, or the board pulses at a frequency that is
                not the calibration's.
        """

    def start(self) -> None:
        """Set the pulse frequency and wake the board, if it is not so already.

        Channels that pulse go on to; on a board that slept all are off afterwards.

        Raises:
            BusError: As open().
        """

    def running(self) -> bool:
        """Return whether the board still works as ``start`` left it: awake, same frequency."""

    def scan(self) -> list[int]:
        """Return the 7-bit addresses that answer."""

    def read_counts(self, channels: Iterable[int]) -> dict[int, int | None]:
        """Return the counts that the board sends, None where it sends no pulse."""

    def write_counts(self, counts: Mapping[int, int]) -> None:
        """Set pulse lengths by channel."""

    def release(self, channels: Iterable[int]) -> None:
        """End the pulses of channels: their servos go limp."""

    def close(self) -> None:
        """Release the bus. Pulses continue."""
