# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Joint trajectories: sampling, extremes, reversals, blends, quintics; limits of coupled joints.

Between points, the position is a cubic Hermite polynomial if the points have velocities, otherwise
linear. No servo can follow the velocity steps of linear segments, so parabolas replace corners.

Limits may depend on several joints: those of linkages, and of servos coupled to several joints.
Where joints are independent, nothing of that is computed.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from arm_common.transforms import Array
from arm_description.model.constraints import SLACK
from numpy.typing import NDArray

from arm_hardware.calibration.axes import Axes, Axis, Coupling
from arm_hardware.errors import CommandError

Reversals = tuple[list[float], list[float]]
_BEND_STEP = 0.05  # [rad or m] of a joint, within which a curved transmission is taken for a cubic
_MOST_PARTS = 64  # of a segment
_MOST_CHECKS = 200_000  # instants of a path
_ROUNDING = 1e-12  # share of a speed by which a cubic's may exceed those at its ends, unnoticed


@dataclass(frozen=True)
class Trajectory:
    """Timed points, the first of which is the start of the motion."""

    times: Array  # (m,) seconds from the start, strictly increasing, the first 0
    positions: Array  # (m, n) [rad or m]
    velocities: Array | None = None  # (m, n) [rad/s or m/s], or None

    def __post_init__(self) -> None:
        """Store each joint's values contiguously, which speeds up all calculations."""
        for what in ("positions", "velocities"):
            if (values := getattr(self, what)) is not None:
                object.__setattr__(self, what, np.asfortranarray(values))

    @property
    def duration(self) -> float:
        """Seconds from the first point to the last."""
        return float(self.times[-1])

    @property
    def final(self) -> Array:
        """The last positions, (n,) [rad or m]."""
        last: Array = self.positions[-1]
        return last

    def sample(self, time: float) -> Array:
        """Return positions (n,) [rad or m] at a time [s]; at rest before the start, after the end.

        With s from 0 to 1 on a segment of length h, end points p, q and end velocities v, w:
        ``p + h v s + (3 d - 2 h v - h w) s^2 + (h v + h w - 2 d) s^3``, where ``d = q - p``.
        """
        row: Array = self.samples(np.array([time]))[0]
        return row

    def samples(self, times: Array) -> Array:
        """Return the positions (k, n) [rad or m] at times (k,) [s]; see sample()."""
        if len(self.times) == 1:
            return np.repeat(self.positions, len(times), axis=0)
        k = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.times) - 2)
        a, c, e = (part[k] for part in self._coefficients)
        s = ((times - self.times[k]) / (self.times[k + 1] - self.times[k]))[:, None]
        inner: Array = self.positions[k] + s * (a + s * (c + s * e))
        inner[times <= 0.0] = self.positions[0]
        inner[times >= self.duration] = self.positions[-1]
        return inner

    def state(self, time: float) -> tuple[Array, Array, Array]:
        """Return positions, velocities, accelerations (n,) [rad or m, s] at a time [s]."""
        positions = self.sample(time)
        if not 0.0 <= time < self.duration:
            return positions, np.zeros_like(positions), np.zeros_like(positions)
        k = np.searchsorted(self.times, [time], side="right") - 1
        place = (time - self.times[k]) / (self.times[k + 1] - self.times[k])
        velocities, accelerations = self.derivatives(k, place)
        return positions, velocities[0], accelerations[0]

    def derivatives(self, segments: NDArray[np.int_], places: Array) -> tuple[Array, Array]:
        """Return velocities and accelerations (k, n) at places (k,), 0 to 1, in segments (k,)."""
        a, c, e = (part[segments] for part in self._coefficients)
        h = (self.times[segments + 1] - self.times[segments])[:, None]
        s = places[:, None]
        return (a + s * (2.0 * c + 3.0 * s * e)) / h, (2.0 * c + 6.0 * s * e) / h**2

    @property
    def end_rates(self) -> tuple[Array, Array]:
        """The first and the last velocities, (n,) each."""
        ends = self.derivatives(np.array([0, len(self.times) - 2]), np.array([0.0, 1.0]))[0]
        return ends[0], ends[1]

    def mean_speeds(self) -> Array:
        """Return the mean speed of each segment, (m - 1, n) [rad/s or m/s]."""
        speeds: Array = np.abs(np.diff(self.positions, axis=0) / np.diff(self.times)[:, None])
        return speeds

    @cached_property
    def peak_speeds(self) -> Array:
        """The largest speed of each segment, (m - 1, n) [rad/s or m/s].

        The velocity ``a + 2 c s + 3 e s^2`` is extreme at the ends and at ``s = -c / (3 e)``.
        """
        if self.velocities is None:
            return self.mean_speeds()
        speeds = np.abs(self.velocities)
        peaks: Array = np.maximum(speeds[:-1], speeds[1:])
        k, i = np.nonzero(self._bulges)
        a, c, e = (part[k, i] for part in self._coefficients)
        peaks[k, i] = np.maximum(
            peaks[k, i], np.abs(a - c * c / (3.0 * e)) / np.diff(self.times)[k]
        )
        return peaks

    def peak_accelerations(self) -> Array:
        """Return the largest acceleration of each segment, (m - 1, n) [rad/s^2 or m/s^2]."""
        _, c, e = self._coefficients
        ends = np.maximum(np.abs(c), np.abs(c + 3.0 * e))
        peaks: Array = 2.0 * ends / np.diff(self.times)[:, None] ** 2
        return peaks

    def extremes(self, first: int = 0) -> tuple[Array, Array]:
        """Return each joint's smallest and largest position from a point on, (n,) [rad or m]."""
        low, high = self.positions[first:].min(axis=0), self.positions[first:].max(axis=0)
        segments, joints, _, positions = self._turns
        later = segments >= first
        np.minimum.at(low, joints[later], positions[later])
        np.maximum.at(high, joints[later], positions[later])
        return low, high

    def next_reversal(self, joint: int, time: float) -> float:
        """Return the position at which a joint reverses or rests next, at or after a time [s]."""
        times, positions = self.reversals[joint]
        return positions[min(bisect_left(times, time), len(times) - 1)]

    @cached_property
    def reversals(self) -> tuple[Reversals, ...]:
        """For each joint, times [s] and positions at which it reverses, stops or starts."""
        _, joints, times, positions = self._turns
        return tuple(
            _reversals(
                self.times, self.positions[:, i], times[joints == i], positions[joints == i]
            )
            for i in range(self.positions.shape[1])
        )

    @cached_property
    def _coefficients(self) -> tuple[Array, Array, Array]:
        """Return a, c, e of all segments' ``p + a s + c s^2 + e s^3``, (m - 1, n) each."""
        h = np.diff(self.times)[:, None]
        d = np.diff(self.positions, axis=0)
        if self.velocities is None:
            return d, 0.0 * d, 0.0 * d
        a, b = h * self.velocities[:-1], h * self.velocities[1:]
        return a, 3.0 * d - 2.0 * a - b, a + b - 2.0 * d

    @cached_property
    def _bulges(self) -> NDArray[np.bool_]:
        """Whether the velocity has an extreme within a segment, (m - 1, n)."""
        a, c, e = self._coefficients
        outside = (c * e >= 0.0) | (np.abs(c) >= 3.0 * np.abs(e))
        return ~(outside | (c * c < _ROUNDING * np.abs(a * e)))  # true if not computable

    @cached_property
    def _turns(self) -> tuple[NDArray[np.int_], NDArray[np.int_], Array, Array]:
        """Extremes of position within segments: segment, joint, time and position of each."""
        if self.velocities is None:
            nowhere = np.zeros(0, dtype=int)
            return nowhere, nowhere, np.zeros(0), np.zeros(0)
        a, c, e = self._coefficients
        once = ~(self.velocities[:-1] * self.velocities[1:] >= 0.0)  # true if not computable
        k, i = np.nonzero(once | (self._bulges & (a * e >= 0.0) & (c * c >= 3.0 * a * e)))
        a, c, e = (part[k, i] for part in self._coefficients)
        roots = np.concatenate(_roots(3.0 * e, 2.0 * c, a))
        k, i = np.tile(k, 2), np.tile(i, 2)
        a, c, e = (part[k, i] for part in self._coefficients)
        place = self.positions[k, i] + roots * (a + roots * (c + roots * e))
        time = self.times[k] + roots * np.diff(self.times)[k]
        inner = roots != 0.0  # true if not computable
        return k[inner], i[inner], time[inner], place[inner]


def concatenate(first: Trajectory, second: Trajectory) -> Trajectory:
    """Return two trajectories in sequence; the second starts where the first ends."""
    if first.velocities is None or second.velocities is None:
        raise ValueError("both trajectories need velocities")
    return Trajectory(
        np.concatenate([first.times, first.duration + second.times[1:]]),
        np.vstack([first.positions, second.positions[1:]]),
        np.vstack([first.velocities, second.velocities[1:]]),
    )


def _roots(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Return both roots of a s^2 + b s + c, with 0 in place of roots outside (0, 1)."""
    disc = b * b - 4.0 * a * c
    q = -0.5 * (b + np.copysign(np.sqrt(np.maximum(disc, 0.0)), b))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, second = (
            np.where((disc >= 0.0) & (s > 0.0) & (s < 1.0), s, 0.0) for s in (q / a, c / q)
        )
    return first, second


def _reversals(times: Array, positions: Array, turns: Array, places: Array) -> Reversals:
    """Return the times and positions at which one joint reverses, stops or starts, and its last.

    Args:
        times: Of the points, (m,) [s].
        positions: At the points, (m,) [rad or m].
        turns: Times of the extremes between points, (k,) [s].
        places: Positions there, (k,) [rad or m].
    """
    if len(turns):
        times, positions = np.concatenate([times, turns]), np.concatenate([positions, places])
        order = np.argsort(times, kind="stable")
        order = order[np.concatenate([[True], np.diff(times[order]) > 0.0])]
        times, positions = times[order], positions[order]
    signs = np.sign(np.diff(positions))
    chosen = np.append(np.flatnonzero(np.diff(signs)) + 1, len(times) - 1)
    return times[chosen].tolist(), positions[chosen].tolist()


BLEND_SHARE = 0.9  # share of the acceleration limits, if there is enough time between points
PIECES = 10  # cubics per quintic


def blend_corners(
    times: Array, points: Array, rate: Array | None, axes: tuple[Axis, ...]
) -> Trajectory:
    """Return linear segments with a parabola at each corner, as short as accelerations allow.

    The segments connect points (m, n) at times (m,) [s], the first 0; the initial velocity is
    ``rate`` (n,), or that of the first segment.
    """
    if len(times) == 1:
        return Trajectory(times, points, np.zeros_like(points))
    h = np.diff(times)
    slope = np.diff(points, axis=0) / h[:, None]
    most = BLEND_SHARE * np.array([axis.acceleration for axis in axes])
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


def quintics_as_cubics(times: Array, points: Array, rates: Array, bends: Array) -> Trajectory:
    """Return cubics that follow the quintics through points, velocities, accelerations (m, n)."""
    h = np.diff(times)[:, None, None]
    s = np.arange(1, PIECES + 1)[None, :, None] / PIECES
    start, d = points[:-1, None], np.diff(points, axis=0)[:, None]
    v0, v1 = rates[:-1, None] * h, rates[1:, None] * h
    a0, a1 = 0.5 * bends[:-1, None] * h * h, 0.5 * bends[1:, None] * h * h
    # p + v0 s + a0 s^2 + c3 s^3 + c4 s^4 + c5 s^5 with both ends' values and derivatives
    c3 = 10.0 * d - 6.0 * v0 - 4.0 * v1 - 3.0 * a0 + a1
    c4 = -15.0 * d + 8.0 * v0 + 7.0 * v1 + 3.0 * a0 - 2.0 * a1
    c5 = 6.0 * d - 3.0 * v0 - 3.0 * v1 - a0 + a1
    t = times[:-1, None] + s[..., 0] * h[..., 0]
    q = start + s * (v0 + s * (a0 + s * (c3 + s * (c4 + s * c5))))
    v = (v0 + s * (2 * a0 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / h
    n = points.shape[1]
    return Trajectory(
        np.append(times[:1], t),
        np.vstack([points[:1], q.reshape(-1, n)]),
        np.vstack([rates[:1], v.reshape(-1, n)]),
    )


def with_servos(path: Trajectory, axes: Axes) -> tuple[Trajectory, tuple[Axis, ...]]:
    """Return a path (m, n) with a column for each servo that might be too fast, and all axes.

    Its times are the same, but a curved transmission needs more points.
    """
    coupling = axes.coupling
    if coupling is None or not coupling.tight:
        return path, axes.arm
    if not coupling.drivetrain.is_linear:
        path = _refined(path)
    assert path.velocities is not None
    columns = list(coupling.tight)
    places = coupling.drivetrain.to_actuators(path.positions)[:, columns]
    jacobian = coupling.drivetrain.jacobian(path.positions)[:, columns]
    rates = np.einsum("kmn,kn->km", jacobian, path.velocities)
    both = Trajectory(
        path.times, np.hstack([path.positions, places]), np.hstack([path.velocities, rates])
    )
    return both, (*axes.arm, *(coupling.actuators[i] for i in columns))


def servo_braking_time(axes: Axes, position: Array, velocity: Array, share: float) -> float:
    """Return the time [s] in which servos brake together at a share of their accelerations.

    The joints are at position and velocity (n,) [rad or m, per second].
    """
    coupling = axes.coupling
    if coupling is None or not coupling.tight:
        return 0.0
    rates = coupling.drivetrain.jacobian(position) @ velocity
    most = np.array([actuator.acceleration for actuator in coupling.actuators])
    return float((np.abs(rates) / (share * most)).max())


def _refined(path: Trajectory) -> Trajectory:
    """Return the same path with more points where joints move far between them."""
    far = np.abs(np.diff(path.positions, axis=0)).max(axis=1)
    parts = np.clip(np.ceil(far / _BEND_STEP), 1, _MOST_PARTS).astype(int)
    segments = np.repeat(np.arange(len(parts)), parts)
    places = np.concatenate([np.arange(n) / n for n in parts])
    times = path.times[segments] + places * np.diff(path.times)[segments]
    rates, _ = path.derivatives(segments, places)
    last, _ = path.derivatives(np.array([len(parts) - 1]), np.array([1.0]))
    times = np.append(times, path.duration)
    return Trajectory(times, path.samples(times), np.vstack([rates, last]))


def first_violation(path: Trajectory, coupling: Coupling, dt: float) -> CommandError | None:
    """Return an error if a path leaves limits that depend on other joints, checked every dt [s].

    A path that begins outside, by rounding to counts, may lead back inside.
    """
    if not coupling.constraints:
        return None
    number = min(int(path.duration / dt) + 2, _MOST_CHECKS)
    times = np.unique(np.concatenate([np.linspace(0.0, path.duration, number), path.times]))
    q = path.samples(times)
    amounts = coupling.constraints.violation(q)
    allowed = max(SLACK, float(amounts[0]) + SLACK)
    wrong = np.flatnonzero(amounts > allowed)
    if not len(wrong):
        return None
    worst = int(wrong[np.argmax(amounts[wrong])])
    return constraint_error(coupling, q[worst], f" {times[worst]:.3g} s after the start")


def constraint_error(coupling: Coupling, q: Array, where: str) -> CommandError | None:
    """Return an error if a posture q (n,) is outside limits that depend on other joints."""
    violation = coupling.constraints.worst(q)
    if violation is None:
        return None
    return CommandError(
        f"{violation.sentence}; the trajectory leaves this{where}.",
        joint=violation.joint,
        amount=violation.amount,
    )
