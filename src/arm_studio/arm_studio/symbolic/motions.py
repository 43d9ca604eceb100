# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Products of elementary motions, in which turns about parallel axes add up.

Multiplied as matrices, two parallel axes give cos q2 cos q3 - sin q2 sin q3, and a general
simplifier needs minutes to find cos(q2 + q3) in the product of six. Here a turn waits until
one about another axis follows it, so that the sums arise by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import sympy as sp

_AXES = "xyz"
_LONG = 120  # operations above which an entry is left as it is


class Motion(NamedTuple):
    """A turn about, or a shift along, an axis of the moving frame."""

    turns: bool
    axis: str  # x, y or z
    amount: sp.Expr  # [rad or m]


def turn(axis: str, amount: sp.Expr) -> Motion:
    """Return a turn [rad]."""
    return Motion(True, axis, amount)


def shift(axis: str, amount: sp.Expr) -> Motion:
    """Return a shift [m]."""
    return Motion(False, axis, amount)


def rotation(axis: str, angle: sp.Expr) -> sp.Matrix:
    """Return the rotation (3, 3) about an axis."""
    k = _AXES.index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3
    R, c, s = sp.eye(3), sp.cos(angle), sp.sin(angle)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


class Product:
    """The frame that motions lead to, one after the other: R = done Rot(axis, angle)."""

    def __init__(self, motions: Iterable[Motion] = ()) -> None:
        self._done, self._axis, self._angle = sp.eye(3), "z", sp.Integer(0)
        self.p = sp.zeros(3, 1)
        for motion in motions:
            self.move(motion)

    def move(self, motion: Motion) -> None:
        """Append a motion."""
        if motion.amount == 0:
            return
        if not motion.turns:
            along = sp.zeros(3, 1)
            along[_AXES.index(motion.axis)] = motion.amount
            turned = rotation(self._axis, self._angle) * along
            self.p = (self.p + self._done * turned).applyfunc(_tidy)
        elif motion.axis == self._axis:
            self._angle = sp.expand(self._angle + motion.amount)
        elif sp.simplify(sp.sin(motion.amount)) == 0 and self._angle.free_symbols:
            # Half a turn about another axis reverses those that were kept apart.
            self._done = (self._done * rotation(motion.axis, motion.amount)).applyfunc(_tidy)
            if sp.cos(motion.amount) == -1:
                self._angle = -self._angle
        else:
            self._done, self._axis, self._angle = self.R, motion.axis, motion.amount

    @property
    def R(self) -> sp.Matrix:
        """The rotation (3, 3)."""
        return (self._done * rotation(self._axis, self._angle)).applyfunc(_tidy)

    @property
    def matrix(self) -> sp.Matrix:
        """The transform (4, 4)."""
        return self.R.row_join(self.p).col_join(sp.Matrix([[0, 0, 0, 1]]))


def inverse_of(motions: Iterable[Motion]) -> list[Motion]:
    """Return the motions that undo others."""
    return [motion._replace(amount=-motion.amount) for motion in reversed(list(motions))]


def _tidy(entry: sp.Expr) -> sp.Expr:
    """Return the shorter of an entry as it is and with common factors in front."""
    if entry.count_ops() > _LONG:
        return entry
    return min((entry, sp.factor_terms(entry)), key=lambda e: e.count_ops())
