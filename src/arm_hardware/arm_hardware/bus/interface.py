# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The interface of a servo board."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol


class Bus(Protocol):
    """A servo board: 12-bit pulse lengths by channel.

    Every method but ``close`` may raise the OSError of the underlying bus and may then be called
    again; none blocks indefinitely. The errno is EBADMSG if data arrive corrupted.
    """

    name: str  # of the board and its bus, capitalised to start a sentence
    rewrites: int  # writes repeated because their registers read back different
    together: bool  # whether write_counts() sets all channels in one transfer

    def open(self) -> None:
        """Connect without writing: pulses of an earlier process continue.

        Raises:
            BusError: The board or a library is missing, or the board sends pulses at a frequency
                other than the calibration's.
        """

    def start(self) -> None:
        """Set pulse frequency and output mode and wake the board, unless this is done already.

        Active channels continue; if the board was asleep, all channels are off afterwards.

        Raises:
            BusError: As in open().
        """

    def running(self) -> bool:
        """Return whether the board is as ``start`` left it: awake, same frequency and outputs.

        One read that shows it is enough; a difference is confirmed by further reads.
        """

    def scan(self) -> list[int]:
        """Return the 7-bit addresses that answer."""

    def read_counts(self, channels: Iterable[int]) -> dict[int, int | None]:
        """Return the counts that one read shows, None where the board sends no pulse."""

    def write_counts(self, counts: Mapping[int, int]) -> None:
        """Set pulse lengths by channel; each is read back and written again if it differs."""

    def release(self, channels: Iterable[int]) -> None:
        """End the pulses of channels, read back as in write_counts: their servos go limp."""

    def close(self) -> None:
        """Release the bus. Pulses continue."""
