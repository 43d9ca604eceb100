# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Maps axis position -> setpoint -> 12-bit count, and back.

A setpoint is what a calibration measures of a servo: of a board the length of its pulses [us], of
a smart servo its count.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from arm_hardware.bus.interface import COUNTS

if TYPE_CHECKING:
    from arm_description.model.gripper import Claw


# A common small servo's data sheet: 0.12 s for 60 degrees without load, dead band 5 us; 180
# degrees are 2000 us.
SLEW_US = 60.0 / 180.0 * 2000.0 / 0.12

TRAVEL_US = (500.0, 2500.0)  # pulses at the end stops of common servos
FAKE_COUNT = 1e-9  # [rad or m] the step of fake hardware


@dataclass(frozen=True)
class PointMap:
    """A piecewise linear map through calibrated points.

    Setpoints are lengths of pulses [us] of a board, and counts of a smart servo, 4096 a turn.
    """

    channel: int  # of the board, or id of the servo
    positions: tuple[float, ...]  # of the points, strictly increasing [rad or m]
    setpoints: tuple[float, ...]  # of the points, strictly increasing or strictly decreasing
    setpoint_limits: tuple[float, float]  # (least, most) setpoint that may ever be sent
    setpoint_per_count: float
    # speed of the servo [setpoint/s]; that of a common small one unless it was measured
    slew: float = SLEW_US

    @cached_property
    def counts(self) -> tuple[int, int]:
        """The least and the most count that may ever be sent."""
        low, high = self._setpoint_range
        return math.ceil(low / self.setpoint_per_count - 1e-9), math.floor(
            high / self.setpoint_per_count + 1e-9
        )

    @property
    def travel(self) -> tuple[float, float]:
        """Setpoints at the ends of the servo's own travel, which may exceed the joint's."""
        return (
            min(TRAVEL_US[0], self.setpoint_limits[0]),
            max(TRAVEL_US[1], self.setpoint_limits[1]),
        )

    @property
    def frame(self) -> float:
        """Period of the pulses [s]."""
        return COUNTS * self.setpoint_per_count * 1e-6

    @property
    def lower(self) -> float:
        """Smallest position that points and setpoint limits allow [rad or m]."""
        return min(map(self.position_at, self._setpoint_range))

    @property
    def upper(self) -> float:
        """Largest position that points and setpoint limits allow [rad or m]."""
        return max(map(self.position_at, self._setpoint_range))

    def measured(self, count: int) -> float:
        """Return the position of a measured count, also beyond the points [rad or m]."""
        low, high = min(self.setpoints), max(self.setpoints)
        setpoint = count * self.setpoint_per_count
        inside = min(max(setpoint, low), high)
        beyond = (setpoint - inside) / self.setpoint_per_count
        return self.position_at(inside) + beyond * self.slope(count)

    def slope(self, count: int | None) -> float:
        """Return position per count [rad or m] at a count, None for the middle of the points."""
        step = self.setpoint_per_count
        low, high = min(self.setpoints), max(self.setpoints)
        setpoint = 0.5 * (low + high) if count is None else count * step
        at = min(max(setpoint, low + step), high - step)
        return 0.5 * (self.position_at(at + step) - self.position_at(at - step))

    def setpoint_of(self, position: float) -> float:
        """Return the setpoint of a position; beyond the points, that of the end point."""
        return _between(position, self.positions, self.setpoints)

    def count_of(self, position: float) -> int:
        """Return the nearest count that may be sent for a position [rad or m]."""
        least, most = self.counts
        return min(max(round(self.setpoint_of(position) / self.setpoint_per_count), least), most)

    def position_of(self, count: int) -> float:
        """Return the position at a count [rad or m]."""
        return self.position_at(count * self.setpoint_per_count)

    def rounding(self, count: int) -> float:
        """Return how far a position that is rounded to a count may be from it [rad or m].

        Counts differ in size on the two sides of a calibrated point, and along a claw.
        """
        if count not in self._roundings:  # every tick of a motion asks for them
            below, at, above = (self.position_of(count + k) for k in (-1, 0, 1))
            self._roundings[count] = 0.5 * max(abs(above - at), abs(at - below))
        return self._roundings[count]

    @cached_property
    def _roundings(self) -> dict[int, float]:
        return {}

    def position_at(self, setpoint: float) -> float:
        """Return the position at a setpoint; beyond the points, that of the end point."""
        setpoints, positions = self._by_setpoint
        return _between(setpoint, setpoints, positions)

    @cached_property
    def _by_setpoint(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Setpoints and positions of the points, sorted by setpoint."""
        step = 1 if self.setpoints[0] < self.setpoints[-1] else -1
        return self.setpoints[::step], self.positions[::step]

    @property
    def _setpoint_range(self) -> tuple[float, float]:
        """The least and the most setpoint that points and setpoint limits allow."""
        least, most = self.setpoint_limits
        return max(least, min(self.setpoints)), min(most, max(self.setpoints))


@dataclass(frozen=True, kw_only=True)
class JawMap(PointMap):
    """The map of a claw: widths outside, angles of its turning jaws at the points."""

    claw: Claw

    def setpoint_of(self, position: float) -> float:
        """Return the setpoint of a width."""
        return super().setpoint_of(self.claw.angle(position))

    def position_at(self, setpoint: float) -> float:
        """Return the width at a setpoint [m]."""
        return self.claw.width(super().position_at(setpoint))


@dataclass(frozen=True)
class FineMap:
    """The map of fake hardware: any position, in negligibly small steps."""

    channel: int
    lower: float = -math.inf
    upper: float = math.inf

    def count_of(self, position: float) -> int:
        """Return the count of a position [rad or m]."""
        return round(position / FAKE_COUNT)

    def position_of(self, count: int) -> float:
        """Return the position of a count [rad or m]."""
        return count * FAKE_COUNT

    def measured(self, count: int) -> float:
        """Return the same."""
        return self.position_of(count)

    def rounding(self, count: int) -> float:
        """Return how far a position that is rounded to a count may be from it [rad or m]."""
        return 0.5 * FAKE_COUNT

    def slope(self, count: int | None) -> float:
        """Return the position per count [rad or m]."""
        return FAKE_COUNT


ServoMap: TypeAlias = PointMap | FineMap


def _between(x: float, xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return y at x, interpolated linearly and clamped; numpy would take ten times as long."""
    if x <= xs[0]:
        return float(ys[0])
    if x >= xs[-1]:
        return float(ys[-1])
    k = bisect_right(xs, x) - 1
    return float(ys[k] + (x - xs[k]) * (ys[k + 1] - ys[k]) / (xs[k + 1] - xs[k]))


def resolution(servo: ServoMap, count: int | None) -> float:
    """Return the size of one count [rad or m] near ``count``, or at mid-travel if it is None."""
    if count is None:
        count = servo.count_of(0.5 * (servo.lower + servo.upper))
    step = -1 if servo.position_of(count + 1) == servo.position_of(count) else 1
    return abs(servo.position_of(count + step) - servo.position_of(count))
