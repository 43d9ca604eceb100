# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""When something is to be done that is done once a period."""

from __future__ import annotations

EARLY = 0.001  # [s]; a thread may wake so much before the moment it wanted


class Grid:
    """Moments a period apart; who is late by more than one period begins anew.

    Attributes:
        period: [s] of a clock.
        due: The next moment on that clock [s].
    """

    def __init__(self, period: float) -> None:
        self.period = period
        self.due = 0.0

    def is_due(self, now: float) -> bool:
        """Return whether a moment has come; if so, the next one is due a period later."""
        left = self.due - now
        if EARLY < left <= self.period + EARLY:
            return False
        self.due = (self.due if abs(left) <= self.period else now) + self.period
        return True

    def put_off(self, now: float) -> None:
        """Let nothing be due for a period."""
        self.due = now + self.period
