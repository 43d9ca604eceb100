# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Decides at each tick of a timer whether a frame is drawn and the sidebar's numbers are written.

Frames are drawn only after something arrived: with every tick while a browser is connected, rarely
otherwise. The timer rests while nothing is left to do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from arm_viewer.port import PageTimer

FRAME_RATE = 30.0  # [1/s]
NUMBERS_EVERY = 6  # frames from one update of the sidebar's numbers to the next
UNSEEN_EVERY = NUMBERS_EVERY  # frames of which one is drawn without a browser, for the tool's path


@dataclass
class RenderLoop:
    """Draws frames and writes numbers when due. Not thread-safe: used by one thread."""

    draw: Callable[[], bool]  # draws a frame; returns whether the sidebar's numbers changed
    write_numbers: Callable[[], bool]  # writes them; returns whether they must be written again
    has_clients: Callable[[], bool]  # returns whether a browser is connected
    # returns when the next marker expires [s]; infinity if none does
    next_expiry: Callable[[], float]
    clock: Callable[[], float]  # returns the present time [s]
    # calls `tick` FRAME_RATE times a second; set before the first tick
    timer: PageTimer | None = None
    ticks: int = 0  # how often it has ticked
    _frame_due: bool = True
    _numbers_due: bool = True

    def request_redraw(self, numbers: bool = True) -> None:
        """Draw a frame soon, and write the sidebar's numbers even if nothing moved."""
        self._frame_due = True
        self._numbers_due |= numbers
        if self.timer is not None and self.timer.is_canceled():
            self.timer.reset()

    def tick(self) -> None:
        """Draw and write what is due; stop the timer if nothing is left to do."""
        self.ticks += 1
        if self.ticks % UNSEEN_EVERY and not self.has_clients():
            return
        if self._frame_due or self.next_expiry() <= self.clock():
            self._frame_due = False
            changed = self.draw()
            self._numbers_due |= changed
        if self._numbers_due and self.ticks % NUMBERS_EVERY == 0:
            self._numbers_due = False
            again = self.write_numbers()
            self._numbers_due |= again
        if not self._numbers_due and math.isinf(self.next_expiry()) and self.timer is not None:
            self.timer.cancel()
