# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A joint trajectory as the driver runs it: sampling, and where each joint reverses.

Between points the position is linear if the points have no velocities, and a cubic Hermite
polynomial if they have.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Turns = tuple[list[float], list[float]]


@dataclass(frozen=True)
class Trajectory:
    """Points in time, the first of them being where the motion begins.

    Attributes:
        times: (m,) seconds from the start, strictly increasing, the first 0.
        positions: (m, n) [rad or m].
        velocities: (m, n) [rad/s or m/s], or None.
    """

    times: Array
    positions: Array
    velocities: Array | None = None

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
        s = ((times - self.times[k]) / np.diff(self.times)[k])[:, None]
        inner: Array = self.positions[k] + s * (a + s * (c + s * e))
        inner[times <= 0.0] = self.positions[0]
        inner[times >= self.duration] = self.positions[-1]
        return inner

    def derivatives(self, segments: NDArray[np.int_], places: Array) -> tuple[Array, Array]:
        """Return rates and accelerations, (k, n) each, per second and per second^2.

        Args:
            segments: Numbers (k,) of segments.
            places: Where in them, (k,) from 0 to 1.
        """
        a, c, e = (part[segments] for part in self._coefficients)
        h, s = np.diff(self.times)[segments][:, None], places[:, None]
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

    def peak_speeds(self) -> Array:
        """Return the largest speed of each segment, (m - 1, n) [rad/s or m/s].

        The velocity ``a + 2 c s + 3 e s^2`` is extreme at the ends and at ``s = -c / (3 e)``.
        """
        if self.velocities is None:
            return self.mean_speeds()
        h = np.diff(self.times)[:, None]
        a, c, e = self._coefficients
        with np.errstate(divide="ignore", invalid="ignore"):
            s = np.nan_to_num(-c / (3.0 * e), nan=0.0, posinf=0.0, neginf=0.0)
        s = np.clip(s, 0.0, 1.0)
        inner = np.abs(a + 2.0 * s * c + 3.0 * s * s * e) / h
        ends = np.maximum(np.abs(self.velocities[:-1]), np.abs(self.velocities[1:]))
        peaks: Array = np.maximum(inner, ends)
        return peaks

    def extremes(self) -> tuple[Array, Array]:
        """Return the least and the largest position of each joint on the way, (n,) each."""
        _, positions = self._knots
        return positions.min(axis=0), positions.max(axis=0)

    def next_turn(self, joint: int, time: float) -> float:
        """Return where a joint reverses or rests next, at or after a time [s]."""
        times, positions = self.turns[joint]
        return positions[min(bisect_left(times, time), len(times) - 1)]

    @cached_property
    def turns(self) -> tuple[Turns, ...]:
        """For each joint the times [s] and positions at which it reverses, halts or sets off."""
        times, positions = self._knots
        return tuple(_turns(times[:, i], positions[:, i]) for i in range(positions.shape[1]))

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
    def _knots(self) -> tuple[Array, Array]:
        """Times and positions (k, n) of all points and of the cubics' extremes between them."""
        times = np.repeat(self.times[:, None], self.positions.shape[1], axis=1)
        if self.velocities is None:
            return times, self.positions
        h = np.diff(self.times)[:, None]
        a, c, e = self._coefficients
        all_times, all_positions = [times], [self.positions]
        for s in _roots(3.0 * e, 2.0 * c, a):
            all_times.append(times[:-1] + s * h)
            all_positions.append(self.positions[:-1] + s * (a + s * (c + s * e)))
        times, positions = np.concatenate(all_times), np.concatenate(all_positions)
        order = np.argsort(times, axis=0, kind="stable")
        return np.take_along_axis(times, order, 0), np.take_along_axis(positions, order, 0)


def joined(first: Trajectory, second: Trajectory) -> Trajectory:
    """Return one trajectory after another, which begins where the first one ends."""
    if first.velocities is None or second.velocities is None:
        raise ValueError("both need velocities")
    return Trajectory(
        np.concatenate([first.times, first.duration + second.times[1:]]),
        np.vstack([first.positions, second.positions[1:]]),
        np.vstack([first.velocities, second.velocities[1:]]),
    )


def _roots(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Return both roots of a s^2 + b s + c inside (0, 1); 0 in place of any other."""
    disc = b * b - 4.0 * a * c
    q = -0.5 * (b + np.copysign(np.sqrt(np.maximum(disc, 0.0)), b))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, second = (
            np.where((disc >= 0.0) & (s > 0.0) & (s < 1.0), s, 0.0) for s in (q / a, c / q)
        )
    return first, second


def _turns(times: Array, positions: Array) -> Turns:
    """Return the knots at which one joint reverses, halts or sets off, and the last knot."""
    distinct = np.concatenate([[True], np.diff(times) > 0.0])
    times, positions = times[distinct], positions[distinct]
    signs = np.sign(np.diff(positions))
    chosen = [*(int(k) + 1 for k in np.flatnonzero(np.diff(signs))), len(times) - 1]
    return [float(times[k]) for k in chosen], [float(positions[k]) for k in chosen]
