# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/model/transmissions/test_transmission.py
"""Curved transmissions: a crank and rod, and a measured table.

A crank and rod are a four-bar linkage with its real lengths. The actuator's shaft is at A, the
joint's axis at B; the ground line goes from A to B. The crank AC turns by phi, the rocker BD by
psi from the ground line, both counter-clockwise about the joint's axis; the rod joins C and D
(Norton, "Design of Machinery", section 4.5). If D is known, C is where circles about A and D meet,
hence phi = atan2(D - A) +- acos(...), and likewise backwards.

A table has joint and actuator positions. Between the points the map is a monotone cubic, whose
speed has no steps (Fritsch and Carlson, "Monotone piecewise cubic interpolation", SIAM J. Numer.
Anal. 17, 1980); beyond them a line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from arm_common.transforms import Array
from numpy.typing import NDArray

from arm_description.model.transmissions.transmission import CurvedTransmission, Pair

LEAST_ANGLE = math.radians(10.0)  # default minimum transmission angle
_SAMPLES = 721  # of the joint's range, in which the linkage is checked
_HALVINGS, _NEWTON = 12, 4  # of the inverse of a table: bracketing, then polishing


@dataclass(frozen=True)
class LinkageLengths:
    """Lengths of a four-bar linkage [m]."""

    ground: float  # from the actuator's shaft to the joint's axis
    crank: float  # the actuator's lever
    rod: float
    rocker: float  # the joint's lever


@dataclass(frozen=True)
class CrankTransmission(CurvedTransmission):
    """A crank on the actuator that moves a rocker on the joint's link over a rod.

    If the actuator sits on an earlier link, the ground line is a link that moves against it:
    ``actuator = phi - crank_angle + ratio * depends_on``, with ``psi = joint + rocker_angle``.
    """

    lengths: LinkageLengths
    span: Pair  # the joint's limits; in their middle, the branch is chosen [rad]
    branch: str = "open"  # in the middle crank and rocker are on one side of the ground line
    crank_angle: float = 0.0  # of the crank with the actuator at 0 [rad]
    rocker_angle: float = 0.0  # of the rocker with the joint at 0 [rad]
    ratio: float = 1.0  # of ``depends_on``, the joint that moves the ground line, if any
    least_angle: float = LEAST_ANGLE  # between the rod and each lever  [rad]

    def to_actuators(self, q: Array) -> Array:
        """Return the actuator (..., 1) with the inputs at q (..., k)."""
        phi = self._phi(q[..., 0] + self.rocker_angle) - self.crank_angle
        return np.asarray(phi + self._carried(q[..., 1:]))[..., None]

    def to_joints(self, a: Array, others: Array) -> Array:
        """Return the joint (..., 1) with the actuator at a (..., 1)."""
        phi = a[..., 0] - self._carried(others) + self.crank_angle
        return np.asarray(self._psi(phi) - self.rocker_angle)[..., None]

    def jacobian(self, q: Array) -> Array:
        """Return (..., 1, k): the velocity ratio follows from the rod, which keeps its length."""
        psi = q[..., 0] + self.rocker_angle
        phi = self._phi(psi)
        bars = self.lengths
        rod_x = bars.ground + bars.rocker * np.cos(psi) - bars.crank * np.cos(phi)
        rod_y = bars.rocker * np.sin(psi) - bars.crank * np.sin(phi)
        # The ends move alike along the rod: crank x rod * dphi = rocker x rod * dpsi
        by_psi = bars.rocker * (np.cos(psi) * rod_y - np.sin(psi) * rod_x)
        by_phi = bars.crank * (np.cos(phi) * rod_y - np.sin(phi) * rod_x)
        own = (by_psi / by_phi)[..., None, None]
        carried = np.full((*own.shape[:-1], len(self.depends_on)), self.ratio)
        return np.concatenate([own, carried], axis=-1)

    def joint_at_limit(self, limit: float, q: Array) -> Array:
        """Return (...); beyond the joint's own limits the map is continued by lines."""
        a = limit - self._carried(q[..., 1:])
        rises = self._ends[1][1] > self._ends[1][0]
        (a1, a2), (r1, r2) = (row[:: 1 if rises else -1] for row in self._ends[1:])
        inner = self.to_joints(np.clip(a, a1, a2)[..., None], 0.0 * q[..., 1:])[..., 0]
        before, after = np.minimum(a - a1, 0.0), np.maximum(a - a2, 0.0)
        return np.asarray(inner + before / r1 + after / r2)

    @cached_property
    def _ends(self) -> tuple[Pair, Pair, Pair]:
        """At the ends of the joint's limits: joint, actuator, velocity ratio; against at 0."""
        q = np.array([[end, *(0.0 for _ in self.depends_on)] for end in self.span])
        a, rates = self.to_actuators(q)[:, 0], self.jacobian(q)[:, 0, 0]
        return self.span, (float(a[0]), float(a[1])), (float(rates[0]), float(rates[1]))

    @property
    def _middle(self) -> float:
        return 0.5 * (self.span[0] + self.span[1])

    def closes(self, q: Array) -> Array:
        """Return whether the linkage closes with the joint at q (...), away from dead points.

        In one assembly, that of the middle of the joint's limits.
        """
        bars = self.lengths
        psi = q + self.rocker_angle
        x, y = bars.ground + bars.rocker * np.cos(psi), bars.rocker * np.sin(psi)
        reach = np.hypot(x, y)
        cosine = (bars.crank**2 + bars.rod**2 - reach**2) / (2.0 * bars.crank * bars.rod)  # at C
        phi = self._phi(psi)
        rod = np.stack([x - bars.crank * np.cos(phi), y - bars.crank * np.sin(phi)])
        sine = (rod[0] * np.sin(psi) - rod[1] * np.cos(psi)) / bars.rod  # at D, signed by its side
        least = math.sin(self.least_angle)
        inside = (np.abs(cosine) < math.cos(self.least_angle)) & (sine * self._side > least)
        return np.asarray(inside)

    def closing_range(self) -> Pair | None:
        """Return the part of the joint's limits in which it closes [rad], None if nowhere."""
        q = np.linspace(*self.span, _SAMPLES)
        inside = self.closes(q)
        if not inside.any():
            return None
        start = int(np.argmin(np.where(inside, np.abs(q - self._middle), math.inf)))
        first = last = start
        while first > 0 and inside[first - 1]:
            first -= 1
        while last < len(q) - 1 and inside[last + 1]:
            last += 1
        return float(q[first]), float(q[last])

    def _carried(self, others: Array) -> Array:
        return np.asarray(self.ratio * others.sum(axis=-1))

    @cached_property
    def _turn(self) -> float:
        """1 if the crank is counter-clockwise from the line AD, -1 otherwise."""
        above = math.sin(self._middle + self.rocker_angle) >= 0.0
        return 1.0 if above == (self.branch == "open") else -1.0

    @cached_property
    def _centre(self) -> tuple[float, float]:
        """Angles phi and psi at the middle of the joint's limits [rad]."""
        psi = np.array(self._middle + self.rocker_angle)
        return float(self._phi_near(psi, None)), float(psi)

    @cached_property
    def _side(self) -> float:
        """The sign of the angle at D in this assembly: 1 if D is clockwise from the line BC."""
        phi, psi = self._centre
        bars = self.lengths
        x = bars.ground + bars.rocker * math.cos(psi) - bars.crank * math.cos(phi)
        y = bars.rocker * math.sin(psi) - bars.crank * math.sin(phi)
        return 1.0 if x * math.sin(psi) - y * math.cos(psi) >= 0.0 else -1.0

    def _phi(self, psi: Array) -> Array:
        return self._phi_near(psi, self._centre[0])

    def _phi_near(self, psi: Array, centre: float | None) -> Array:
        bars = self.lengths
        x, y = bars.ground + bars.rocker * np.cos(psi), bars.rocker * np.sin(psi)
        reach2 = x * x + y * y
        cosine = (bars.crank**2 + reach2 - bars.rod**2) / (2.0 * bars.crank * np.sqrt(reach2))
        phi = np.arctan2(y, x) + self._turn * np.arccos(np.clip(cosine, -1.0, 1.0))
        return np.asarray(phi if centre is None else _near(phi, centre))

    def _psi(self, phi: Array) -> Array:
        bars = self.lengths
        x, y = bars.crank * np.cos(phi) - bars.ground, bars.crank * np.sin(phi)
        reach2 = x * x + y * y
        cosine = (bars.rocker**2 + reach2 - bars.rod**2) / (2.0 * bars.rocker * np.sqrt(reach2))
        psi = np.arctan2(y, x) - self._side * np.arccos(np.clip(cosine, -1.0, 1.0))
        return _near(psi, self._centre[1])


def _near(angle: Array, centre: float) -> Array:
    """Return the angles plus whole turns, within half a turn of a centre [rad]."""
    turn = 2.0 * math.pi
    return np.asarray(angle - turn * np.round((angle - centre) / turn))


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
