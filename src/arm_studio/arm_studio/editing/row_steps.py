# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a row of the DH table does: its four motions one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from arm_common.transforms import Array, quaternion
from arm_description.model.elements import Convention, DhRow, dh_matrix
from arm_description.model.units import Units, with_degree_sign
from arm_viewer.panels.interface import PanelContext

# The motions in their order, each along or about an axis of the moving frame.
ORDERS = {
    "standard": ("theta", "d", "a", "alpha"),
    "modified": ("alpha", "a", "theta", "d"),
}
MOTIONS = {"theta": "Rz", "d": "Tz", "a": "Tx", "alpha": "Rx"}
COLUMN_KINDS = {"theta": "revolute", "d": "prismatic", "a": "prismatic", "alpha": "revolute"}
STEP = 0.8  # [s] of one motion
SKIP = 4.0  # by which a motion of 0 is faster
PERIOD = 1.0 / 30.0  # [s]
NODE = "/table_row"
Z_COLOUR, X_COLOUR = (37, 99, 235), (220, 38, 38)


@dataclass(frozen=True)
class RowMotion:
    """One row at one position of its joint.

    Attributes:
        row: its numbers, with the variable.
        convention: of the table.
        before: base <- frame i-1 (4, 4) [m].
    """

    row: DhRow
    convention: Convention
    before: Array

    def at(self, s: float) -> Array:
        """Return base <- the moving frame after s of the four motions, s from 0 to 4."""
        done = {
            key: min(max(s - number, 0.0), 1.0) * getattr(self.row, key)
            for number, key in enumerate(ORDERS[self.convention])
        }
        T: Array = self.before @ dh_matrix(DhRow(**done), self.convention)
        return T

    def label(self, s: float, units: Units) -> str:
        """Return the name and the size of the motion at s."""
        key = self._key(s)
        size = units.text(self.size(s), COLUMN_KINDS[key], digits=5)
        return f"{MOTIONS[key]} {with_degree_sign(size)}"

    def size(self, s: float) -> float:
        """Return the size of the motion at s [rad or m]."""
        return float(getattr(self.row, self._key(s)))

    def _key(self, s: float) -> str:
        return ORDERS[self.convention][min(int(s), 3)]

    def lines(self, s: float) -> list[tuple[Array, tuple[int, int, int]]]:
        """Return the ways (2, 3) along z and x so far [m], with their colours."""
        order = ORDERS[self.convention]
        ways = []
        for key, colour in (("d", Z_COLOUR), ("a", X_COLOUR)):
            start = float(order.index(key))
            if s > start:
                ends = [self.at(start)[:3, 3], self.at(min(s, start + 1.0))[:3, 3]]
                ways.append((np.array(ends), colour))
        return ways


@dataclass
class DrawnMotion:
    """Draws the motions of a row in the picture, once; the last picture stays until `hide`."""

    context: PanelContext
    units: Callable[[], Units]
    _motion: RowMotion | None = None
    _s: float = 4.0
    _nodes: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Wait for a motion."""
        self._timer = self.context.every(PERIOD, self._tick)
        self._timer.cancel()

    def show(self, motion: RowMotion) -> None:
        """Draw a motion from its beginning."""
        self.hide()
        self._motion, self._s = motion, 0.0
        scene, size = self.context.view.drawer.scene, self.context.view.drawer.size
        self._nodes["frame"] = scene.add_frame(
            NODE, axes_length=0.25 * size, axes_radius=0.005 * size, origin_radius=0.0
        )
        self._nodes["label"] = scene.add_label(f"{NODE}/motion", "", anchor="bottom-left")
        self._draw(motion)
        self._timer.reset()

    def hide(self) -> None:
        """Remove what is drawn."""
        self._timer.cancel()
        for node in reversed(self._nodes.values()):
            node.remove()
        self._nodes.clear()

    def _tick(self) -> None:
        if (motion := self._motion) is None:
            return
        step = PERIOD / STEP * (1.0 if motion.size(self._s) else SKIP)
        self._s = min(self._s + step, 4.0)
        if self._s >= 4.0:
            self._timer.cancel()
        self._draw(motion)

    def _draw(self, motion: RowMotion) -> None:
        T = motion.at(self._s)
        x, y, z, w = quaternion(T)
        frame = self._nodes["frame"]
        frame.wxyz, frame.position = (w, x, y, z), T[:3, 3]
        self._nodes["label"].text = motion.label(self._s, self.units())
        if ways := motion.lines(self._s):
            self._nodes["ways"] = self.context.view.drawer.scene.add_line_segments(
                f"{NODE}_ways",
                np.array([way for way, _ in ways]),
                np.array([[colour, colour] for _, colour in ways], dtype=np.uint8),
                thickness=4.0,
                thickness_units="screen",
            )
