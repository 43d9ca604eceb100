# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Jogging: from a wanted velocity of the tool to joint speeds for the next period.

Near singular postures the wanted velocity is damped. Where it is too fast for a joint, or a joint
comes near its limit, the whole motion becomes slower, so that its direction stays; joints that
are not needed for it are held at their bounds instead (saturation in the null space: Flacco, De
Luca and Khatib, IEEE Trans. Robotics 31(3), 2015).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arm_kinematics.chain import Chain
from arm_kinematics.constants import arm_length
from arm_kinematics.errors import KinematicsError
from arm_kinematics.jogging.bounds import Limits, RateBounds, rate_bounds
from arm_kinematics.jogging.solve import Rows, solve
from arm_kinematics.lie import Array
from arm_kinematics.paths.wish import sliding

_POSITION, _ROTATION = np.arange(3), np.arange(3, 6)
_TASKS: dict[str, list[Rows]] = {
    "pose": [np.arange(6)],
    "position": [_POSITION],
    "position_first": [_POSITION, _ROTATION],
}
_SAME = 1e-6


class JogStep(NamedTuple):
    """What the joints shall do during the next period.

    Attributes:
        rates: Joint speeds (n,) [rad/s or m/s].
        twist: Velocity [v; w] (6,) of the tool that they make, along the base axes.
        scale: Share of the wanted speed that limits allow, 0 to 1.
        limiting_joints: The joints that make it slower, or that are held at a bound.
    """

    rates: Array
    twist: Array
    scale: float
    limiting_joints: tuple[str, ...]


class _Aim(NamedTuple):
    """Speeds (n,) to be reached, the scale in them, and the joints that are to blame for it."""

    rates: Array
    scale: float
    joints: tuple[int, ...]


class Jog:
    """Jogging of one arm; it keeps nothing between two steps.

    Args:
        chain: The arm.
        mode: "pose": the six components of the velocity are one whole. "position": the tool turns
            as it likes. "position_first": position exactly, then of the turning what is left.
            None: "pose" for six joints or more, else "position_first".
        velocity: Speed limits (n,) [rad/s or m/s]; None is the chain's.
        acceleration: Acceleration limits (n,); None is the chain's.
        trusted: Singular values of the Jacobian (lengths in units of the arm's length) from here
            on are met exactly; damping begins below.
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
        if mode not in _TASKS:
            raise KinematicsError(
                f"mode is {mode!r}; expected one of {', '.join(_TASKS)}", what="mode", value=mode
            )
        if not 0.0 < trusted < math.inf:
            raise KinematicsError(f"trusted is {trusted!r}; expected a positive number")
        self._chain, self._tasks, self._trusted = chain, _TASKS[mode], trusted
        self._limits = Limits(
            chain.lower,
            chain.upper,
            _positive(chain.velocity if velocity is None else velocity, chain.n, "velocity"),
            _positive(
                chain.acceleration if acceleration is None else acceleration,
                chain.n,
                "acceleration",
            ),
        )
        length = arm_length(chain.S, chain.M)
        self._units = np.where(sliding(chain), length, 1.0)
        self._rows = np.array([1.0 / length] * 3 + [1.0] * 3)

    def step(
        self, q: ArrayLike, rates: ArrayLike, twist: ArrayLike, dt: float, axes: str = "base"
    ) -> JogStep:
        """Return joint speeds for the next dt [s].

        Args:
            q: Joint positions (n,) now [rad or m].
            rates: Joint speeds (n,) now: those of the step before, 0 at the beginning.
            twist: Wanted velocity [v; w] (6,) of the tip's origin [m/s], [rad/s].
            dt: How long they will be kept.
            axes: "base" or "tool": along whose axes the twist is meant.

        Raises:
            KinematicsError: An argument makes no sense.
        """
        n = self._chain.n
        here, before = _numbers(q, n, "q"), _numbers(rates, n, "rates")
        wanted = _numbers(twist, 6, "twist")
        if not 0.0 < dt < math.inf:
            raise KinematicsError(f"dt is {dt!r}; expected a positive time", what="dt", value=dt)
        if axes not in ("base", "tool"):
            raise KinematicsError(f"axes is {axes!r}; expected base or tool", what="axes")
        if axes == "tool":
            R = self._chain.fk(here)[:3, :3]
            wanted = np.concatenate([R @ wanted[:3], R @ wanted[3:]])
        J = self._chain.jacobian(here)
        bounds = rate_bounds(self._limits, here, before, dt)
        aim = self._aim(J * self._rows[:, None] * self._units, wanted * self._rows, bounds)
        new = self._toward(before, aim.rates, bounds, dt)
        names = tuple(self._chain.joint_names[i] for i in aim.joints)
        return JogStep(new, J @ new, aim.scale, names)

    def _aim(self, J: Array, twist: Array, bounds: RateBounds) -> _Aim:
        """Return the speeds that keep the direction best, inside the calm bounds."""
        low, high = bounds.calm_lower / self._units, bounds.calm_upper / self._units
        fixed = np.full(self._chain.n, np.nan)
        best = _Aim(np.zeros(self._chain.n), -1.0, ())
        first = solve(J, twist, self._tasks, fixed, self._trusted)
        rates, rows = first, np.concatenate(self._tasks)
        moves = bool(np.linalg.norm(J[self._tasks[0]] @ first) > 1e-12)
        for _ in range(self._chain.n):
            if not _agree(J[rows] @ rates, J[rows] @ first):
                break
            shares = _shares(rates, low, high)
            worst = int(np.argmin(np.where(np.isnan(fixed), shares, np.inf)))
            held = tuple(int(i) for i in np.flatnonzero(~np.isnan(fixed)))
            scale = float(min(shares.min(), 1.0))
            if scale > best.scale:
                joints = held if scale == 1.0 else tuple(sorted({*held, worst}))
                best = _Aim(scale * rates * self._units, scale, joints)
            if shares[worst] >= 1.0:
                break
            fixed[worst] = high[worst] if rates[worst] > 0.0 else low[worst]
            if moves and abs(fixed[worst]) * self._units[worst] < self._limits.velocity[worst]:
                rows = self._tasks[0]  # near the end of its way: then the first task goes on
            rates = solve(J, twist, self._tasks, fixed, self._trusted)
        return best

    def _toward(self, before: Array, aim: Array, bounds: RateBounds, dt: float) -> Array:
        """Go from the speeds before straight towards others, as far as acceleration allows."""
        change = np.abs(aim - before)
        most = self._limits.acceleration * dt
        share = float(np.min(np.where(change > most, most / np.maximum(change, 1e-300), 1.0)))
        return np.clip(before + share * (aim - before), bounds.lower, bounds.upper)


def _shares(rates: Array, low: Array, high: Array) -> Array:
    """Return by what share (n,) each speed has to be scaled to be inside its bounds."""
    bound = np.where(rates > 0.0, high, low)
    over = np.abs(rates) > np.abs(bound) * (1.0 + 1e-12)
    return np.where(over, np.abs(bound) / np.maximum(np.abs(rates), 1e-300), 1.0)


def _agree(a: Array, b: Array) -> bool:
    return bool(np.linalg.norm(a - b) <= _SAME * np.linalg.norm(b) + 1e-15)


def _numbers(values: ArrayLike, count: int, what: str) -> Array:
    row = np.asarray(values, dtype=np.float64)
    if row.shape != (count,) or not np.isfinite(row).all():
        raise KinematicsError(
            f"{what}: expected {count} finite numbers, got {values!r}", what=what, value=values
        )
    return row


def _positive(values: ArrayLike, count: int, what: str) -> Array:
    row = np.asarray(values, dtype=np.float64)
    if row.shape != (count,) or not (row > 0.0).all():
        raise KinematicsError(
            f"{what}: expected {count} positive limits, got {values!r}", what=what, value=values
        )
    return row
