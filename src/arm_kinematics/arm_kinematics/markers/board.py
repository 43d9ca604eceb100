# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Which layers are shown, which of them must be drawn anew, and what became of each mark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arm_kinematics.errors import KinematicsError
from arm_kinematics.markers.layers import LAYERS, Cause
from arm_kinematics.markers.mark import Mark, alike
from arm_kinematics.markers.seen import Seen


class Numbered(NamedTuple):
    """A mark by its layer and number; None if it is gone."""

    layer: str
    number: int
    mark: Mark | None


class Board:
    """What is shown. A layer is drawn only after something changed that it depends on.

    Args:
        on: Names of the layers to show at first.

    Attributes:
        seen: What there is to draw from; None before there is a robot.
    """

    def __init__(self, on: Iterable[str]) -> None:
        self.seen: Seen | None = None
        self._on = set(on)
        self._due: set[str] = set(self._on)
        self._marks: dict[str, list[Mark]] = {}

    def shows(self, layer: str) -> bool:
        """Return whether a layer is switched on."""
        return layer in self._on

    def switch(self, layer: str, on: bool) -> None:
        """Switch a layer on or off."""
        if on != self.shows(layer):
            self._on ^= {layer}
            self._due.add(layer)

    def touch(self, cause: Cause) -> None:
        """Note that something changed."""
        self._due |= {
            name for name in self._on if cause is Cause.ROBOT or cause in LAYERS[name].causes
        }

    @property
    def due(self) -> bool:
        """Whether something may look different from what was taken last."""
        return bool(self._due)

    def take(self, complete: bool = False) -> list[Numbered]:
        """Draw what is due and return what is new and what is gone.

        Args:
            complete: Return all that is shown, also what did not change.

        Returns:
            Marks that look different from those under the same number before, by layer.
        """
        changed: list[Numbered] = []
        due, self._due = self._due, set()
        for name in LAYERS:
            former = self._marks.get(name, [])
            marks = self._marks[name] = self._draw(name) if name in due else former
            for i, mark in enumerate(marks):
                if complete or i >= len(former) or not alike(mark, former[i]):
                    changed.append(Numbered(name, i, mark))
            changed += [Numbered(name, i, None) for i in range(len(marks), len(former))]
        return changed

    def _draw(self, name: str) -> list[Mark]:
        if self.seen is None or name not in self._on:
            return []
        try:
            return LAYERS[name].draw(self.seen)
        except KinematicsError:  # e.g. a joint that no joint_states have named yet
            return []
