# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A screw thread: turns, depth and roll are one number seen three ways."""

from __future__ import annotations

import math
from dataclasses import dataclass

TURN = 2.0 * math.pi


@dataclass(frozen=True)
class Thread:
    """The thread of a bolt whose z axis runs from its free end inwards.

    A nut's place on it is one number, the turns that it has been screwed on: 0 is where its front
    face is flush with the free end and the first thread is about to catch. Hence
    depth = pitch * turns, roll = start + hand * 2 pi * turns.

    Attributes:
        pitch: Advance per turn [m].
        length: Length of the thread, from the free end to where it stops [m].
        hand: +1 if a positive turn about +z advances along +z (right-handed), else -1.
        start: Roll of the nut, about z from the bolt's x, at 0 turns [rad].
    """

    pitch: float
    length: float
    hand: int = 1
    start: float = 0.0

    @property
    def most_turns(self) -> float:
        """Turns at which the nut's front face meets the end of the thread."""
        return self.length / self.pitch

    def depth(self, turns: float) -> float:
        """Return how far the nut's front face is past the free end [m]."""
        return self.pitch * turns

    def roll(self, turns: float) -> float:
        """Return the nut's roll about z [rad], not wrapped."""
        return self.start + self.hand * TURN * turns

    def turns_by(self, roll: float) -> float:
        """Return how many turns on (positive) or off (negative) a rotation about z makes."""
        return self.hand * roll / TURN

    def engaged(self, turns: float, nut_thickness: float) -> float:
        """Return how many turns of thread are inside the nut: 0 to the nut's own number."""
        return min(max(turns, 0.0), nut_thickness / self.pitch)
