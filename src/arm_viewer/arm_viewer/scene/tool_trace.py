# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The tool's path as a line in pieces of bounded size.

Only the last piece grows; finished pieces are never sent again. The oldest piece is dropped
when the line gets too long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array

PIECE_POINTS = 64
PIECES = 40


@dataclass(frozen=True)
class TraceChanges:
    """The differences from the line drawn last."""

    grown: Mapping[int, Array]  # piece number -> its points, (n, 3) with n >= 2 [m]
    dropped: frozenset[int]  # pieces to be removed


class ToolTrace:
    """A polyline of past positions, each at least `step` [m] from the one before."""

    def __init__(self, step: float = 0.0005) -> None:
        self.step = step
        self._pieces: dict[int, list[Array]] = {}
        self._next = 0
        self._dirty: set[int] = set()
        self._dropped: set[int] = set()

    def add(self, position: Array) -> None:
        """Append a position, (3,) [m], unless it is too close to the last one."""
        if not self._pieces:
            self._begin(position)
            return
        last = self._next - 1
        piece = self._pieces[last]
        if np.linalg.norm(position - piece[-1]) < self.step:
            return
        piece.append(position.copy())
        self._dirty.add(last)
        if len(piece) >= PIECE_POINTS:
            self._begin(position)

    def clear(self) -> None:
        """Delete the whole line."""
        self._dropped |= self._pieces.keys()
        self._dirty.clear()
        self._pieces.clear()

    def take(self) -> TraceChanges:
        """Return what changed since the last call."""
        grown = {number: np.array(self._pieces[number]) for number in sorted(self._dirty)}
        dropped = frozenset(self._dropped)
        self._dirty.clear()
        self._dropped.clear()
        return TraceChanges(grown, dropped)

    def _begin(self, position: Array) -> None:
        self._pieces[self._next] = [position.copy()]
        self._next += 1
        if len(self._pieces) > PIECES:
            oldest = min(self._pieces)
            del self._pieces[oldest]
            self._dirty.discard(oldest)
            self._dropped.add(oldest)
