# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""From wishes to short trajectories, each of which ends at rest: who falls silent, stops.

The arm is jogged from a command that is integrated here, not from joint_states: these lag, are
rounded to the board's counts, and would let a slow motion stand still.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array
from arm_kinematics.paths.differential_ik import DifferentialIk, RateLimits, rate_bounds

from arm_kinematics import Chain
from arm_tasks.manual.jog_input import JogCommand, asked_rates

PERIOD = 0.05  # [s] from message to message
AHEAD = 2.0 * PERIOD  # [s] that a message lasts before it brakes: one may be lost or late
GENTLE = 0.4  # of the accelerations: a cubic from message to message peaks at twice the mean
LINEAR, ANGULAR = 0.25, 1.5  # [m/s], [rad/s] of the tool at speed 1
SETTLED = 10  # periods at rest after which joint_states have caught up
ASTRAY = 0.15  # [rad or m] beyond the way since then, that command and joint_states may differ


@dataclass(frozen=True)
class TrajectorySegment:
    """The next points of the way, from now.

    Attributes:
        times: (k,) [s].
        positions: (k, n) [rad or m].
        velocities: (k, n), the last ones 0.
    """

    times: tuple[float, ...]
    positions: Array
    velocities: Array


class Jogger:
    """Jogs one arm.

    Attributes:
        q: (n,) where it is commanded to be; None if that is not known.
        rates: (n,) how fast it goes.
        slowed_by: Joints that make the motion slower than wished.
    """

    def __init__(self, chain: Chain) -> None:
        """Make a jogger that knows not yet where the arm is.

        Args:
            chain: The arm.
        """
        self._chain = chain
        self._acceleration = GENTLE * chain.acceleration
        self._jog = DifferentialIk(chain, acceleration=self._acceleration)
        self.slowed_by: tuple[str, ...] = ()
        self.forget()

    def forget(self) -> None:
        """Forget where the arm is; nothing moves until start()."""
        self.q: Array | None = None
        self.rates = np.zeros(self._chain.n)
        self._idle = SETTLED

    @property
    def settled(self) -> bool:
        """Whether the arm rests for so long that joint_states know better where it is."""
        return self._idle >= SETTLED

    @property
    def moving(self) -> bool:
        """Whether the last stretch did not end at rest at once."""
        return bool(np.any(self.rates))

    def start(self, positions: Array) -> None:
        """Begin from where the arm is, (n,) [rad or m], at rest; until it moves, begin anew."""
        self.forget()
        self.q = np.array(positions, dtype=float)

    def astray(self, positions: Array) -> bool:
        """Return whether the arm (n,) is not where it was sent: something else holds it."""
        if self.q is None:
            return False
        allowed = ASTRAY + 4.0 * AHEAD * np.abs(self.rates)
        return bool(np.any(np.abs(self.q - positions) > allowed))

    def step(self, wish: JogCommand) -> TrajectorySegment | None:
        """Return the way for one period and to rest after it, None if nothing moves.

        Args:
            wish: Where to go.
        """
        if self.q is None or (wish.still and not self.moving):
            self.slowed_by = ()
            self._idle += 1
            return None
        self._idle = 0
        if wish.still:
            return self._brake()
        wanted = self._rates(wish)
        self.rates = wanted * self._room(wanted)
        q, rates = self.q, self.rates
        self.q = q + rates * PERIOD
        if not self.moving:
            return None
        ends = self._braking(rates)
        there = q + rates * AHEAD
        last = there + 0.5 * rates * ends
        return TrajectorySegment(
            (AHEAD, AHEAD + ends),
            np.vstack([there, last]),
            np.vstack([rates, np.zeros_like(rates)]),
        )

    def _brake(self) -> TrajectorySegment:
        assert self.q is not None
        ends = self._braking(self.rates)
        self.q = self.q + 0.5 * self.rates * ends
        self.rates = np.zeros_like(self.rates)
        self.slowed_by = ()
        return TrajectorySegment((ends,), self.q[None], self.rates[None])

    def _rates(self, wish: JogCommand) -> Array:
        """Return joint speeds (n,) for the next period, that still let every joint stop.

        Those of a tool's way are taken in the middle of the period (midpoint rule), or a straight
        way would be a polygon's outside.
        """
        assert self.q is not None
        q = np.clip(self.q, self._chain.lower, self._chain.upper)
        if wish.mode != "joint":
            way = np.array(wish.way[:6]) * wish.speed * ([LINEAR] * 3 + [ANGULAR] * 3)
            half = self._jog.step(q, self.rates, way, AHEAD, wish.mode).rates * (0.5 * PERIOD)
            middle = np.clip(q + half, self._chain.lower, self._chain.upper)
            step = self._jog.step(middle, self.rates, way, AHEAD, wish.mode)
            self.slowed_by = step.limiting_joints
            return step.rates
        chain = self._chain
        limits = RateLimits(chain.lower, chain.upper, chain.velocity, self._acceleration)
        bounds = rate_bounds(limits, q, self.rates, AHEAD)
        asked = asked_rates(wish, chain.velocity)
        rates = np.clip(asked, bounds.lower, bounds.upper)
        short = np.abs(np.clip(asked, bounds.calm_lower, bounds.calm_upper) - asked) > 1e-9
        self.slowed_by = tuple(chain.joint_names[i] for i in np.flatnonzero(short))
        return np.asarray(rates)

    def _room(self, rates: Array) -> float:
        """Return the share of speeds (n,) with which the way and its end stay inside the limits.

        Joints brake together, so that some brake softer than they could and go further.
        """
        assert self.q is not None
        way = rates * (AHEAD + 0.5 * self._braking(rates))
        ends = np.where(way > 0.0, self._chain.upper - self.q, self._chain.lower - self.q)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            shares = np.where(np.abs(way) > 1e-12, ends / way, 1.0)
        return float(np.clip(shares.min(), 0.0, 1.0))

    def _braking(self, rates: Array) -> float:
        """Return how long speeds (n,) take to end, all at once [s]."""
        return max(PERIOD, float(np.max(np.abs(rates) / self._acceleration)))
