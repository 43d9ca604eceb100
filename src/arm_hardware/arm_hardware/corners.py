# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Points of a trajectory -> a smooth one: corners are rounded, quintics become short cubics.

Between points without velocities the way is straight, as in joint_trajectory_controller; there the
velocity jumps at each point, which no servo can do. Here each corner is a parabola.
"""

from __future__ import annotations

import numpy as np

from arm_hardware.axes import Axis
from arm_hardware.trajectory import Array, Trajectory

ROUND_WITH = 0.9  # of the acceleration limits, where the points leave time enough
PIECES = 10  # cubics in place of one quintic


def rounded(times: Array, points: Array, rate: Array | None, axes: tuple[Axis, ...]) -> Trajectory:
    """Return straight lines with a parabola at each corner, as short as the limits allow.

    Args:
        times: (m,) seconds, the first 0.
        points: (m, n) [rad or m].
        rate: Velocity (n,) to begin with; None for that of the first line.
        axes: The arm's, for their accelerations.
    """
    if len(times) == 1:
        return Trajectory(times, points, np.zeros_like(points))
    h = np.diff(times)
    slope = np.diff(points, axis=0) / h[:, None]
    most = ROUND_WITH * np.array([axis.acceleration for axis in axes])
    half = 0.5 * (np.abs(np.diff(slope, axis=0)) / most).max(axis=1)
    half = np.minimum(half, 0.5 * np.minimum(h[:-1], h[1:]))
    back, ahead = slope[:-1], slope[1:]
    t = np.stack([times[1:-1] - half, times[1:-1] + half], axis=1).ravel()
    q = np.stack(
        [points[1:-1] - half[:, None] * back, points[1:-1] + half[:, None] * ahead], axis=1
    ).reshape(-1, points.shape[1])
    v = np.stack([back, ahead], axis=1).reshape(-1, points.shape[1])
    t = np.concatenate([times[:1], t, times[-1:]])
    q = np.vstack([points[:1], q, points[-1:]])
    v = np.vstack([slope[:1] if rate is None else rate[None], v, slope[-1:]])
    keep = np.concatenate([[True], np.diff(t) > 1e-9])
    return Trajectory(t[keep], q[keep], v[keep])


def without_quintics(times: Array, points: Array, rates: Array, bends: Array) -> Trajectory:
    """Return cubics that follow the quintics through points with accelerations.

    Args:
        times: (m,) seconds, the first 0.
        points: (m, n) [rad or m].
        rates: (m, n) velocities.
        bends: (m, n) accelerations.
    """
    t, q, v = [times[:1]], [points[:1]], [rates[:1]]
    s = np.arange(1, PIECES + 1)[:, None] / PIECES
    for k, h in enumerate(np.diff(times)):
        a0, a1 = 0.5 * bends[k] * h * h, 0.5 * bends[k + 1] * h * h
        v0, v1 = rates[k] * h, rates[k + 1] * h
        d = points[k + 1] - points[k]
        # p + v0 s + a0 s^2 + c3 s^3 + c4 s^4 + c5 s^5 with both ends' values and derivatives
        c3 = 10.0 * d - 6.0 * v0 - 4.0 * v1 - 3.0 * a0 + a1
        c4 = -15.0 * d + 8.0 * v0 + 7.0 * v1 + 3.0 * a0 - 2.0 * a1
        c5 = 6.0 * d - 3.0 * v0 - 3.0 * v1 - a0 + a1
        t.append(times[k] + s[:, 0] * h)
        q.append(points[k] + s * (v0 + s * (a0 + s * (c3 + s * (c4 + s * c5)))))
        v.append((v0 + s * (2 * a0 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / h)
    return Trajectory(np.concatenate(t), np.vstack(q), np.vstack(v))
