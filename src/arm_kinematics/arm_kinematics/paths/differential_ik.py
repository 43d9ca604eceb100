# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Differential inverse kinematics: from a target velocity of the tool to joint speeds.

Near singular postures the velocity is damped. If it is too fast for a joint, or a joint comes near
its limit, the whole motion slows down and keeps its direction; joints that are not needed for it
are held at their bounds instead (saturation in the null space: Flacco, De Luca and
Khatib, IEEE Trans. Robotics 31(3), 2015).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array
from numpy.typing import ArrayLike, NDArray

from arm_kinematics.arguments import one_of, require, vector
from arm_kinematics.chain.chain import Chain

Rows = NDArray[np.intp]
_NONE = 1e-9  # singular values below this are zero
_SAME = 1e-6
_TASKS: dict[str, list[Rows]] = {
    "pose": [np.arange(6)],
    "position": [np.arange(3)],
    "position_first": [np.arange(3), np.arange(3, 6)],
}


def _damped_inverses(s: Array, trusted: float) -> Array:
    """Return the inverses of singular values, those of nearly singular directions damped.

    A singular value s below ``trusted`` is inverted as s / (s^2 + d^2) with d^2 = (1 -
    (s/trusted)^2) (trusted/2)^2, at most 1.2/trusted; the others exactly. Damping that grows
    smoothly from 0: Nakamura and Hanafusa, J. Dynamic Systems, Measurement and Control 108(3),
    1986, in the form of Chiaverini, IEEE Trans. Robotics and Automation 13(3), 1997, eq. 15; for
    each singular direction separately: Maciejewski and Klein, J. Robotic Systems 5(6), 1988.
    """
    d2 = np.where(s < trusted, (1.0 - (s / trusted) ** 2) * (0.5 * trusted) ** 2, 0.0)
    return np.where(s > _NONE, s / np.maximum(s * s + d2, 1e-300), 0.0)


def _solve(J: Array, twist: Array, tasks: list[Rows], fixed: Array, trusted: float) -> Array:
    """Return joint speeds (n,) for the tasks in order of priority.

    J (6, n) and the target twist (6,) are scaled so that rows and columns are comparable; fixed
    (n,) holds the speeds of fixed joints, NaN where a joint is free. Nakamura,
    Hanafusa and Yoshikawa, Int. J. Robotics Research 6(2), 1987.
    """
    free = np.isnan(fixed)
    rates = np.where(free, 0.0, fixed)
    missing = twist - J @ rates
    columns = J[:, free]
    spare = np.eye(columns.shape[1])
    speeds = np.zeros(columns.shape[1])
    for rows in tasks if free.any() else []:
        part = columns[rows]
        U, s, Vt = np.linalg.svd(part @ spare, full_matrices=False)
        inverse = (Vt.T * _damped_inverses(s, trusted)) @ U.T
        speeds = speeds + inverse @ (missing[rows] - part @ speeds)
        V = Vt[s > _NONE]
        spare = spare - spare @ V.T @ V  # speeds that do not affect this task
    rates[free] = speeds
    return rates


class RateBounds(NamedTuple):
    """Smallest and largest joint speeds, (n,) each; the target bounds always contain 0."""

    lower: Array  # for the next period, within speed, acceleration and position limits
    upper: Array
    target_lower: Array  # the same without the acceleration limit, for the target speeds
    target_upper: Array


class RateLimits(NamedTuple):
    """Joint limits, (n,) each, infinite where there are none."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array


def rate_bounds(limits: RateLimits, q: Array, rates: Array, dt: float) -> RateBounds:
    """Return the bounds for a period of dt [s] that begins at q (n,) with joint speeds rates (n,).

    A joint may be as fast as lets it stop before its limit with its largest deceleration. Speeds
    within these bounds keep them satisfiable for ever. Otherwise (a joint too fast to stop before
    its limit, or outside of it), the position limit has priority over the acceleration limit.
    """
    to_upper = np.maximum(limits.upper - q, 0.0)
    to_lower = np.maximum(q - limits.lower, 0.0)
    high = np.minimum(_stoppable(to_upper, limits.acceleration, dt), limits.velocity)
    low = -np.minimum(_stoppable(to_lower, limits.acceleration, dt), limits.velocity)
    change = limits.acceleration * dt
    slowest, fastest = rates - change, rates + change
    # Brake as hard as possible if even that is too fast to stop, but never pass the limit.
    upper = np.maximum(np.minimum(fastest, high), slowest)
    lower = np.minimum(np.maximum(slowest, low), fastest)
    ends = -to_lower / dt, to_upper / dt
    return RateBounds(np.clip(lower, *ends), np.clip(upper, *ends), low, high)


def _stoppable(distance: Array, acceleration: Array, dt: float) -> Array:
    """Return the speed r to stop within r dt + r^2 / (2 a) = distance: a period, then braking."""
    with np.errstate(over="ignore", invalid="ignore"):
        rate = 2.0 * distance / (dt + np.sqrt(dt * dt + 2.0 * distance / acceleration))
    # inf / inf is NaN: with unlimited distance the speed is free.
    return np.asarray(np.where(np.isinf(distance), np.inf, rate))


class DifferentialIkStep(NamedTuple):
    """The joint speeds for the next period."""

    rates: Array  # joint speeds (n,) [rad/s or m/s]
    twist: Array  # resulting velocity [v; w] (6,) of the tool, along the base axes
    scale: float  # share of the target velocity that the limits allow, 0 to 1
    limiting_joints: tuple[str, ...]  # joints that slow the motion, or are held at a bound


class DifferentialIk:
    """Velocity control of one arm; stateless between steps.

    Args:
        chain: The arm.
        mode: "pose": all six components of the velocity. "position": linear velocity only.
            "position_first": linear velocity exactly, then the angular one as far as possible.
            None: "pose" for six joints or more, otherwise "position_first".
        velocity: Speed limits (n,) [rad/s or m/s]; None is the chain's.
        acceleration: Acceleration limits (n,); None is the chain's.
        trusted: Singular value of the Jacobian (lengths in units of the arm's length) below which
            damping begins.
    """

    def __init__(
        self,
        chain: Chain,
        mode: str | None = None,
        *,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        trusted: float = 0.02,
    ) -> None:
        mode = mode or ("pose" if chain.n >= 6 else "position_first")
        one_of(mode, "mode", tuple(_TASKS))
        require(0.0 < trusted < math.inf, "trusted", trusted, "a positive number")
        self._chain, self._tasks, self._trusted = chain, _TASKS[mode], trusted
        speeds = chain.velocity if velocity is None else velocity
        changes = chain.acceleration if acceleration is None else acceleration
        limits = (
            vector(values, chain.n, what, "positive limits", lambda x: x > 0.0)
            for what, values in (("velocity", speeds), ("acceleration", changes))
        )
        self._limits = RateLimits(chain.lower, chain.upper, *limits)
        self._units = np.where(chain.sliding, chain.length, 1.0)
        self._rows = np.array([1.0 / chain.length] * 3 + [1.0] * 3)

    def step(
        self, q: ArrayLike, rates: ArrayLike, twist: ArrayLike, dt: float, axes: str = "base"
    ) -> DifferentialIkStep:
        """Return the joint speeds for the next dt [s].

        Args:
            q: Current joint positions (n,) [rad or m].
            rates: Current joint speeds (n,): those of the previous step, 0 at first.
            twist: Target velocity [v; w] (6,) of the tip's origin [m/s], [rad/s].
            dt: Time for which the speeds will be kept [s].
            axes: "base" or "tool": the axes along which the twist is given.

        Raises:
            KinematicsError: An argument is invalid.
        """
        n = self._chain.n
        current, before = vector(q, n, "q"), vector(rates, n, "rates")
        target = vector(twist, 6, "twist")
        require(0.0 < dt < math.inf, "dt", dt, "a positive time")
        one_of(axes, "axes", ("base", "tool"))
        if axes == "tool":
            R = self._chain.fk(current)[:3, :3]
            target = np.concatenate([R @ target[:3], R @ target[3:]])
        J = self._chain.jacobian(current)
        bounds = rate_bounds(self._limits, current, before, dt)
        scaled = J * self._rows[:, None] * self._units
        goal, scale, joints = self._target_rates(scaled, target * self._rows, bounds)
        # Straight towards those speeds, as far as the acceleration limits allow.
        change, limit = np.abs(goal - before), self._limits.acceleration * dt
        share = np.min(np.where(change > limit, limit / np.maximum(change, 1e-300), 1.0))
        new = np.clip(before + share * (goal - before), bounds.lower, bounds.upper)
        names = tuple(self._chain.joint_names[i] for i in joints)
        return DifferentialIkStep(new, J @ new, scale, names)

    def _target_rates(
        self, J: Array, twist: Array, bounds: RateBounds
    ) -> tuple[Array, float, tuple[int, ...]]:
        """Return the speeds (n,) inside the target bounds that keep the direction best.

        Also returns their share of the target velocity, and the joints that limit it.
        """
        low, high = bounds.target_lower / self._units, bounds.target_upper / self._units
        fixed = np.full(self._chain.n, np.nan)
        best: tuple[Array, float, tuple[int, ...]] = (np.zeros(self._chain.n), -1.0, ())
        first = _solve(J, twist, self._tasks, fixed, self._trusted)
        rates, rows = first, np.concatenate(self._tasks)
        moves = bool(np.linalg.norm(J[self._tasks[0]] @ first) > 1e-12)
        for _ in range(self._chain.n):
            reached, target = J[rows] @ rates, J[rows] @ first
            if np.linalg.norm(reached - target) > _SAME * np.linalg.norm(target) + 1e-15:
                break
            shares = _shares(rates, low, high)
            worst = int(np.argmin(np.where(np.isnan(fixed), shares, np.inf)))
            held = tuple(int(i) for i in np.flatnonzero(~np.isnan(fixed)))
            scale = float(min(shares.min(), 1.0))
            if scale > best[1]:
                joints = held if scale == 1.0 else tuple(sorted({*held, worst}))
                best = scale * rates * self._units, scale, joints
            if shares[worst] >= 1.0:
                break
            fixed[worst] = high[worst] if rates[worst] > 0.0 else low[worst]
            if moves and abs(fixed[worst]) * self._units[worst] < self._limits.velocity[worst]:
                rows = self._tasks[0]  # near its position limit: only the first task continues
            rates = _solve(J, twist, self._tasks, fixed, self._trusted)
        return best


def _shares(rates: Array, low: Array, high: Array) -> Array:
    """Return the factors (n,) that bring each speed inside its bounds, 1 if it is inside."""
    bound = np.where(rates > 0.0, high, low)
    over = np.abs(rates) > np.abs(bound) * (1.0 + 1e-12)
    return np.where(over, np.abs(bound) / np.maximum(np.abs(rates), 1e-300), 1.0)
