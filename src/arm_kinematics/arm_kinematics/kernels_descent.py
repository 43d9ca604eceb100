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

from arm_kinematics.jit import kernel
from arm_kinematics.kernels import (
    COLUMN,
    COST,
    DELTA,
    ERROR,
    EVALUATIONS,
    FREE,
    GRADIENT,
    LOWER,
    PRISMATIC,
    SYSTEM,
    TRIAL,
    TRIAL_ERROR,
    UNIT,
    UPPER,
    Array,
    Q,
    move,
)
from arm_kinematics.kernels_error import EXACT, FAILED, PERSIST, POSITION, TURN, error, quality

ITERATIONS = 60
RETRIES = 8
LONGEST_STEP = 1.2  # [rad, or units of the joint]
SHORTEST_STEP = 1e-9
DAMPING = 0.3  # per half squared error, at the start of a descent
EASE, TIGHTEN, LEAST = 0.5, 10.0, 1e-12  # its factors after a good and a bad step, its floor
FLAT = 1e-12  # a gain below this share of the error is none
PATIENCE, WORTH = 2, 0.65  # give up if so many steps leave more than this share of the error


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
        if state == EXACT:
            break
        floor = 1e-13 * _normal_equations(opt, W)
        _freeze(c, W)
        cost_new = math.inf
        for _ in range(RETRIES):
            _damped_step(c, W, damping * cost, floor)
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
        damping = max(damping * EASE, LEAST)
        if gain < FLAT * cost:
            break
        if state == FAILED and opt[PERSIST] == 0.0 and iteration % PATIENCE == PATIENCE - 1:
            if cost > WORTH * mark:
                break
            mark = cost
    W[n, COST] = cost
    return state


@kernel
def _normal_equations(opt: Array, W: Array) -> float:
    """Fill the lower half of J' W^2 J (SYSTEM) and J' W^2 e (GRADIENT); return the trace."""
    n = W.shape[0] - 1
    p = opt[POSITION] * opt[POSITION]
    a, b, d = opt[TURN] ** 2, opt[TURN + 1] ** 2, opt[TURN + 2] ** 2
    e0, e1, e2 = W[n, ERROR], W[n, ERROR + 1], W[n, ERROR + 2]
    e3, e4, e5 = W[n, ERROR + 3], W[n, ERROR + 4], W[n, ERROR + 5]
    trace = 0.0
    for i in range(n):
        j0, j1, j2 = p * W[i, COLUMN], p * W[i, COLUMN + 1], p * W[i, COLUMN + 2]
        j3, j4, j5 = a * W[i, COLUMN + 3], b * W[i, COLUMN + 4], d * W[i, COLUMN + 5]
        W[i, GRADIENT] = j0 * e0 + j1 * e1 + j2 * e2 + j3 * e3 + j4 * e4 + j5 * e5
        for k in range(i + 1):
            W[i, SYSTEM + k] = (
                j0 * W[k, COLUMN]
                + j1 * W[k, COLUMN + 1]
                + j2 * W[k, COLUMN + 2]
                + j3 * W[k, COLUMN + 3]
                + j4 * W[k, COLUMN + 4]
                + j5 * W[k, COLUMN + 5]
            )
        trace += W[i, SYSTEM + i]
    return trace


@kernel
def _freeze(c: Array, W: Array) -> None:
    """Mark the joints that stand at a limit and would be pushed against it (FREE = 0)."""
    for i in range(W.shape[0] - 1):
        q, g = W[i, Q], W[i, GRADIENT]
        frozen = (g > 0.0 and q <= c[i + 1, LOWER]) or (g < 0.0 and q >= c[i + 1, UPPER])
        W[i, FREE] = 0.0 if frozen else 1.0


@kernel
def _damped_step(c: Array, W: Array, damping: float, floor: float) -> None:
    """Solve (J' W^2 J + damping) DELTA = -GRADIENT for the free joints, by L D L'."""
    n = W.shape[0] - 1
    factor = SYSTEM + n  # here: L D below the diagonal while a row is built, then L; 1/D on it
    for i in range(n):
        free = W[i, FREE]
        right = -free * W[i, GRADIENT]
        pivot = W[i, SYSTEM + i] + damping / (c[i + 1, UNIT] * c[i + 1, UNIT]) + floor
        for k in range(i):
            entry = free * W[k, FREE] * W[i, SYSTEM + k]
            for m in range(k):
                entry -= W[i, factor + m] * W[k, factor + m]
            W[i, factor + k] = entry
        for k in range(i):
            entry = W[i, factor + k]
            scaled = entry * W[k, factor + k]
            W[i, factor + k] = scaled
            pivot -= entry * scaled
            right -= scaled * W[k, DELTA]
        W[i, factor + i] = 1.0 / pivot if pivot > 0.0 else 0.0
        W[i, DELTA] = right
    for i in range(n - 1, -1, -1):
        total = W[i, DELTA] * W[i, factor + i]
        for m in range(i + 1, n):
            total -= W[m, factor + i] * W[m, DELTA]
        W[i, DELTA] = total


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
        turn = 2.0 * math.pi if c[i + 1, PRISMATIC] == 0.0 else 0.0
        if value > upper:
            value = value - turn if lower <= value - turn <= upper else upper
        elif value < lower:
            value = value + turn if lower <= value + turn <= upper else lower
        W[i, TRIAL] = value
    return scale * longest
