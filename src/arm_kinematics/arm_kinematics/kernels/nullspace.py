# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled null-space projection: along the self-motion to the preferred posture.

A step minimises the weighed distance to the preferred joint positions among the steps that change
no error, to first order: gradient projection (Liegeois, "Automatic supervisory control of the
configuration and behavior of multibody mechanisms", IEEE Trans. SMC 7(12), 1977), here all the way
to the projected minimum, and without joints that would pass a limit. A descent then removes the
error of the second order; a posture that is worse within the tolerances, or not nearer, is
rejected.
"""

from __future__ import annotations

import math

from arm_common.jit import kernel
from arm_common.transforms import Array

from arm_kinematics.kernels.descent import damped_step, descend, normal_equations
from arm_kinematics.kernels.forward import (
    DAMPING_WEIGHT,
    DELTA,
    ERROR,
    FREE,
    GRADIENT,
    LEADER,
    LOWER,
    PERIOD,
    PREFERRED,
    PULL,
    SAVED,
    STEP,
    UNIT,
    UPPER,
    Q,
    move,
)
from arm_kinematics.kernels.residuals import CENTRED, EVEN, EXACT, OPTIONS, SPARE, derive, error

ITERATIONS, SHORTENINGS = 12, 3
LONGEST = 0.8  # [rad, or units of the joint], so that bending stays small
SHORTEST_STEP = 1e-3  # a way shorter than this is none
LOOSE = 1e-9  # of the pull towards the preferred posture, beside the errors
LIGHTEST = 1e-6  # joints that do not count, beside those that do: else their motion is undefined


@kernel
def set_preference(c: Array, opt: Array, W: Array, seed: Array) -> None:
    """Fill PREFERRED and PULL, where and how strongly joints are drawn, and DAMPING_WEIGHT."""
    n = W.shape[0] - 1
    for i in range(n):
        W[i, DAMPING_WEIGHT] = 1.0 / (c[i + 1, UNIT] * c[i + 1, UNIT])
        W[i, PREFERRED], W[i, PULL] = seed[i], opt[OPTIONS + i]
        lower, upper = c[i + 1, LOWER], c[i + 1, UPPER]
        if opt[CENTRED] != 0.0:
            half = math.pi * c[i + 1, UNIT]
            if upper - lower < math.inf:
                W[i, PREFERRED] = 0.5 * (lower + upper)
                half = max(0.5 * (upper - lower), 1e-6 * c[i + 1, UNIT])
            W[i, PULL] /= half * half


@kernel
def project_to_preference(c: Array, opt: Array, W: Array, state: int) -> None:
    """Bring W[:, Q], a solution of quality ``state``, to the preferred posture near it."""
    n = W.shape[0] - 1
    heaviest = 0.0
    for i in range(n):
        W[i, Q] = nearest_turn(c, i, W[i, Q], W[i, PREFERRED])
        heaviest = max(heaviest, W[i, PULL])
    for _ in range(ITERATIONS):
        if state != EXACT:  # the tip may be where a trial led that was not taken
            move(c, W, Q)
            error(opt, W, ERROR)
        derive(c, opt, W)
        size = _projected_step(c, opt, W, heaviest)
        before = preference_distance(W)
        if size < SHORTEST_STEP or _gain(W) < opt[SPARE] * before:
            return
        scale = min(1.0, LONGEST / size)
        for i in range(n):
            W[i, SAVED], W[i, STEP] = W[i, Q], W[i, DELTA]
        better = False
        for _ in range(SHORTENINGS):
            for i in range(n):
                value = W[i, SAVED] + scale * W[i, STEP]
                W[i, Q] = min(max(value, c[i + 1, LOWER]), c[i + 1, UPPER])
            now = descend(c, opt, W)
            better = now >= state and preference_distance(W) < before
            if better:
                state = now
                break
            scale *= 0.3
        if not better:
            for i in range(n):
                W[i, Q] = W[i, SAVED]
            descend(c, opt, W)  # it is there; only its error is computed again
            return


@kernel
def preference_distance(W: Array) -> float:
    """Return the squared distance of Q from the preferred posture, as PULL weighs it."""
    square = 0.0
    for i in range(W.shape[0] - 1):
        gap = W[i, Q] - W[i, PREFERRED]
        square += W[i, PULL] * gap * gap
    return square


@kernel
def _gain(W: Array) -> float:
    """Return by how much DELTA brings the squared distance down, to first order."""
    square = 0.0
    for i in range(W.shape[0] - 1):
        square += W[i, PULL] * W[i, DELTA] * W[i, DELTA]
    return square


@kernel
def _projected_step(c: Array, opt: Array, W: Array, heaviest: float) -> float:
    """Fill DELTA with the way along which no error changes; return its size in units of joints."""
    n = W.shape[0] - 1
    if heaviest == 0.0:
        return 0.0
    pull = LOOSE * normal_equations(opt, W, EVEN) / heaviest
    for i in range(n):
        W[i, FREE] = 1.0 if c[i + 1, LEADER] == i else 0.0
        W[i, PULL] = max(W[i, PULL], LIGHTEST * heaviest) if W[i, FREE] != 0.0 else 0.0
        W[i, GRADIENT] += pull * W[i, PULL] * (W[i, Q] - W[i, PREFERRED])
    blocked = True
    while blocked:
        damped_step(W, PULL, pull, 0.0)
        blocked = False
        for i in range(n):
            q, step = W[i, Q], W[i, DELTA]
            at_limit = q <= c[i + 1, LOWER] if step < 0.0 else q >= c[i + 1, UPPER]
            if W[i, FREE] != 0.0 and step != 0.0 and at_limit:
                W[i, FREE] = 0.0
                blocked = True
    size = 0.0
    for i in range(n):
        size = max(size, abs(W[i, DELTA]) / c[i + 1, UNIT])
    return size


@kernel
def nearest_turn(c: Array, i: int, q: float, to: float) -> float:
    """Return position q of joint i by whole turns as near to another one as the limits allow."""
    period = c[i + 1, PERIOD]
    if period == 0.0:
        return q
    turns = math.floor((to - q) / period + 0.5)
    while turns != 0.0:
        value: float = q + turns * period
        if c[i + 1, LOWER] <= value <= c[i + 1, UPPER]:
            return value
        turns += -1.0 if turns > 0.0 else 1.0
    return q
