# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Converts jog commands into short trajectories that end at rest; without commands the arm stops.

The commanded positions are integrated instead of read from joint_states, which lag and are rounded
to the board's counts, so that slow motions would be lost.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from arm_common.transforms import Array
from arm_description.model.constraints import SLACK, largest_share
from arm_kinematics.paths.differential_ik import DifferentialIk, RateLimits, rate_bounds

from arm_kinematics import Chain
from arm_tasks.manual.jog_input import MAX_DIRECTIONS, JogCommand
from arm_tasks.planning.plan import PlannedTrajectory

PERIOD = 0.05  # [s] between messages
HORIZON = 2.0 * PERIOD  # [s] of motion per message before braking; the next one may be late
ACCELERATION_SCALE = 0.4  # a cubic between messages peaks at twice its mean acceleration
LINEAR, ANGULAR = 0.25, 1.5  # [m/s], [rad/s] of the tool at speed 1
_SETTLING_PERIODS = 10  # at rest until joint_states are up to date
_MAX_DEVIATION = 0.15  # [rad or m] of joint_states from the command, beyond the lag


class MotionStream:
    """The commanded state of an arm that is moved by short trajectories; start() sets it.

    Attributes:
        q: (n,) commanded positions; None if unknown.
        rates: (n,) commanded rates.
    """

    def __init__(self, chain: Chain) -> None:
        self.use(chain)

    def use(self, chain: Chain) -> None:
        """Use the chain of the same robot with other limits; nothing moves until start()."""
        self._chain = chain
        self._acceleration = ACCELERATION_SCALE * chain.acceleration
        self._reset(None)

    def _reset(self, q: Array | None) -> None:
        self.q = q
        self.rates = np.zeros(self._chain.n)
        self._idle = _SETTLING_PERIODS

    def forget(self) -> None:
        """Forget the position; nothing moves until start()."""
        self._reset(None)

    @property
    def settled(self) -> bool:
        """True if the arm has been at rest long enough for joint_states to be up to date."""
        return self._idle >= _SETTLING_PERIODS

    @property
    def moving(self) -> bool:
        """True while the arm is commanded to move."""
        return bool(np.any(self.rates))

    def start(self, positions: Array) -> None:
        """Start at positions (n,) [rad or m], at rest."""
        self._reset(np.array(positions, dtype=float))

    @staticmethod
    def _kept_inside(rates: Array, braked: Array, fits: Callable[[Array], bool]) -> Array:
        """Return rates (n,) from which the arm can brake inside the limits, which ``fits`` checks.

        They are between those wanted and ``braked``, the present ones after some braking. These
        fit because the last step left room for them.
        """
        share = largest_share(lambda s: fits(braked + s * (rates - braked)))
        if share > 0.0:
            return braked + share * (rates - braked)
        return largest_share(lambda s: fits(s * braked)) * braked

    def deviates(self, positions: Array) -> bool:
        """Return True if measured positions (n,) do not follow the command."""
        if self.q is None:
            return False
        allowed = _MAX_DEVIATION + 4.0 * HORIZON * np.abs(self.rates)
        return bool(np.any(np.abs(self.q - positions) > allowed))


class Jogger(MotionStream):
    """Jogs one arm; start() sets its position.

    Attributes:
        slowed_by: Joints that make the motion slower than commanded.
    """

    def use(self, chain: Chain) -> None:
        """Use the chain of the same robot with other limits; nothing moves until start()."""
        super().use(chain)
        self._jog = DifferentialIk(chain, acceleration=self._acceleration)
        self.slowed_by: tuple[str, ...] = ()

    def step(self, command: JogCommand) -> PlannedTrajectory | None:
        """Return the motion of the next period followed by braking, or None if nothing moves."""
        if self.q is None or (command.is_zero and not self.moving):
            self.slowed_by = ()
            self._idle += 1
            return None
        self._idle = 0
        if command.is_zero:
            return self._brake()
        q = self.q
        self.rates = rates = self._slowed(q, self._rates(command))
        self.q = q + rates * PERIOD
        if not self.moving:
            return None
        braking = self._braking_time(rates)
        ahead = q + rates * HORIZON
        last = ahead + 0.5 * rates * braking
        return self._ending_at_rest([HORIZON, HORIZON + braking], [ahead, last], [rates])

    def _brake(self) -> PlannedTrajectory:
        assert self.q is not None
        braking = self._braking_time(self.rates)
        self.q = self.q + 0.5 * self.rates * braking
        self.rates = np.zeros_like(self.rates)
        self.slowed_by = ()
        return self._ending_at_rest([braking], [self.q], [])

    def _ending_at_rest(
        self, times: list[float], positions: list[Array], rates: list[Array]
    ) -> PlannedTrajectory:
        velocities = np.array([*rates, np.zeros(self._chain.n)])
        names = self._chain.joint_names
        return PlannedTrajectory(names, np.array(times), np.array(positions), velocities)

    def _rates(self, command: JogCommand) -> Array:
        """Return joint rates (n,) for the next period from which every joint can still stop.

        For tool motions they are evaluated in the middle of the period (midpoint rule); otherwise
        the tool would drift off a straight line.
        """
        assert self.q is not None
        q = np.clip(self.q, self._chain.lower, self._chain.upper)
        if command.mode != "joint":
            scale = [LINEAR] * 3 + [ANGULAR] * 3
            twist = np.array(command.direction[:6]) * command.speed * scale
            first = self._jog.step(q, self.rates, twist, HORIZON, command.mode)
            middle = np.clip(
                q + first.rates * (0.5 * PERIOD), self._chain.lower, self._chain.upper
            )
            step = self._jog.step(middle, self.rates, twist, HORIZON, command.mode)
            self.slowed_by = step.limiting_joints
            return step.rates
        chain = self._chain
        limits = RateLimits(chain.lower, chain.upper, chain.velocity, self._acceleration)
        bounds = rate_bounds(limits, q, self.rates, HORIZON)
        target = np.zeros(max(chain.n, MAX_DIRECTIONS))
        target[:MAX_DIRECTIONS] = command.direction
        target = target[: chain.n] * command.speed * chain.velocity
        rates = np.clip(target, bounds.lower, bounds.upper)
        short = np.abs(np.clip(target, bounds.target_lower, bounds.target_upper) - target) > 1e-9
        self.slowed_by = tuple(chain.joint_names[i] for i in np.flatnonzero(short))
        return np.asarray(rates)

    def _slowed(self, q: Array, rates: Array) -> Array:
        """Return rates (n,) slowed as far as the motion and braking stay inside the limits.

        All joints brake for the same time, some more gently than necessary.
        """
        chain = self._chain
        lower, upper = np.minimum(chain.lower, q) - SLACK, np.maximum(chain.upper, q) + SLACK

        def fits(reduced: Array) -> bool:
            end = q + self._travel(reduced)
            inside = bool(((lower <= end) & (end <= upper)).all())
            return inside and chain.constraints.keeps(q, end)

        braking = max(0.0, 1.0 - HORIZON / self._braking_time(self.rates))
        slowed = self._kept_inside(rates, braking * self.rates, fits)
        end = q + self._travel(rates)
        if not chain.constraints.keeps(q, end) and (near := chain.constraints.tightest(end)):
            self.slowed_by = tuple(dict.fromkeys((*self.slowed_by, near.joint)))
        return slowed

    def _travel(self, rates: Array) -> Array:
        """Return the travel (n,) of a motion with rates (n,), which ends by braking."""
        return rates * (HORIZON + 0.5 * self._braking_time(rates))

    def _braking_time(self, rates: Array) -> float:
        """Return the time in which all rates (n,) reach zero together [s]."""
        return max(PERIOD, float(np.max(np.abs(rates) / self._acceleration)))
