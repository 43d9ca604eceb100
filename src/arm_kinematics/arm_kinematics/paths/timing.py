# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Time scaling of joint paths: rest to rest within velocity and acceleration limits.

The result is meant for cubic Hermite interpolation, as in trajectory controllers, and keeps the
limits between its points too.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from arm_common.control.time_scaling import reachable_speeds
from arm_common.transforms import Array
from numpy.typing import ArrayLike

from arm_kinematics.arguments import joint_positions, require, vector
from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.kernels.compiled import backward_pass, forward_pass
from arm_kinematics.paths.cartesian_path import PathResult, limit_failure

_MIN_INTERVALS = 64  # a path is refined to at least this many
# Extra points in the first and the last interval, as shares of it from the end of the path.
_HALVES = 0.5 ** np.arange(1, 6)
# Tangents up to this multiple of the chord's slope cannot overshoot at any change of speed.
_STEEPEST = 1.5
_MAX_PASSES = 6


class TimedPath(NamedTuple):
    """A trajectory at rest at both ends."""

    times: Array  # (m,) increasing from 0 [s]
    positions: Array  # (m, n) [rad or m]
    velocities: Array  # (m, n) [rad/s or m/s], zero in the first and the last row


class _Path(NamedTuple):
    """A piecewise cubic path with parameter s."""

    s: Array  # (m,)
    q: Array  # (m, n)
    first: Array  # (m, n) dq/ds


def time_path(
    path: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, scaling: float = 1.0
) -> TimedPath:
    """Time a joint path as fast as the limits allow.

    The trajectory passes every waypoint and never leaves the range of two neighbouring waypoints
    in any joint, so it keeps the joint limits if the waypoints do.

    Args:
        path: Waypoints (m, n), m >= 1 [rad or m]; repeated ones are skipped.
        velocity: Speed limits (n,), positive [rad/s or m/s].
        acceleration: Acceleration limits (n,), positive [rad/s^2 or m/s^2].
        scaling: Share of the speed limits to use, above 0 up to 1.

    Returns:
        The trajectory; a single point at time 0 if the path has no length.

    Raises:
        KinematicsError: An argument is invalid.
    """
    q, fastest, a = _checked(path, velocity, acceleration)
    require(0.0 < scaling <= 1.0, "scaling", scaling, "a number above 0 up to 1")
    v = fastest * scaling
    steps = np.sqrt((((q[1:] - q[:-1]) / v) ** 2).sum(axis=1))
    keep = np.concatenate([[True], steps > 1e-9])
    if not keep[1:].any():
        return TimedPath(np.zeros(1), q[:1].copy(), np.zeros_like(q[:1]))
    ends = q[-1].copy()
    q, steps = q[keep], steps[keep[1:]]
    q[-1] = ends
    return _timed(_refined(_curve(np.concatenate([[0.0], np.cumsum(steps)]), q)), v, a)


def keep_pace(
    times: ArrayLike,
    positions: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    pace: float = 1.0,
) -> TimedPath:
    """Follow a path at its own pace from rest to rest, slower where the limits require it.

    Args:
        times: Times of the positions (m,), strictly increasing from 0 [s].
        positions: Joint positions (m, n), m >= 1 [rad or m].
        velocity: Speed limits (n,), positive [rad/s or m/s].
        acceleration: Acceleration limits (n,), positive [rad/s^2 or m/s^2].
        pace: Largest multiple of the path's own pace, positive.

    Returns:
        The trajectory, which never leaves the range of two neighbouring points in any joint.

    Raises:
        KinematicsError: An argument is invalid.
    """
    q, v, a = _checked(positions, velocity, acceleration)
    t = np.asarray(times, dtype=np.float64)
    if t.shape != q.shape[:1] or t[0] != 0.0 or not (np.diff(t) > 0.0).all():
        raise KinematicsError(
            f"times: expected {len(q)} increasing from 0", what="times", value=times
        )
    require(0.0 < pace < np.inf, "pace", pace, "more than 0")
    if len(q) == 1:
        return TimedPath(t.copy(), q, np.zeros_like(q))
    return _timed(_refined(_curve(t, q)), v, a, pace)


def _curve(s: Array, q: Array) -> _Path:
    """Return the path with parabolic tangents, limited so that it stays between its waypoints.

    Hyman, "Accurate monotonicity preserving cubic interpolation", SIAM J. Sci. Stat. Comput. 4(4),
    1983.
    """
    step = np.diff(s)[:, None]
    slope = np.diff(q, axis=0) / step
    first = np.empty_like(q)
    first[0], first[-1] = slope[0], slope[-1]
    before, after = slope[:-1], slope[1:]
    mean = (before * step[1:] + after * step[:-1]) / (step[1:] + step[:-1])
    limit = _STEEPEST * np.minimum(np.abs(before), np.abs(after))
    first[1:-1] = np.where(before * after > 0.0, np.clip(mean, -limit, limit), 0.0)
    return _Path(s, q, first)


def _refined(path: _Path) -> _Path:
    """Return the same curve with more points in long intervals and towards the ends.

    Speed rises from rest within at least one interval: short ones lose no time.
    """
    longest = float(path.s[-1]) / _MIN_INTERVALS
    pieces = np.maximum(1, np.ceil(np.diff(path.s) / longest - 1e-9).astype(int))
    shares = [np.arange(k) / k for k in pieces]
    shares[0] = np.union1d(shares[0], _HALVES / pieces[0])
    shares[-1] = np.union1d(shares[-1], 1.0 - _HALVES / pieces[-1])
    index = np.repeat(np.arange(len(pieces)), [len(part) for part in shares])
    t = np.concatenate(shares)[:, None]
    h = np.diff(path.s)[index][:, None]
    q0, q1 = path.q[index], path.q[index + 1]
    d0, d1 = path.first[index] * h, path.first[index + 1] * h
    q = q0 + t * (d0 + t * (3 * (q1 - q0) - 2 * d0 - d1 + t * (2 * (q0 - q1) + d0 + d1)))
    first = (d0 + t * (2 * (3 * (q1 - q0) - 2 * d0 - d1) + 3 * t * (2 * (q0 - q1) + d0 + d1))) / h
    s = path.s[index] + (t * h)[:, 0]
    return _Path(
        np.append(s, path.s[-1]),
        np.vstack([q, path.q[-1:]]),
        np.vstack([first, path.first[-1:]]),
    )


def _timed(path: _Path, v: Array, a: Array, pace: float = 1e6) -> TimedPath:
    """Return the fastest trajectory along the path, with ds/dt of at most the pace.

    The scaling is exact for the path over s; the cubic over time differs slightly where the path
    bends, so the speed is reduced there until it keeps the limits too.
    """
    ds = np.diff(path.s)
    h = ds[:, None]
    chord = 6.0 * np.diff(path.q, axis=0) / h**2
    left = chord - (4.0 * path.first[:-1] + 2.0 * path.first[1:]) / h
    right = -chord + (2.0 * path.first[:-1] + 4.0 * path.first[1:]) / h
    with np.errstate(divide="ignore", over="ignore"):
        cap = ((v / np.abs(path.first)).min(axis=1)) ** 2
    cap = np.minimum(cap, pace**2)
    reachable = reachable_speeds(ds, path.first[:-1], path.first[1:], left, right, a)
    cap[:-1] = np.minimum(cap[:-1], reachable.cap)
    for _ in range(_MAX_PASSES):
        x = cap.copy()
        x[-1] = 0.0
        backward_pass(reachable.back_offset, reachable.back_gain, x)
        x[0] = 0.0
        forward_pass(reachable.offset, reachable.gain, x)
        timed = _trajectory(path, ds, np.sqrt(x))
        excess = _excess(timed, v, a)
        if excess.max() <= 1.0 + 1e-9:
            return timed
        worst = np.maximum(np.append(excess, 1.0), np.append(1.0, excess)) ** 2
        worst = np.maximum(worst, 1.0)  # 0 where the path rests
        cap = np.where(worst > 1.0, np.minimum(cap, x / (1.02 * worst)), cap)
        cap[0] = cap[-1] = max(cap[1], cap[-2])
    factor = float(_excess(timed, v, a).max())
    return TimedPath(timed.times * factor, timed.positions, timed.velocities / factor)


def _trajectory(path: _Path, ds: Array, speed: Array) -> TimedPath:
    """Return the trajectory; speeds at the points are limited where the cubic would overshoot.

    A cubic between two values stays between them if both slopes are at most three times the
    chord's (Fritsch and Carlson, SIAM J. Numer. Anal. 17(2), 1980).
    """
    h = 2.0 * ds / (speed[:-1] + speed[1:])
    chords = 3.0 * np.abs(np.diff(path.q, axis=0)) / h[:, None]
    limit = np.minimum(np.vstack([chords[:1], chords]), np.vstack([chords, chords[-1:]]))
    velocities = np.clip(path.first * speed[:, None], -limit, limit)
    return TimedPath(np.concatenate([[0.0], np.cumsum(h)]), path.q, velocities)


def _excess(timed: TimedPath, v: Array, a: Array) -> Array:
    """Return the factor (m - 1,) by which each interval must be slowed to keep the limits."""
    h = np.diff(timed.times)[:, None]
    v0, v1 = timed.velocities[:-1], timed.velocities[1:]
    step = np.diff(timed.positions, axis=0)
    a0 = 6.0 * step / h**2 - (4.0 * v0 + 2.0 * v1) / h
    a1 = -6.0 * step / h**2 + (2.0 * v0 + 4.0 * v1) / h
    with np.errstate(divide="ignore", invalid="ignore"):
        turning = np.clip(np.nan_to_num(a0 / (a0 - a1)), 0.0, 1.0)
    peak = v0 + h * turning * (a0 + 0.5 * turning * (a1 - a0))
    fast = np.maximum(np.maximum(np.abs(v0), np.abs(v1)), np.abs(peak)) / v
    hard = np.maximum(np.abs(a0), np.abs(a1)) / a
    return np.asarray(np.maximum(fast, np.sqrt(hard)).max(axis=1))


def _checked(
    path: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
) -> tuple[Array, Array, Array]:
    try:
        q = np.array(path, dtype=np.float64)
    except (TypeError, ValueError):
        q = np.empty(0)
    if q.ndim != 2 or 0 in q.shape or not np.isfinite(q).all():
        raise KinematicsError(
            f"path: expected finite numbers of shape (points, joints), got {q.shape}",
            what="path",
            value=path,
        )
    v, a = (
        vector(x, q.shape[1], what, "positive, finite limits", lambda x: np.isfinite(x) & (x > 0))
        for x, what in ((velocity, "velocity"), (acceleration, "acceleration"))
    )
    return q, v, a


def time_result(
    result: PathResult, velocity: ArrayLike, acceleration: ArrayLike, scaling: float = 1.0
) -> TimedPath:
    """Time a tool path as ``time_path`` does, at rest at its ends and at its corners.

    A corner cannot be passed without stopping or leaving the path.

    Args:
        result: The path; an empty one gives an empty trajectory.
        velocity: Speed limits (n,), positive [rad/s or m/s].
        acceleration: Acceleration limits (n,), positive [rad/s^2 or m/s^2].
        scaling: Share of the speed limits to use, above 0 up to 1.

    Raises:
        KinematicsError: An argument is invalid.
    """
    rows = result.positions
    if not len(rows):
        return TimedPath(np.empty(0), rows, rows)
    ends = [0, *result.stops, len(rows) - 1]
    parts = [
        time_path(rows[a : b + 1], velocity, acceleration, scaling) for a, b in pairwise(ends)
    ]
    first, *others = [part for part in parts if len(part.times) > 1] or parts[:1]
    times = [first.times]
    for part in others:  # each begins where the one before ends
        times.append(part.times[1:] + times[-1][-1])
    return TimedPath(
        np.concatenate(times),
        np.vstack([first.positions, *(part.positions[1:] for part in others)]),
        np.vstack([first.velocities, *(part.velocities[1:] for part in others)]),
    )


def point_to_point(
    chain: Chain,
    start: ArrayLike,
    goal: ArrayLike,
    scaling: float = 1.0,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
) -> TimedPath:
    """Move all joints straight from start to goal (n,), so that they start and arrive together.

    The slowest joint determines the duration; the others are synchronised with it.

    Args:
        chain: The arm.
        start: Current joint positions (n,) [rad or m].
        goal: Target joint positions (n,), within the limits.
        scaling: Share of the speed limits to use, above 0 up to 1.
        velocity: Speed limits (n,); None is the chain's.
        acceleration: Acceleration limits (n,); None is the chain's.

    Raises:
        KinematicsError: An argument is invalid, or the goal is beyond a limit.
    """
    names = chain.joint_names
    ends = joint_positions(start, names, "start"), joint_positions(goal, names, "goal")
    if failure := limit_failure(chain, ends[1]):
        raise KinematicsError(f"goal: {failure.clause}", what="goal", value=goal)
    v = chain.velocity if velocity is None else velocity
    a = chain.acceleration if acceleration is None else acceleration
    return time_path(ends, v, a, scaling)
