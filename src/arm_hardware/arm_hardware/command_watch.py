# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Whether a stream of commands has ended too early."""

from __future__ import annotations


class CommandWatch:
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

    def heard(self, moving: bool) -> None:
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

    def lost(self, dt: float) -> bool:
        """Let a tick [s] pass; return whether the stream has ended too early."""
        self._age += dt
        return self._streaming and 0.0 < self._timeout < self._age
