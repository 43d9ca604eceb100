# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Screw threads with a 60 degree profile: sizes from the formulas of the thread standards.

Unified inch threads, class 2A on 2B: ASME B1.1-2003, section 5 (allowance, tolerances).
Metric threads, 6g on 6H: ISO 965-1:2013, section 6 and annex (formulas before rounding).
The actual sizes of a part are in the middle of its tolerances. Pictures show bolts and nuts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import numpy as np
from arm_common.transforms import Array
from arm_description.model.units import mm

from arm_tasks.errors import SceneError

Series = Literal["unified", "metric"]
INCH = 0.0254  # [m]
_H = math.sqrt(3.0) / 2.0  # height of the sharp triangle, in pitches
_FLANK = math.sqrt(3.0)  # radial rise of a flank per axial length: half the angle is 30 degrees
# Geometric means of the ranges of nominal diameters of ISO 965-1 [mm]
_RANGES = (0.99, 1.4, 2.8, 5.6, 11.2, 22.4, 45.0, 90.0, 180.0, 355.0)
_FINEST = 0.05e-3  # smallest pitch [m]: that of S0.3, the finest of ISO 1501, is 0.08 mm
_SLENDER = 0.45  # largest pitch, in diameters: more leaves no core
# Diameter of a nut's countersink, in major diameters: ASME B18.2.2 has 1.05 to 1.15
_COUNTERSINK = 1.1
COUNTERSINK_SLOPE = math.tan(math.radians(60.0))  # radius per depth of 120 degrees
_COARSE = 24  # points around the axis of a picture
_EXACT = 1e-6  # sizes that differ by less are the same [m]


@dataclass(frozen=True)
class ThreadSizes:
    """Diameters of one part, a bolt or a nut [m]."""

    major: float
    pitch_diameter: float
    minor: float

    def radius(self, axial: float, pitch: float) -> float:
        """Return the radius of the profile [m] at an axial distance from the middle of a crest."""
        u = abs(math.remainder(axial, pitch))
        flank = self.pitch_diameter / 2.0 + (pitch / 4.0 - u) * _FLANK
        return min(max(flank, self.minor / 2.0), self.major / 2.0)


@dataclass(frozen=True)
class ScrewThread:
    """A thread: nominal major diameter and pitch [m], hand +1 (right) or -1 (left)."""

    diameter: float
    pitch: float
    hand: int = 1
    series: Series = "unified"

    def __post_init__(self) -> None:
        sizes = (self.diameter, self.pitch)
        if not all(math.isfinite(v) and v > 0.0 for v in sizes):
            raise SceneError(
                f"a thread of {mm(self.diameter)} with a pitch of {mm(self.pitch)} does not exist",
                remedy="give lengths above 0",
            )
        if self.pitch < _FINEST:
            raise SceneError(
                f"no thread has a pitch of {mm(self.pitch)}",
                remedy=f"give at least {mm(_FINEST)}; is the unit right?",
            )
        if self.pitch > _SLENDER * self.diameter:
            raise SceneError(
                f"a pitch of {mm(self.pitch)} leaves no core in a bolt of {mm(self.diameter)}",
                remedy=f"give at most {_SLENDER * self.diameter * 1e3:.3g} mm",
            )

    @classmethod
    def of(cls, diameter: float, pitch: float, hand: int = 1) -> ScrewThread:
        """Return a thread [m], a metric one if the diameter is a multiple of half a millimetre."""
        metric = _is_multiple(diameter, 0.5e-3)
        return cls(diameter, pitch, hand, "metric" if metric else "unified")

    def __str__(self) -> str:
        """Return the designation, such as M6x1 or 1/4-20, with LH for a left-hand thread."""
        left = " LH" if self.hand < 0 else ""
        if self.series == "metric":
            return f"M{self.diameter * 1e3:g}x{self.pitch * 1e3:.4g}{left}"
        inches = Fraction(round(self.diameter / INCH * 64), 64)
        if _is_multiple(self.diameter, INCH / 64) and _is_multiple(INCH, self.pitch):
            return f"{inches}-{INCH / self.pitch:.0f}{left}"
        return f"{self.diameter * 1e3:.4g} mm x {self.pitch * 1e3:.4g} mm{left}"

    def fits(self, other: ScrewThread, turns: float) -> bool:
        """Return whether bolt and nut with these threads can be screwed together by some turns.

        The diameters may differ by the play between the flanks, and so may the pitches over all
        turns.
        """
        radial = 2.0 * self.radial_clearance + _EXACT
        axial = 2.0 * self.radial_clearance / _FLANK + _EXACT
        wide = abs(self.diameter - other.diameter) <= radial
        return wide and self.hand == other.hand and abs(self.pitch - other.pitch) * turns <= axial

    @property
    def countersink(self) -> float:
        """Diameter of a nut's countersink at its face [m]."""
        return _COUNTERSINK * self.diameter

    @property
    def mouth(self) -> float:
        """Largest offset of a bolt's tip from the axis at which it is in the countersink [m].

        The tip is chamfered to below the minor diameter (ASME B18.2.1).
        """
        return (self.countersink - self.external.minor) / 2.0

    @property
    def tip_radius(self) -> float:
        """Radius of a bolt's chamfered tip [m], below the minor diameter (ASME B18.2.1)."""
        return self.external.minor / 2.0 - 0.15 * self.pitch

    @property
    def starting_tilt(self) -> float:
        """Tilt from which the next groove is nearer [rad]: half a pitch over the diameter."""
        return math.atan(0.5 * self.pitch / self.diameter)

    @property
    def external(self) -> ThreadSizes:
        """Sizes of the bolt, 2A or 6g."""
        d, p = self.diameter - self._allowance, self.pitch
        middle = d - 0.75 * _H * p - self._external_tolerance / 2.0
        # UNR and ISO 68-1 with a rounded root: the root lies H/4 to H/8 above the sharp triangle
        return ThreadSizes(d - self._crest_tolerance / 2.0, middle, d - 2.0 * 0.6875 * _H * p)

    @property
    def internal(self) -> ThreadSizes:
        """Sizes of the nut, 2B or 6H."""
        d, p = self.diameter, self.pitch
        middle = d - 0.75 * _H * p + self._internal_tolerance / 2.0
        minor = d - 1.25 * _H * p + self._hole_tolerance / 2.0
        return ThreadSizes(d + _H * p / 12.0, middle, minor)

    @property
    def radial_clearance(self) -> float:
        """Distance between the flanks of bolt and nut at the pitch line, along the radius [m]."""
        return (self.internal.pitch_diameter - self.external.pitch_diameter) / 2.0

    @property
    def _allowance(self) -> float:
        if self.series == "metric":  # g: ISO 965-1, 6.2
            return (15.0 + 11.0 * self.pitch * 1e3) * 1e-6
        return 0.3 * self._external_tolerance  # B1.1, 5.8.1

    @property
    def _external_tolerance(self) -> float:
        """Tolerance of the pitch diameter, of 2A (B1.1, 5.8.1 a) or grade 6 (ISO 965-1, 6.3.2)."""
        if self.series == "metric":
            return 90e-6 * math.pow(self.pitch * 1e3, 0.4) * math.pow(self._mean_diameter, 0.1)
        d, p = self.diameter / INCH, self.pitch / INCH
        return 0.0015 * (math.pow(d, 1 / 3) + math.sqrt(d) + 10.0 * math.pow(p, 2 / 3)) * INCH

    @property
    def _internal_tolerance(self) -> float:
        return (1.32 if self.series == "metric" else 1.3) * self._external_tolerance

    @property
    def _crest_tolerance(self) -> float:
        """Tolerance of the bolt's major diameter."""
        if self.series == "metric":
            p = self.pitch * 1e3
            return (180.0 * math.pow(p, 2 / 3) - 3.15 / math.sqrt(p)) * 1e-6
        return 0.06 * math.pow(self.pitch / INCH, 2 / 3) * INCH

    @property
    def _hole_tolerance(self) -> float:
        """Tolerance of the nut's minor diameter."""
        if self.series == "metric":
            p = self.pitch * 1e3
            return (
                433.0 * p - 190.0 * math.pow(p, 1.22) if p < 1.0 else 230.0 * math.pow(p, 0.7)
            ) * 1e-6
        p = self.pitch / INCH
        return (0.25 * p - 0.4 * p * p) * INCH

    @property
    def _mean_diameter(self) -> float:
        """Geometric mean of the range of the nominal diameter [mm]."""
        d = self.diameter * 1e3
        for low, high in pairwise(_RANGES):
            if d <= high:
                return math.sqrt(low * high)
        return d


def _is_multiple(length: float, unit: float) -> bool:
    return abs(math.remainder(length, unit)) < _EXACT


def bolt_picture(thread: ScrewThread, length: float, start: float = 0.0) -> Array:
    """Return the corners (3 k, 3) of few triangles that look like a bolt, as messages carry [m].

    The rows of points follow the helix, a row for each direction of a turn.
    """
    turned, heights, radii = _coarse(thread, thread.external, 0.0, length)
    tip = thread.tip_radius
    points = _placed(turned + start, heights, np.minimum(radii, tip + heights))
    angles = np.linspace(0.0, 2.0 * math.pi, _COARSE + 1)
    disc = _placed(angles[:, None], np.zeros((1, 2)), np.array([[tip, 0.0]]))
    corners = [_corners(points, flip=thread.hand < 0), _corners(disc, flip=True)]
    return np.vstack(corners)


def nut_picture(thread: ScrewThread, across_flats: float, thickness: float) -> Array:
    """Return the corners (3 k, 3) of few triangles that look like a nut [m]."""
    half = thickness / 2.0
    turned, heights, radii = _coarse(thread, thread.internal, -half, half, half)
    mouth = thread.countersink / 2.0
    radii = np.maximum(radii, mouth - (half - np.abs(heights)) * COUNTERSINK_SLOPE)
    inside = _placed(turned, heights, radii)
    angles = np.linspace(0.0, 2.0 * math.pi, _COARSE + 1)
    from_flat = (angles + math.pi / 6.0) % (math.pi / 3.0) - math.pi / 6.0
    outer = across_flats / 2.0 / np.cos(from_flat)
    inner = np.full_like(outer, mouth)
    rim = np.column_stack([inner, outer, outer, inner])
    hexagon = _placed(angles[:, None], np.array([[-half, -half, half, half]]), rim)
    return np.vstack([_corners(inside, flip=thread.hand > 0), _corners(hexagon)])


def _coarse(
    thread: ScrewThread, sizes: ThreadSizes, low: float, high: float, at: float = 0.0
) -> tuple[Array, Array, Array]:
    """Return angles, heights and radii (k, 5) of the corners of the profile along the helix.

    The crest, or the groove of a nut, passes the height `at` at the angle 0.
    """
    p = thread.pitch
    profile = np.array([-0.375, -0.0625, 0.0625, 0.375, 0.625]) * p  # ends of root and crest
    first = math.floor((low - at) / p - 1.0) * _COARSE
    count = math.ceil((high - low) / p + 3.0) * _COARSE
    steps = (first + np.arange(count + 1))[:, None] / _COARSE  # turns
    heights = np.clip(at + p * steps + profile, low, high)
    radii = np.array([[sizes.radius(float(u), p) for u in profile]])
    angles = thread.hand * 2.0 * math.pi * steps
    return angles, heights, np.broadcast_to(radii, heights.shape)


def _placed(angles: Array, heights: Array, radii: Array) -> Array:
    """Return the points (i, j, 3) of a surface around z."""
    x, y = radii * np.cos(angles), radii * np.sin(angles)
    return np.stack([x, y, np.broadcast_to(heights, x.shape)], axis=-1)


def _corners(points: Array, flip: bool = False) -> Array:
    """Return the corners (3 k, 3) of the triangles between points (i, j, 3)."""
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    if flip:
        b, d = d, b
    found = np.concatenate([np.stack(t, axis=2).reshape(-1, 3, 3) for t in ((a, b, c), (a, c, d))])
    normal = np.cross(found[:, 1] - found[:, 0], found[:, 2] - found[:, 0])
    return np.asarray(found[np.abs(normal).max(axis=1) > 1e-14].reshape(-1, 3))
