# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A measured table of joint and actuator positions.

Between the points the map is a monotone cubic, whose speed has no steps (Fritsch and Carlson,
"Monotone piecewise cubic interpolation", SIAM J. Numer. Anal. 17, 1980); beyond them a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from arm_common.transforms import Array
from numpy.typing import NDArray

from arm_description.model.transmissions.transmission import CurvedTransmission, Pair

_HALVINGS, _NEWTON = 12, 4  # of the inverse: bracketing, then polishing


@dataclass(frozen=True)
class TableTransmission(CurvedTransmission):
    """One actuator that moves one joint as measured."""

    points: tuple[Pair, ...]  # (joint, actuator), the first increasing, the second monotone

    def to_actuators(self, q: Array) -> Array:
        """Return the actuator (..., 1) with the inputs at q (..., k)."""
        k, s = self._place(q)
        start, slope, c, e = self._cubics
        inner = s * (slope[k] + s * (c[k] + s * e[k]))
        return np.asarray(start[k] + np.where(s < 0.0, s * slope[k], inner) + self._beyond(k, s))

    def to_joints(self, a: Array, others: Array) -> Array:
        """Return the joint (..., 1) with the actuator at a (..., 1)."""
        x, y = self._columns
        order = slice(None) if y[-1] > y[0] else slice(None, None, -1)
        k = np.searchsorted(y[order], a, side="right") - 1
        k = np.clip(k, 0, len(x) - 2)
        if y[-1] < y[0]:
            k = len(x) - 2 - k
        return np.asarray(x[k] + self._solve(k, a) * np.diff(x)[k])

    def jacobian(self, q: Array) -> Array:
        """Return the derivative of the actuator by the joint, (..., 1, 1)."""
        k, s = self._place(q)
        _, slope, c, e = self._cubics
        inside = np.clip(s, 0.0, 1.0)
        rate = slope[k] + inside * (2.0 * c[k] + 3.0 * inside * e[k])
        return np.asarray(rate / np.diff(self._columns[0])[k])[..., None]

    def joint_at_limit(self, limit: float, q: Array) -> Array:
        """Return the joint (...) that takes the actuator to a limit."""
        return self.to_joints(np.full_like(q[..., :1], limit), q[..., 1:])[..., 0]

    @cached_property
    def _columns(self) -> tuple[Array, Array]:
        rows = np.array(self.points)
        return rows[:, 0], rows[:, 1]

    @cached_property
    def _cubics(self) -> tuple[Array, Array, Array, Array]:
        """Of each segment, with s from 0 to 1: ``start + slope s + c s^2 + e s^3``."""
        x, y = self._columns
        h, d = np.diff(x), np.diff(y) / np.diff(x)
        rates = np.concatenate([d[:1], d[-1:]]) if len(d) == 1 else _monotone_slopes(h, d)
        a, b, rise = h * rates[:-1], h * rates[1:], np.diff(y)
        return y[:-1], a, 3.0 * rise - 2.0 * a - b, a + b - 2.0 * rise

    def _place(self, q: Array) -> tuple[NDArray[np.int_], Array]:
        """Return segment and place in it, outside of 0 to 1 beyond the points."""
        x = self._columns[0]
        k = np.clip(np.searchsorted(x, q, side="right") - 1, 0, len(x) - 2)
        return k, (q - x[k]) / np.diff(x)[k]

    def _beyond(self, k: NDArray[np.int_], s: Array) -> Array:
        """Return the correction from the cubic to the line beyond its end."""
        _, slope, c, e = self._cubics
        over = s > 1.0
        end = slope[k] + c[k] + e[k] + (s - 1.0) * (slope[k] + 2.0 * c[k] + 3.0 * e[k])
        return np.where(over, end - s * (slope[k] + s * (c[k] + s * e[k])), 0.0)

    def _solve(self, k: NDArray[np.int_], a: Array) -> Array:
        """Return the places at which the cubics of segments reach positions; lines beyond."""
        start, slope, c, e = (part[k] for part in self._cubics)
        sign = np.sign(self._columns[1][-1] - self._columns[1][0])
        low, high = np.zeros_like(a), np.ones_like(a)
        for _ in range(_HALVINGS):
            s = 0.5 * (low + high)
            above = sign * (start + s * (slope + s * (c + s * e)) - a) > 0.0
            low, high = np.where(above, low, s), np.where(above, s, high)
        s = 0.5 * (low + high)
        for _ in range(_NEWTON):
            error = start + s * (slope + s * (c + s * e)) - a
            s = np.clip(s - error / (slope + s * (2.0 * c + 3.0 * s * e)), low, high)
        rate = slope + 2.0 * c + 3.0 * e
        before, after = (a - start) / slope, 1.0 + (a - start - slope - c - e) / rate
        return np.where(before < 0.0, before, np.where(after > 1.0, after, s))


def _monotone_slopes(h: Array, d: Array) -> Array:
    """Return slopes at the points: weighted harmonic means, which keep the cubics monotone.

    Args:
        h: Widths of the segments (m - 1,).
        d: Their mean slopes, all of one sign, (m - 1,).
    """
    w1, w2 = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    inner = (w1 + w2) / (w1 / d[:-1] + w2 / d[1:])
    return np.concatenate([d[:1], inner, d[-1:]])
