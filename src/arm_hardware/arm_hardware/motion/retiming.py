# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_hardware/test/motion/test_trajectory_start.py
"""Retimes a trajectory: never ahead of schedule, delayed where limits require it.

Where one joint cannot follow, time is stretched for all joints, so the arm stays on its path. The
path parameter of arm_common.control.time_scaling is the trajectory's own time, hence x <= 1.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
from arm_common.control.time_scaling import (
    ReachableSpeeds,
    backward_pass,
    forward_pass,
    reachable_speeds,
)
from arm_common.transforms import Array
from numpy.typing import NDArray

from arm_hardware.calibration.axes import Axis
from arm_hardware.motion.trajectory import Trajectory

_Cells = tuple[NDArray[np.int_], Array]

SLACK = 1.0005  # factor on limits, for trajectories planned exactly at them
SHARE = 0.98  # share of the limits used at grid points, as a margin between them
CELLS = 16  # most grid cells on a segment that is too fast, besides finer ones at its ends
MOST_CELLS = 20_000  # on all segments that are too fast, unless there are more than half as many
BLOCK = 256  # cells evaluated at once
TINY = 1e-12


class Timing(NamedTuple):
    """A trajectory's own time as a function of time, with constant acceleration between knots."""

    knots: Array  # (k,) times, from 0, never decreasing [s]
    places: Array  # (k,) the trajectory's own time at the knots, from 0 to its duration [s]
    rates: Array  # (k,) seconds of the trajectory's own time per second at the knots
    feasible: bool = True  # whether the limits can be kept from the start

    @property
    def duration(self) -> float:
        """Time from start to end [s]."""
        return float(self.knots[-1])

    def at(self, times: Array) -> Array:
        """Return the trajectory's own time at times (m,), both [s]."""
        if len(self.knots) == 1:
            return np.zeros_like(times)
        last = self.places[-1]
        i = np.clip(np.searchsorted(self.knots, times, side="right") - 1, 0, len(self.knots) - 2)
        took = self.knots[i + 1] - self.knots[i]
        past = np.clip(times - self.knots[i], 0.0, took)
        step = self.places[i + 1] - self.places[i]
        bend = 0.5 * (self.rates[i + 1] ** 2 - self.rates[i] ** 2) / step
        places: Array = np.minimum(
            self.places[i] + past * (self.rates[i] + 0.5 * past * bend), last
        )
        places[times >= self.knots[-1]] = last
        return places

    def rate(self, time: float) -> tuple[float, float]:
        """Return the rate of the trajectory's own time, and its change per second, at a time."""
        if not 0.0 <= time < self.duration:
            return 0.0, 0.0
        i = int(np.searchsorted(self.knots, time, side="right")) - 1
        step = float(self.places[i + 1] - self.places[i])
        bend = 0.5 * float(self.rates[i + 1] ** 2 - self.rates[i] ** 2) / step
        return float(self.rates[i]) + bend * (time - float(self.knots[i])), bend


def retime(
    trajectory: Trajectory,
    axes: tuple[Axis, ...],
    dt: float,
    moving: bool = False,
    ends_moving: bool = False,
) -> Timing:
    """Return the fastest timing for ticks of dt [s] within limits and never ahead of schedule.

    If ``moving``, the arm starts with the trajectory's first velocity, otherwise at rest; only if
    it ``ends_moving`` may it arrive with the last velocity.
    """
    if trajectory.duration <= 0.0:
        return Timing(np.zeros(1), np.zeros(1), np.zeros(1))
    from_rest, to_rest = (not np.abs(rates).max() > TINY for rates in trajectory.end_rates)
    speed = np.array([axis.velocity for axis in axes])
    acceleration = np.array([axis.acceleration for axis in axes])
    goes_on = to_rest or ends_moving
    slower = _slowdown(trajectory, speed, acceleration)
    if (from_rest or moving) and goes_on and (slower <= SLACK).all():
        ends = np.array([0.0, trajectory.duration])
        return Timing(ends, ends, np.ones(2))
    grid = _Grid(trajectory, slower, SHARE * speed, SHARE * acceleration, dt)
    u, x = grid.places, grid.x
    if not goes_on:
        x[-1] = 0.0
    grid.pass_backward()
    feasible = not moving or bool(x[0] >= 1.0 / SLACK)
    if not from_rest and not moving:
        x[0] = 0.0
    grid.pass_forward()
    rates = np.sqrt(np.maximum(x, 0.0))
    took = 2.0 * np.diff(u) / np.maximum(rates[:-1] + rates[1:], 1e-6)
    return Timing(np.concatenate([[0.0], np.cumsum(took)]), u, rates, feasible)


def _slowdown(trajectory: Trajectory, speed: Array, acceleration: Array) -> Array:
    """Return the factor (m - 1,) by which each segment must be slowed to keep the limits."""
    fast = trajectory.peak_speeds / speed
    bends = np.sqrt(trajectory.peak_accelerations() / acceleration)
    slower = reduce(np.maximum, [*fast.T, *bends.T])  # faster than max() along the short axis
    return np.asarray(slower)


class _Grid:
    """Points of the path parameter u, and the largest x at each of them.

    Only blocks of it are evaluated: those with a segment too fast for the limits, and those that
    the passes reach with x < 1. Elsewhere time is not stretched.

    Attributes:
        places: u at the points, (m,) [s].
        x: (m,).
    """

    def __init__(
        self, trajectory: Trajectory, slower: Array, speed: Array, acceleration: Array, dt: float
    ) -> None:
        self._trajectory, self._speed, self._acceleration = trajectory, speed, acceleration
        self._h = np.diff(trajectory.times)
        self._segment, self._place = _cells(self._h, slower, dt)
        starts = trajectory.times[self._segment] + self._place * self._h[self._segment]
        self.places = np.append(starts, trajectory.duration)
        self.x = np.ones(len(self.places))
        self._evaluated: dict[int, ReachableSpeeds] = {}
        tight = slower[self._segment] > SHARE
        self._blocks = range(0, len(tight), BLOCK)
        for start in self._blocks:
            if tight[start : start + BLOCK].any():
                self._evaluate(start)

    def pass_backward(self) -> None:
        """Lower x to the values from which the end can be reached."""
        for start in reversed(self._blocks):
            x = self.x[start : start + BLOCK + 1]
            if start in self._evaluated or x[-1] < 1.0:
                reachable = self._evaluate(start)
                backward_pass(reachable.back_offset, reachable.back_gain, x)

    def pass_forward(self) -> None:
        """Lower x to the values that can be reached from the start."""
        for start in self._blocks:
            x = self.x[start : start + BLOCK + 1]
            if start in self._evaluated or x[0] < 1.0:
                reachable = self._evaluate(start)
                forward_pass(reachable.offset, reachable.gain, x)

    def _evaluate(self, start: int) -> ReachableSpeeds:
        """Return the reachable speeds of a block of cells; lower x to its limits."""
        known = self._evaluated.get(start)
        if known is not None:
            return known
        k, s = self._segment[start : start + BLOCK], self._place[start : start + BLOCK]
        step = np.diff(self.places[start : start + BLOCK + 1])
        first, left = self._trajectory.derivatives(k, s)
        last, right = self._trajectory.derivatives(k, s + step / self._h[k])
        with np.errstate(divide="ignore"):
            fast = self._speed / np.abs(np.vstack([first, last[-1:]]))
        x = self.x[start : start + BLOCK + 1]
        np.minimum(x, fast.min(axis=1) ** 2, out=x)
        reachable = reachable_speeds(step, first, last, left, right, self._acceleration)
        np.minimum(x[:-1], reachable.cap, out=x[:-1])
        self._evaluated[start] = reachable
        return reachable


def _cells(h: Array, slower: Array, dt: float) -> _Cells:
    """Return the segment of each cell's start and its place within the segment, 0 to 1.

    The rate of time changes at the ends and beside segments that are too fast. Cells are halved
    there towards the ends of a segment, because a change takes at least one cell. Where many
    segments are too fast, each has fewer cells.
    """
    too_fast = slower > SLACK
    fine = too_fast.copy()
    fine[1:] |= too_fast[:-1]
    fine[:-1] |= too_fast[1:]
    fine[[0, -1]] = True
    ticks = np.where(fine, np.maximum(2.0, np.ceil(h * np.maximum(1.0, slower) / dt)), 1.0)
    number = np.minimum(min(CELLS, max(2, MOST_CELLS // int(fine.sum()))), ticks).astype(int)
    depth = np.where(number == CELLS, np.log2(ticks), np.log2(number)).astype(int)
    index, place = [], []
    kinds = (CELLS + 1) * depth + number
    for kind in np.unique(kinds):
        shares = _shares(int(kind) % (CELLS + 1), int(kind) // (CELLS + 1))
        segments = np.flatnonzero(kinds == kind)
        index.append(np.repeat(segments, len(shares)))
        place.append(np.tile(shares, len(segments)))
    segment, share = np.concatenate(index), np.concatenate(place)
    order = np.lexsort((share, segment))
    return segment[order], share[order]


def _shares(number: int, depth: int) -> Array:
    """Return the starts of a segment's cells, 0 to 1: so many equal ones, and halved ends."""
    halves = 0.5 ** np.arange(1, depth + 1)
    shares = np.unique(np.concatenate([np.arange(number) / number, halves, 1.0 - halves]))
    kept: Array = shares[np.diff(np.append(shares, 1.0)) > 1e-9]
    return kept
