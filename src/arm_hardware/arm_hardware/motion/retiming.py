# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""When a trajectory is where, tick by tick: never ahead of it, later where limits need it.

Where one joint cannot follow, time itself is stretched, so that all joints are late together and
the arm stays on its path. With u the trajectory's own time and x = (du/dt)^2, a constant w =
d2u/dt2 between two points of a grid makes x linear in u, and the limits of joint acceleration
linear in x and w: ``|p'(u) w + p''(u) x| <= a``. A pass backwards finds the largest x from which
the rest can be done, a pass forwards the largest that can be had (Pham and Pham, "A new approach
to time-optimal path parameterization based on reachability analysis", IEEE Trans. Robotics 34(3),
2018).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_hardware.calibration.axes import Axis
from arm_hardware.motion.trajectory import Array, Trajectory

Cells = tuple[NDArray[np.int_], Array]

SLACK = 1.0005  # on limits that a planner kept to the last digit
SHARE = 0.98  # of the limits that is used between the points of the grid
CELLS = 16  # of the grid at most on a segment that is too fast, besides finer ones at its ends
TINY = 1e-12


class TimeLaw(NamedTuple):
    """A trajectory's own time at each tick.

    Attributes:
        times: (k,) from 0 to the duration, never falling [s].
        feasible: Whether the limits can be kept from the beginning; if not, they are kept later.
    """

    times: Array
    feasible: bool


def time_law(
    trajectory: Trajectory,
    axes: tuple[Axis, ...],
    dt: float,
    moving: bool = False,
    ends_moving: bool = False,
) -> TimeLaw:
    """Return the fastest law that keeps the limits and is nowhere ahead of the trajectory.

    Args:
        trajectory: With velocities.
        axes: The arm's.
        dt: Length of a tick [s].
        moving: Whether the arm begins with the trajectory's first velocity; else it is at rest.
        ends_moving: Whether it may arrive with the last velocity; else it comes to rest.
    """
    if trajectory.duration <= 0.0:
        return TimeLaw(np.zeros(1), True)
    from_rest, to_rest = (not np.abs(rates).max() > TINY for rates in trajectory.end_rates)
    speed = np.array([axis.velocity for axis in axes])
    acceleration = np.array([axis.acceleration for axis in axes])
    goes_on = to_rest or ends_moving
    slower = _slower(trajectory, speed, acceleration)
    if (from_rest or moving) and goes_on and (slower <= SLACK).all():
        return TimeLaw(_ticks(np.array([0.0, trajectory.duration]), np.ones(2), dt), True)
    cells = _cells(trajectory.times, slower, dt)
    grid = _grid(trajectory, cells, SHARE * speed, SHARE * acceleration)
    _backwards(grid, goes_on)
    feasible = not moving or bool(grid.cap[0] >= 1.0 / SLACK)
    if not from_rest and not moving:
        grid.cap[0] = 0.0
    return TimeLaw(_ticks(grid.u, _forwards(grid), dt), feasible)


class _Grid(NamedTuple):
    """Where the limits are looked at.

    Attributes:
        u: Points, (m,).
        cap: Largest x at each of them, (m,).
        most: (m - 1, 2 n), and
        tilt: for each cell between two points: ``-most + tilt x <= w <= most + tilt x``.
    """

    u: Array
    cap: Array
    most: Array
    tilt: Array


def _slower(trajectory: Trajectory, speed: Array, acceleration: Array) -> Array:
    """Return for each segment how many times slower it would keep the limits, (m - 1,)."""
    k = np.arange(len(trajectory.times) - 1)
    bends = np.abs([trajectory.derivatives(k, np.full(len(k), s))[1] for s in (0.0, 1.0)])
    fast = (trajectory.peak_speeds() / speed).max(axis=1)
    return np.asarray(np.maximum(fast, np.sqrt((bends / acceleration).max(axis=(0, 2)))))


def _grid(trajectory: Trajectory, cells: Cells, speed: Array, acceleration: Array) -> _Grid:
    k, s = cells
    h = np.diff(trajectory.times)
    u = np.append(trajectory.times[k] + s * h[k], trajectory.duration)
    step = np.diff(u)[:, None]
    end = s + step[:, 0] / h[k]
    first, bend = trajectory.derivatives(k, s)
    last, bend_last = trajectory.derivatives(k, end)
    slopes = np.vstack([first, last[-1:]])
    with np.errstate(divide="ignore"):
        cap = np.minimum(1.0, ((speed / np.abs(slopes)).min(axis=1)) ** 2)
    # At the end of a cell x is x + 2 step w.
    c = np.hstack([first, last + 2.0 * step * bend_last])
    d = np.hstack([bend, bend_last])
    a = np.tile(acceleration, 2)
    steep = np.abs(c) > TINY
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(steep, a / np.abs(c), np.inf)
        tilt = np.where(steep, -d / c, 0.0)
        alone = np.where(steep, np.inf, a / np.abs(d)).min(axis=1)
    cap[:-1] = np.minimum(cap[:-1], np.minimum(alone, _pairs(most, tilt)))
    return _Grid(u, cap, most, tilt)


def _cells(times: Array, slower: Array, dt: float) -> Cells:
    """Return segment and place within it, 0 to 1, of the beginning of each cell.

    Time changes its pace at the ends and beside segments that are too fast: there cells halve
    towards the ends of a segment, since the pace changes within one cell at least.
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


def _pairs(most: Array, tilt: Array) -> Array:
    """Return for each cell the x above which no w keeps all accelerations."""
    gain = tilt[:, :, None] - tilt[:, None, :]
    room = most[:, :, None] + most[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(gain > TINY, room / gain, np.inf)
    least: Array = np.nan_to_num(x, nan=np.inf, posinf=np.inf).min(axis=(1, 2))
    return least


def _backwards(grid: _Grid, goes_on: bool) -> None:
    """Lower the caps to what the rest can be done from.

    From x a cell is left with ``x_next = x + 2 step w``; the least w must not make that too large.
    """
    x, step = grid.cap, np.diff(grid.u)
    if not goes_on:
        x[-1] = 0.0
    for i in range(len(step) - 1, -1, -1):
        gain = grid.tilt[i] + 0.5 / step[i]
        rising = gain > TINY
        if rising.any():
            room = 0.5 * x[i + 1] / step[i] + grid.most[i]
            x[i] = min(x[i], float((room[rising] / gain[rising]).min()))


def _forwards(grid: _Grid) -> Array:
    """Return the largest x that can be had at each point, from the first one's cap on."""
    x, step = grid.cap.copy(), np.diff(grid.u)
    for i in range(len(step)):
        w = float((grid.most[i] + grid.tilt[i] * x[i]).min())
        x[i + 1] = min(x[i + 1], max(0.0, x[i] + 2.0 * step[i] * w))
    return x


def _ticks(u: Array, x: Array, dt: float) -> Array:
    """Return u at the ticks of a law that has x at the points u, with constant w between them."""
    rate = np.sqrt(np.maximum(x, 0.0))
    step = np.diff(u)
    took = 2.0 * step / np.maximum(rate[:-1] + rate[1:], 1e-6)
    t = np.concatenate([[0.0], np.cumsum(took)])
    ticks = dt * np.arange(int(np.ceil(t[-1] / dt - 1e-9)) + 1)
    i = np.clip(np.searchsorted(t, ticks, side="right") - 1, 0, len(step) - 1)
    past = np.minimum(ticks - t[i], took[i])
    w = 0.5 * (x[i + 1] - x[i]) / step[i]
    places: Array = np.minimum(u[i] + past * (rate[i] + 0.5 * past * w), u[-1])
    places[-1] = u[-1]
    return places
