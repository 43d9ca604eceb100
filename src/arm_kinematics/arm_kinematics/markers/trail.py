# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The tip's path of the last seconds, in pieces: only the newest grows, the others stay."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from arm_kinematics.lie import Array

PIECES = 8  # that the length is cut into; older ones look older
MOST_POINTS = 32  # of a piece


@dataclass(eq=False)
class Piece:
    """A part of the path.

    Attributes:
        begun: When [s].
        times: Of its points [s].
        points: Where the tip was then, (3,) each [m].
    """

    begun: float
    times: list[float] = field(default_factory=list)
    points: list[Array] = field(default_factory=list)


class Trail:
    """The path; it forgets what is older than its length.

    Args:
        length: How long it lasts [s].

    Attributes:
        pieces: The oldest first; each begins where the one before ends.
    """

    def __init__(self, length: float) -> None:
        self.length = length
        self.pieces: deque[Piece] = deque()

    def note(self, now: float, tip: Array, step: float) -> None:
        """Lengthen the path, if the tip has moved.

        Args:
            now: The time [s]; if it runs backwards, the path begins anew.
            tip: Where the tip is, (3,) [m].
            step: The least way that counts [m].
        """
        if self.pieces and now < self.pieces[-1].times[-1]:
            self.pieces.clear()
        if not self.pieces:
            self.pieces.append(Piece(now, [now], [tip]))
            return
        if np.linalg.norm(tip - self.pieces[-1].points[-1]) >= step:
            self._add(now, tip)
        while len(self.pieces) > 1 and self.pieces[0].times[-1] < now - self.length:
            self.pieces.popleft()

    def _add(self, now: float, tip: Array) -> None:
        piece, span = self.pieces[-1], self.length / PIECES
        if now - piece.begun > span:
            piece = Piece(now, piece.times[-1:], piece.points[-1:])
            self.pieces.append(piece)
        if len(piece.times) > 1 and piece.times[-1] - piece.times[-2] < span / MOST_POINTS:
            piece.times.pop()  # too near to be kept; the end is always where the tip is
            piece.points.pop()
        piece.times.append(now)
        piece.points.append(tip)
