# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/calibration/wizard/test_session.py
"""The bus of ``fake`` hardware, which mirrors commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from arm_hardware.bus.interface import Bus


class FakeBus(Bus):
    """Mirrors commands."""

    def __init__(self) -> None:
        self.name = "The fake board"
        self.together = True
        self.counts: dict[int, int] = {}

    def open(self) -> None:
        """Do nothing: no hardware can be missing."""

    def start(self) -> None:
        """Do nothing: no hardware can be asleep."""

    def running(self) -> bool:
        """Return True."""
        return True

    def scan(self) -> list[int]:
        """Return no addresses."""
        return []

    def read_counts(self, channels: Iterable[int]) -> dict[int, int | None]:
        """Return the counts written last, None where none was written."""
        return {channel: self.counts.get(channel) for channel in channels}

    def write_counts(self, counts: Mapping[int, int]) -> None:
        """Store counts."""
        self.counts.update(counts)

    def release(self, channels: Iterable[int]) -> None:
        """Delete the counts of channels."""
        for channel in channels:
            self.counts.pop(channel, None)

    def close(self) -> None:
        """Do nothing."""
