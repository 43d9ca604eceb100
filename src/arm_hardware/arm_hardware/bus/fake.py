# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The bus of ``fake`` hardware: it mirrors commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class FakeBus:
    """Mirrors commands; see ``arm_hardware.bus.interface.Bus``."""

    def __init__(self) -> None:
        self.name = "The fake board"
        self.counts: dict[int, int] = {}

    def open(self) -> None:
        """Do nothing: there is nothing that could be missing."""

    def start(self) -> None:
        """Do nothing: there is nothing that could sleep."""

    def running(self) -> bool:
        """Return that it runs."""
        return True

    def scan(self) -> list[int]:
        """Return no address."""
        return []

    def read_counts(self, channels: Iterable[int]) -> dict[int, int | None]:
        """Return what was written."""
        return {channel: self.counts.get(channel) for channel in channels}

    def write_counts(self, counts: Mapping[int, int]) -> None:
        """Remember counts."""
        self.counts.update(counts)

    def release(self, channels: Iterable[int]) -> None:
        """Forget counts."""
        for channel in channels:
            self.counts.pop(channel, None)

    def close(self) -> None:
        """Do nothing."""
