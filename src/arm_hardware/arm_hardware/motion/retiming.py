# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Retimes a trajectory: never ahead of schedule, delayed where limits require it.

Where one joint cannot follow, time is stretched for all joints, so the arm stays on its path. The
path parameter of arm_common.time_scaling is the trajectory's own time, hence x <= 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from arm_common.time_scaling import (
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
    cells = _cells(trajectory.times, slower, dt)
    u, x, reachable = _grid(trajectory, cells, SHARE * speed, SHARE * acceleration)
    if not goes_on:
        x[-1] = 0.0
    backward_pass(reachable.back_offset, reachable.back_gain, x)
    feasible = not moving or bool(x[0] >= 1.0 / SLACK)
    if not from_rest and not moving:
        x[0] = 0.0
    forward_pass(reachable.offset, reachable.gain, x)
    rates = np.sqrt(np.maximum(x, 0.0))
    took = 2.0 * np.diff(u) / np.maximum(rates[:-1] + rates[1:], 1e-6)
    return Timing(np.concatenate([[0.0], np.cumsum(took)]), u, rates, feasible)


def _slowdown(trajectory: Trajectory, speed: Array, acceleration: Array) -> Array:
    """Return the factor (m - 1,) by which each segment must be slowed to keep the limits."""
    k = np.arange(len(trajectory.times) - 1)
    bends = np.abs([trajectory.derivatives(k, np.full(len(k), s))[1] for s in (0.0, 1.0)])
    fast = (trajectory.peak_speeds() / speed).max(axis=1)
    return np.asarray(np.maximum(fast, np.sqrt((bends / acceleration).max(axis=(0, 2)))))


def _grid(
    trajectory: Trajectory, cells: _Cells, speed: Array, acceleration: Array
) -> tuple[Array, Array, ReachableSpeeds]:
    """Return grid points u, the largest x at each of them, and reachable speeds between them."""
    k, s = cells
    h = np.diff(trajectory.times)
    u = np.append(trajectory.times[k] + s * h[k], trajectory.duration)
    step = np.diff(u)
    first, left = trajectory.derivatives(k, s)
    last, right = trajectory.derivatives(k, s + step / h[k])
    with np.errstate(divide="ignore"):
        cap = np.minimum(1.0, (speed / np.abs(np.vstack([first, last[-1:]]))).min(axis=1) ** 2)
    reachable = reachable_speeds(step, first, last, left, right, acceleration)
    cap[:-1] = np.minimum(cap[:-1], reachable.cap)
    return u, cap, reachable


def _cells(times: Array, slower: Array, dt: float) -> _Cells:
    """Return the segment of each cell's start and its place within the segment, 0 to 1.

    The rate of time changes at the ends and beside segments that are too fast. Cells are halved
    there towards the ends of a segment, because a change takes at least one cell.
    """
    too_fast = slower > SLACK
    fine = too_fast.copy()
    fine[1:] |= too_fast[:-1]
    fine[:-1] |= too_fast[1:]
    fine[[0, -1]] = True
    index, place = [], []
    for k, h in enumerate(np.diff(times)):
        ticks = max(2, int(np.ceil(h * max(1.0, slower[k]) / dt))) if fine[k] else 1
        n = min(CELLS, ticks)
        halves = 0.5 ** np.arange(1, int(np.log2(ticks)) + 1)
        shares = np.unique(np.concatenate([np.arange(n) / n, halves, 1.0 - halves]))
        keep = np.diff(np.append(shares, 1.0)) > 1e-9
        place.append(shares[keep])
        index.append(np.full(int(keep.sum()), k))
    return np.concatenate(index), np.concatenate(place)
