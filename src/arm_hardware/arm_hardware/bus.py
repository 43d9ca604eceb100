# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The few verbs that a servo board needs to have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol


class Bus(Protocol):
    """A servo board: 12-bit pulse lengths by channel.

    Every verb but ``open`` and ``close`` may raise OSError as the bus under it does; ``open``
    raises BusError with a remedy.
    """

    def open(self) -> None:
        """Connect and set the pulse frequency. Writes no channel.

        Raises:
            BusError: Board or library is not there, or it runs in a way that opening would change
                its pulses.
        """

    def scan(self) -> list[int]:
        """Return the 7-bit addresses that answer."""

    def read_counts(self, channels: Iterable[int]) -> dict[int, int | None]:
        """Return the counts in the board's registers, None where no pulse is sent."""

    def write_counts(self, counts: Mapping[int, int]) -> None:
        """Set pulse lengths by channel."""

    def release(self, channels: Iterable[int]) -> None:
        """End the pulses of channels: their servos go limp."""

    def close(self) -> None:
        """Let go of the bus. Pulses go on as they are."""
