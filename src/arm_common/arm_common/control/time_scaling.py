# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Time-optimal path parameterization within limits of joint speed and acceleration (TOPP-RA).

With s the path parameter, x = (ds/dt)^2 and u = d2s/dt2 constant in each interval of a grid, x is
linear in s, and the limits ``|q' u + q'' x| <= a`` are linear in x and u. A backward pass finds
the largest x from which the rest of the path is feasible, a forward pass the largest reachable x
(Pham and Pham, "A new approach to time-optimal path parameterization based on reachability
analysis", IEEE Trans. Robotics 34(3), 2018). The passes are loops over plain arrays:
arm_kinematics compiles them, the driver runs them uncompiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arm_common.transforms import Array

_TINY = 1e-12


class ReachableSpeeds(NamedTuple):
    """Bounds on x at the points of a grid of m points, k limits in each interval."""

    cap: Array  # (m - 1,), largest x at the start of an interval for which some u keeps all limits
    back_offset: Array  # (m - 1, k), and
    back_gain: Array  # ``x[i] <= back_offset[i] + back_gain[i] * x[i + 1]``
    offset: Array  # (m - 1, k), and
    gain: Array  # ``x[i + 1] <= offset[i] + gain[i] * x[i]``


def reachable_speeds(
    step: Array, first: Array, last: Array, left: Array, right: Array, limit: Array
) -> ReachableSpeeds:
    """Return the bounds on x that follow from acceleration limits at both ends of each interval.

    Args:
        step: Lengths of the intervals, (m - 1,).
        first: dq/ds at the start of each interval, (m - 1, n).
        last: The same at its end.
        left: d2q/ds2 at the start of each interval, (m - 1, n).
        right: The same at its end.
        limit: Acceleration limits, (n,).
    """
    two_steps = 2.0 * step[:, None]
    slope = np.hstack([first, last + two_steps * right])  # at its end x is x + 2 step u
    bend = np.hstack([left, right])
    limits = np.tile(limit, 2)
    steep = np.abs(slope) > _TINY
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(steep, limits / np.abs(slope), np.inf)  # |u - tilt x| <= most
        tilt = np.where(steep, -bend / slope, 0.0)
        alone = np.where(steep, np.inf, limits / np.abs(bend)).min(axis=1)
        rise = tilt + 1.0 / two_steps
        back_offset = np.where(rise > _TINY, most / rise, np.inf)
        back_gain = np.where(rise > _TINY, 1.0 / (two_steps * rise), 0.0)
    cap = np.minimum(alone, _largest_feasible(most, tilt, two_steps))
    gain = 1.0 + two_steps * tilt
    return ReachableSpeeds(cap, back_offset, back_gain, two_steps * most, gain)


def backward_pass(back_offset: Array, back_gain: Array, x: Array) -> None:
    """Lower x (m,) to the largest values from which the last one can be reached."""
    for i in range(len(x) - 2, -1, -1):
        x[i] = min(x[i], (back_offset[i] + back_gain[i] * x[i + 1]).min())


def forward_pass(offset: Array, gain: Array, x: Array) -> None:
    """Lower x (m,) to the largest values that can be reached from the first one."""
    for i in range(len(x) - 1):
        x[i + 1] = min(x[i + 1], max(0.0, (offset[i] + gain[i] * x[i]).min()))


def _largest_feasible(most: Array, tilt: Array, two_steps: Array) -> Array:
    """Return the largest x in each interval for which a feasible u exists, (m - 1,).

    The lower bounds on u are ``tilt x - most`` and ``-x / (2 step)``, below which x would become
    negative within the interval.
    """
    lower_tilt = np.hstack([tilt, -1.0 / two_steps])
    lower_most = np.hstack([most, np.zeros_like(two_steps)])
    closing = lower_tilt[:, :, None] - tilt[:, None, :]
    room = lower_most[:, :, None] + most[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(closing > _TINY, room / closing, np.inf)
    least: Array = x.min(axis=(1, 2))
    return least
