# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Maps axis position -> pulse length -> 12-bit count, and back.

One count is one step of the board's counter: ``(PRE_SCALE + 1) / clock`` seconds (NXP PCA9685 data
sheet, rev. 4, section 7.3.5).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from arm_description.model.gripper import Claw


# A common small servo's data sheet: 0.12 s for 60 degrees without load, dead band 5 us; 180
# degrees are 2000 us.
SLEW_US = 60.0 / 180.0 * 2000.0 / 0.12

COUNTS = 4096  # of a board's period, and of a turn of a servo that answers
TRAVEL_US = (500.0, 2500.0)  # pulses at the end stops of common servos
FAKE_COUNT = 1e-9  # [rad or m] the step of fake hardware


def prescale(frequency_hz: float, clock_hz: float) -> int:
    """Return the PRE_SCALE register for a pulse frequency (data sheet, section 7.3.5, eq. 1)."""
    return int(clock_hz / COUNTS / frequency_hz + 0.5) - 1


def count_us(frequency_hz: float, clock_hz: float) -> float:
    """Return the length of one count [us]."""
    return (prescale(frequency_hz, clock_hz) + 1) / clock_hz * 1e6


@dataclass(frozen=True)
class PointMap:
    """A piecewise linear map through calibrated points.

    Pulses are lengths [us] of a board, and for servos that answer counts, 4096 a turn.
    """

    channel: int  # of the board, or id of the servo
    positions: tuple[float, ...]  # of the points, strictly increasing [rad or m]
    pulses: tuple[float, ...]  # of the points, strictly increasing or strictly decreasing
    pulse_limits: tuple[float, float]  # (least, most) pulse that may ever be sent
    pulse_per_count: float
    # speed of the servo [us/s]; that of a common small one unless it was measured
    slew_us: float = SLEW_US

    @cached_property
    def counts(self) -> tuple[int, int]:
        """The least and the most count that may ever be sent."""
        low, high = self._pulse_range
        return math.ceil(low / self.pulse_per_count - 1e-9), math.floor(
            high / self.pulse_per_count + 1e-9
        )

    @property
    def travel_us(self) -> tuple[float, float]:
        """Pulses at the ends of the servo's own travel, which may exceed the joint's [us]."""
        return (
            min(TRAVEL_US[0], self.pulse_limits[0]),
            max(TRAVEL_US[1], self.pulse_limits[1]),
        )

    @property
    def frame(self) -> float:
        """Period of the pulses [s]."""
        return COUNTS * self.pulse_per_count * 1e-6

    @property
    def lower(self) -> float:
        """Smallest position that points and pulse limits allow [rad or m]."""
        return min(map(self.position_at, self._pulse_range))

    @property
    def upper(self) -> float:
        """Largest position that points and pulse limits allow [rad or m]."""
        return max(map(self.position_at, self._pulse_range))

    def measured(self, count: int) -> float:
        """Return the position of a measured count, also beyond the points [rad or m]."""
        low, high = min(self.pulses), max(self.pulses)
        pulse = count * self.pulse_per_count
        inside = min(max(pulse, low), high)
        beyond = (pulse - inside) / self.pulse_per_count
        return self.position_at(inside) + beyond * self.slope(count)

    def slope(self, count: int | None) -> float:
        """Return position per count [rad or m] at a count, None for the middle of the points."""
        step = self.pulse_per_count
        low, high = min(self.pulses), max(self.pulses)
        pulse = 0.5 * (low + high) if count is None else count * step
        at = min(max(pulse, low + step), high - step)
        return 0.5 * (self.position_at(at + step) - self.position_at(at - step))

    def pulse_of(self, position: float) -> float:
        """Return the pulse of a position; beyond the points, that of the end point."""
        return _between(position, self.positions, self.pulses)

    def count_of(self, position: float) -> int:
        """Return the nearest count that may be sent for a position [rad or m]."""
        least, most = self.counts
        return min(max(round(self.pulse_of(position) / self.pulse_per_count), least), most)

    def position_of(self, count: int) -> float:
        """Return the position at a count [rad or m]."""
        return self.position_at(count * self.pulse_per_count)

    def rounding(self, count: int) -> float:
        """Return how far a position that is rounded to a count may be from it [rad or m].

        Counts differ in size on the two sides of a calibrated point, and along a claw.
        """
        below, at, above = (self.position_of(count + k) for k in (-1, 0, 1))
        return 0.5 * max(abs(above - at), abs(at - below))

    def position_at(self, pulse_us: float) -> float:
        """Return the position at a pulse; beyond the points, that of the end point."""
        pulses, positions = self._by_pulse
        return _between(pulse_us, pulses, positions)

    @cached_property
    def _by_pulse(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Pulses and positions of the points, sorted by pulse."""
        step = 1 if self.pulses[0] < self.pulses[-1] else -1
        return self.pulses[::step], self.positions[::step]

    @property
    def _pulse_range(self) -> tuple[float, float]:
        """The least and the most pulse that points and pulse limits allow."""
        least, most = self.pulse_limits
        return max(least, min(self.pulses)), min(most, max(self.pulses))


@dataclass(frozen=True, kw_only=True)
class JawMap(PointMap):
    """The map of a claw: widths outside, angles of its turning jaws at the points."""

    claw: Claw

    def pulse_of(self, position: float) -> float:
        """Return the pulse of a width."""
        return super().pulse_of(self.claw.angle(position))

    def position_at(self, pulse_us: float) -> float:
        """Return the width at a pulse [m]."""
        return self.claw.width(super().position_at(pulse_us))


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
