# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Limits speed, acceleration, position and jerk of an axis at every tick.

Positions change by ``v * dt`` in a tick, and ``v`` by at most ``acceleration * dt`` between two
ticks. All formulas are exact for that sampled motion, not for its continuous limit, so the bounds
hold at every tick.

Jerk is limited by the mean of the last m commands. Each rate of a mean is the mean of the rates,
hence the bounds of position, speed and acceleration still hold and nothing overshoots; the mean's
acceleration changes in a tick by ``(a_k - a_{k-m}) / m``, a jerk of at most ``2 a / (m dt)``. All
joints are averaged over the same time, so they stay together.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from arm_hardware.calibration.axes import Axis

SETTLED = 1e-9  # [rad or m, per second] distance from rest at which an axis is set to rest


@dataclass
class AxisState:
    """Commanded position and velocity of an axis."""

    position: float  # [rad or m]
    velocity: float = 0.0  # [rad/s or m/s] of the last tick


def braking_speed(distance: float, acceleration: float, dt: float) -> float:
    """Return the largest speed [unit/s] of the next tick that lets the axis stop in a distance.

    With speeds ``w, w - a dt, w - 2 a dt, ...`` over k ticks the axis travels ``k w dt - a dt^2 k
    (k - 1) / 2``. The smallest k for which ``a dt^2 k (k + 1) / 2`` reaches the distance makes the
    last of these speeds at most ``a dt``, so the next can be 0.

    Args:
        distance: Remaining distance [unit]; 0 is returned unless it is positive.
        acceleration: Of the braking, positive [unit/s^2].
        dt: Length of a tick [s].
    """
    if distance <= 0.0:
        return 0.0
    if math.isinf(distance):
        return distance
    step = acceleration * dt
    ticks = max(1, math.ceil(math.sqrt(0.25 + 2.0 * distance / (step * dt)) - 0.5))
    return distance / (ticks * dt) + 0.5 * (ticks - 1) * step


def track(
    axis: Axis, state: AxisState, now: float, then: float, dt: float, turn: float | None = None
) -> None:
    """Advance an axis by a tick of dt [s] towards a reference that moves from now to then [unit].

    A reference within the axis' limits is followed exactly, any other as closely as they allow.
    ``turn`` [unit] is the position at which the reference reverses or rests next; the axis does
    not overshoot it if it can still stop there.
    """
    error = now - state.position
    velocity = (then - now) / dt + math.copysign(
        braking_speed(abs(error), axis.acceleration, dt), error
    )
    if turn is not None:
        ahead = turn - state.position
        if ahead > 0.0 and turn >= then:
            velocity = min(velocity, braking_speed(ahead, axis.acceleration, dt))
        elif ahead < 0.0 and turn <= then:
            velocity = max(velocity, -braking_speed(-ahead, axis.acceleration, dt))
    _step(axis, state, velocity, dt)


def brake(axis: Axis, state: AxisState, dt: float) -> None:
    """Advance an axis by one tick of braking to rest."""
    _step(axis, state, 0.0, dt)


def settled(state: AxisState, rest: float) -> bool:
    """Set an axis that is almost at rest at ``rest`` exactly to rest; return whether it is."""
    if abs(state.position - rest) > SETTLED or abs(state.velocity) > SETTLED:
        return False
    state.position, state.velocity = rest, 0.0
    return True


def _step(axis: Axis, state: AxisState, velocity: float, dt: float) -> None:
    """Apply the bounds in rising priority: speed, acceleration, distance to position limits."""
    change = axis.acceleration * dt
    speed = min(max(velocity, -axis.velocity), axis.velocity)
    speed = min(max(speed, state.velocity - change), state.velocity + change)
    speed = min(speed, braking_speed(axis.upper - state.position, axis.acceleration, dt))
    speed = max(speed, -braking_speed(state.position - axis.lower, axis.acceleration, dt))
    state.velocity = speed
    state.position = min(max(state.position + speed * dt, axis.lower), axis.upper)


def smoothing_ticks(jerk_time: float, dt: float) -> int:
    """Return the number of ticks of dt [s] to average for a jerk ``acceleration / jerk_time``."""
    return max(1, math.ceil(2.0 * jerk_time / dt - 1e-9))


class Smoother:
    """Averages the commands of all axes over some ticks."""

    def __init__(self, ticks: int) -> None:
        self._past: deque[tuple[float, ...]] = deque(maxlen=ticks)

    def hold(self, positions: Sequence[float]) -> None:
        """Reset to rest at positions [rad or m]."""
        self._past.extend([tuple(positions)] * (self._past.maxlen or 1))

    def push(self, positions: Sequence[float]) -> list[float]:
        """Add the commands of a tick; return the positions to send [rad or m]."""
        self._past.append(tuple(positions))
        n = len(self._past)
        if n == 1:
            return list(positions)
        return [math.fsum(column) / n for column in zip(*self._past, strict=True)]

    def settled(self, first: int, end: int) -> bool:
        """Return whether the sent positions of axes ``first:end`` have reached the commands."""
        return all(past[first:end] == self._past[-1][first:end] for past in self._past)
