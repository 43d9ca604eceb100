# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How fast joints may move during the next period, so that no limit is passed, now or later."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arm_kinematics.lie import Array


class RateBounds(NamedTuple):
    """Least and largest speeds of joints, (n,) each; the calm ones have 0 between them.

    Attributes:
        lower, upper: For the next period: speed, acceleration and position limits kept.
        calm_lower, calm_upper: The same without the acceleration limit: what may be aimed at.
    """

    lower: Array
    upper: Array
    calm_lower: Array
    calm_upper: Array


class Limits(NamedTuple):
    """Limits of joints, (n,) each, infinite where there are none."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array


def rate_bounds(limits: Limits, q: Array, rates: Array, dt: float) -> RateBounds:
    """Return the bounds for a period of dt [s] that begins at q (n,) with speeds rates (n,).

    A joint may be as fast as still lets it stop before its limit with its largest deceleration.
    Speeds that come from these bounds keep them satisfiable for ever. Where others do not (a
    joint that runs at its limit too fast to stop, or outside of it), the position limit counts
    more than the acceleration limit.
    """
    to_upper = np.maximum(limits.upper - q, 0.0)
    to_lower = np.maximum(q - limits.lower, 0.0)
    high = np.minimum(_stoppable(to_upper, limits.acceleration, dt), limits.velocity)
    low = -np.minimum(_stoppable(to_lower, limits.acceleration, dt), limits.velocity)
    change = limits.acceleration * dt
    slowest, fastest = rates - change, rates + change
    # Brake as hard as can be if even that is too fast to stop, but never pass the limit.
    upper = np.maximum(np.minimum(fastest, high), slowest)
    lower = np.minimum(np.maximum(slowest, low), fastest)
    ends = -to_lower / dt, to_upper / dt
    return RateBounds(np.clip(lower, *ends), np.clip(upper, *ends), low, high)


def _stoppable(distance: Array, acceleration: Array, dt: float) -> Array:
    """Return the largest speed from which a joint stops within a distance.

    A period at speed r, then braking: r dt + r^2 / (2 a) = distance, solved for r.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        rate = 2.0 * distance / (dt + np.sqrt(dt * dt + 2.0 * distance / acceleration))
    # Endless room divided by endless room is not a number: there the speed is free.
    return np.asarray(np.where(np.isinf(distance), np.inf, rate))
