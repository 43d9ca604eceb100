# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled damped least squares inside joint limits: one descent from one start.

Levenberg-Marquardt with a damping that shrinks with the squared error (Sugihara, "Solvability-
unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27(5),
2011), so that it converges quadratically and needs no care at singular poses. Joints that a step
would push through a limit are frozen for that step.
"""

from __future__ import annotations

import math
import time

from arm_kinematics.jit import HAVE_NUMBA, kernel
from arm_kinematics.kernels import (
    COST,
    DELTA,
    EASE,
    ERROR,
    EVALUATIONS,
    FREE,
    GRADIENT,
    LOWER,
    PERIOD,
    TRIAL,
    TRIAL_ERROR,
    UNIT,
    UPPER,
    Array,
    Q,
    move,
)
from arm_kinematics.kernels_derivative import derive
from arm_kinematics.kernels_error import (
    DEADLINE,
    EXACT,
    FAILED,
    PERSIST,
    WEIGHTS,
    error,
    quality,
)
from arm_kinematics.kernels_linear import damped_step, normal_equations

ITERATIONS = 60
RETRIES = 8
LONGEST_STEP = 1.2  # [rad, or units of the joint]
SHORTEST_STEP = 1e-9
DAMPING = 0.3  # per half squared error, at the start of a descent
LOOSEN, TIGHTEN, LEAST = 0.5, 10.0, 1e-12  # its factors after a good and a bad step, its floor
FLAT = 1e-12  # a gain below this share of the error is none
PATIENCE, WORTH = 2, 0.65  # give up if so many steps leave more than this share of the error


@kernel
def _compiled_is_never_late(opt: Array) -> bool:
    """A compiled descent takes microseconds: the clock is looked at between calls."""
    return False


def _is_late(opt: Array) -> bool:
    return time.monotonic() > float(opt[DEADLINE])


is_late = _compiled_is_never_late if HAVE_NUMBA else _is_late


@kernel
def descend(c: Array, opt: Array, W: Array) -> int:
    """Descend from W[:, Q] to the nearest minimum of the weighed error.

    Leaves positions in W[:, Q], the error in W[n, ERROR...], its weighed half square in
    W[n, COST]. Returns what `quality` says of it.
    """
    n = W.shape[0] - 1
    move(c, W, Q)
    cost = error(opt, W, ERROR)
    W[n, EVALUATIONS] = 1.0
    state = quality(opt, W, ERROR, cost)
    damping = DAMPING
    mark = cost
    for iteration in range(ITERATIONS):
        if state == EXACT or is_late(opt):
            break
        derive(c, opt, W)
        floor = 1e-13 * normal_equations(opt, W, WEIGHTS)
        _freeze(c, W)
        cost_new = math.inf
        for _ in range(RETRIES):
            damped_step(W, EASE, damping * cost, floor)
            size = _trial(c, W)
            move(c, W, TRIAL)
            cost_new = error(opt, W, TRIAL_ERROR)
            W[n, EVALUATIONS] += 1.0
            if cost_new < cost or size < SHORTEST_STEP:
                break
            damping *= TIGHTEN
        if not cost_new < cost:
            break
        gain = cost - cost_new
        cost = cost_new
        for i in range(n):
            W[i, Q] = W[i, TRIAL]
        for k in range(6):
            W[n, ERROR + k] = W[n, TRIAL_ERROR + k]
        state = quality(opt, W, ERROR, cost)
        damping = max(damping * LOOSEN, LEAST)
        if gain < FLAT * cost:
            break
        if state == FAILED and opt[PERSIST] == 0.0 and iteration % PATIENCE == PATIENCE - 1:
            if cost > WORTH * mark:
                break
            mark = cost
    W[n, COST] = cost
    return state


@kernel
def _freeze(c: Array, W: Array) -> None:
    """Mark the joints that stand at a limit and would be pushed against it (FREE = 0)."""
    for i in range(W.shape[0] - 1):
        q, g = W[i, Q], W[i, GRADIENT]
        frozen = (g > 0.0 and q <= c[i + 1, LOWER]) or (g < 0.0 and q >= c[i + 1, UPPER])
        W[i, FREE] = 0.0 if frozen else 1.0


@kernel
def _trial(c: Array, W: Array) -> float:
    """Fill TRIAL with Q + DELTA, no longer than the longest step and inside the limits.

    A turning joint that would pass a limit takes the same angle a whole turn away if that is
    allowed. Returns the size of the step, in units of the joints.
    """
    n = W.shape[0] - 1
    longest = 0.0
    for i in range(n):
        longest = max(longest, abs(W[i, DELTA]) / c[i + 1, UNIT])
    scale = LONGEST_STEP / longest if longest > LONGEST_STEP else 1.0
    for i in range(n):
        lower, upper = c[i + 1, LOWER], c[i + 1, UPPER]
        value = W[i, Q] + scale * W[i, DELTA]
        turn = c[i + 1, PERIOD]
        if value > upper:
            value = value - turn if lower <= value - turn <= upper else upper
        elif value < lower:
            value = value + turn if lower <= value + turn <= upper else lower
        W[i, TRIAL] = value
    return scale * longest
