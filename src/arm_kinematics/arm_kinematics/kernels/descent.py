# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled damped least squares inside joint limits: one descent, then along the null space.

Levenberg-Marquardt with a damping that shrinks with the squared error (Sugihara, "Solvability-
unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27(5),
2011), so that it converges quadratically and is robust at singular poses. Joints that a step
would push through a limit are frozen for that step.

A step of the projection minimises the weighted distance to the preferred joint positions among the
steps that change no error, to first order: gradient projection (Liegeois, "Automatic supervisory
control of the configuration and behavior of multibody mechanisms", IEEE Trans. SMC 7(12), 1977),
here all the way to the projected minimum, and without joints that would pass a limit. A descent
then removes the error of the second order; a posture that is worse within the tolerances, or not
nearer, is rejected.
"""

from __future__ import annotations

import math
import time

from arm_common.jit import HAVE_NUMBA, inlined_kernel, kernel
from arm_common.transforms import Array

from arm_kinematics.kernels.forward import (
    COLUMN,
    COST,
    DAMPING_WEIGHT,
    DELTA,
    ERROR,
    EVALUATIONS,
    FREE,
    GRADIENT,
    LEADER,
    LOWER,
    PERIOD,
    PREFERRED,
    PULL,
    SAVED,
    STEP,
    SYSTEM,
    TRIAL,
    TRIAL_ERROR,
    UNIT,
    UPPER,
    Q,
    move,
)
from arm_kinematics.kernels.residuals import (
    CENTRED,
    DEADLINE,
    ENOUGH,
    EVEN,
    EXACT,
    FAILED,
    OPTIONS,
    PERSIST,
    SPARE,
    WEIGHTS,
    derive,
    error,
    half_square_of_excess,
    keep_excess,
    quality,
)


@kernel
def normal_equations(opt: Array, W: Array, weights: int) -> float:
    """Fill the lower half of J' V^2 J (SYSTEM) and J' V^2 e (GRADIENT); return the trace.

    V is diagonal, with the six entries of opt from ``weights`` on.
    """
    n = W.shape[0] - 1
    p, q, r = opt[weights] ** 2, opt[weights + 1] ** 2, opt[weights + 2] ** 2
    a, b, d = opt[weights + 3] ** 2, opt[weights + 4] ** 2, opt[weights + 5] ** 2
    e0, e1, e2 = W[n, ERROR], W[n, ERROR + 1], W[n, ERROR + 2]
    e3, e4, e5 = W[n, ERROR + 3], W[n, ERROR + 4], W[n, ERROR + 5]
    trace = 0.0
    for i in range(n):
        j0, j1, j2 = p * W[i, COLUMN], q * W[i, COLUMN + 1], r * W[i, COLUMN + 2]
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
def damped_step(W: Array, column: int, damping: float, floor: float) -> None:
    """Solve (SYSTEM + damping W[:, column] + floor) DELTA = -GRADIENT for the free joints.

    By L D L'; W[:, column] and floor are on the diagonal.
    """
    n = W.shape[0] - 1
    factor = SYSTEM + n  # here: L D below the diagonal while a row is built, then L; 1/D on it
    for i in range(n):
        free = W[i, FREE]
        right = -free * W[i, GRADIENT]
        pivot = W[i, SYSTEM + i] + damping * W[i, column] + floor
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


ITERATIONS = 60
RETRIES = 8
LONGEST_STEP = 1.2  # [rad, or units of the joint]
SHORTEST_STEP = 1e-9
DAMPING = 0.3  # per half squared error, at the start of a descent
LOOSEN, TIGHTEN, LEAST = 0.5, 10.0, 1e-12  # factors after a good and a bad step, smallest damping
FLAT = 1e-12  # a gain below this share of the error counts as none
PATIENCE, WORTH = 2, 0.65  # give up if this many steps leave more than this share of the error
PATIENCE_BY_EXCESS = 8
NEARLY = 4.0  # multiple of the largest error inside the tolerances, up to which these are sought


@kernel
def _compiled_is_never_late(opt: Array) -> bool:
    """Return False: a compiled descent takes microseconds, the clock is read between calls."""
    return False


def _is_late(opt: Array) -> bool:
    return time.monotonic() > float(opt[DEADLINE])


is_late = _compiled_is_never_late if HAVE_NUMBA else _is_late


@kernel
def descend(c: Array, opt: Array, W: Array) -> int:
    """Descend from W[:, Q] to the nearest minimum of the weighted error.

    If that minimum is near the tolerances but not inside, descend into them. Leaves positions in
    W[:, Q], the error in W[n, ERROR...], its weighted half square in W[n, COST]. Returns its
    `quality`.
    """
    state = _minimise(c, opt, W, False)
    if state == FAILED and opt[PERSIST] == 0.0 and is_near(opt, W[W.shape[0] - 1, COST]):
        state = _minimise(c, opt, W, True)
    return state


@kernel
def descend_by_excess(c: Array, opt: Array, W: Array) -> int:
    """Descend into the tolerances first, then to the minimum inside; see `descend`.

    It leads from the same start to another posture than `descend`, if that misses them.
    """
    state = _minimise(c, opt, W, True)
    return state if state == FAILED else _minimise(c, opt, W, False)


@kernel
def is_near(opt: Array, cost: float) -> bool:
    """Return whether the weighted half square of an error is near the tolerances."""
    return bool(cost <= NEARLY * opt[ENOUGH])


@kernel
def _minimise(c: Array, opt: Array, W: Array, excess: bool) -> int:
    """Minimise the error, or only its excess over the tolerances; see `descend`.

    No step leaves the tolerances once they are met.
    """
    n = W.shape[0] - 1
    move(c, W, Q)
    cost = error(opt, W, ERROR)
    W[n, EVALUATIONS] += 1.0
    state = quality(opt, W, ERROR, cost)
    if excess:
        cost = half_square_of_excess(opt, W, ERROR)
    damping = DAMPING
    mark = cost
    for iteration in range(ITERATIONS):
        if state == EXACT or (excess and state != FAILED) or is_late(opt):
            break
        derive(c, opt, W)
        if excess:
            keep_excess(opt, W)
        floor = 1e-13 * normal_equations(opt, W, WEIGHTS)
        _freeze(c, W)
        gain, new_state = 0.0, state
        for _ in range(RETRIES):
            damped_step(W, DAMPING_WEIGHT, damping * cost, floor)
            size = _trial_step(c, W)
            move(c, W, TRIAL)
            cost_new = error(opt, W, TRIAL_ERROR)
            W[n, EVALUATIONS] += 1.0
            new_state = quality(opt, W, TRIAL_ERROR, cost_new)
            if excess:
                cost_new = half_square_of_excess(opt, W, TRIAL_ERROR)
            if cost_new < cost and new_state >= state:
                gain = cost - cost_new
                break
            if size < SHORTEST_STEP:
                break
            damping *= TIGHTEN
        if not gain > 0.0:
            break
        cost -= gain
        state = new_state
        for i in range(n):
            W[i, Q] = W[i, TRIAL]
        for k in range(6):
            W[n, ERROR + k] = W[n, TRIAL_ERROR + k]
        damping = max(damping * LOOSEN, LEAST)
        if gain < FLAT * cost:
            break
        patience = PATIENCE_BY_EXCESS if excess else PATIENCE
        if state == FAILED and opt[PERSIST] == 0.0 and iteration % patience == patience - 1:
            if cost > WORTH * mark:
                break
            mark = cost
    if excess:
        move(c, W, Q)
        cost = error(opt, W, ERROR)
    W[n, COST] = cost
    return state


@kernel
def _freeze(c: Array, W: Array) -> None:
    """Freeze the joints at a limit that would be pushed against it (FREE = 0)."""
    for i in range(W.shape[0] - 1):
        q, g = W[i, Q], W[i, GRADIENT]
        frozen = (g > 0.0 and q <= c[i + 1, LOWER]) or (g < 0.0 and q >= c[i + 1, UPPER])
        W[i, FREE] = 0.0 if frozen else 1.0


@kernel
def _trial_step(c: Array, W: Array) -> float:
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


PROJECTIONS, SHORTENINGS = 12, 3
LONGEST_PROJECTION = 0.8  # [rad, or units of the joint], so that bending stays small
SHORTEST_PROJECTION = 1e-3  # shorter steps end the projection
LOOSE = 1e-9  # relative weight of the preferred posture compared to the errors
LIGHTEST = 1e-6  # relative weight of joints with weight 0, whose motion were undefined otherwise


@inlined_kernel
def set_preference(c: Array, opt: Array, W: Array, seed: Array) -> None:
    """Fill PREFERRED and PULL, the preferred positions and their weights, and DAMPING_WEIGHT."""
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
    """Move W[:, Q], a solution of quality ``state``, to the preferred posture near it."""
    n = W.shape[0] - 1
    heaviest = 0.0
    for i in range(n):
        W[i, Q] = nearest_turn(c, i, W[i, Q], W[i, PREFERRED])
        heaviest = max(heaviest, W[i, PULL])
    for _ in range(PROJECTIONS):
        if state != EXACT:  # the tip may be that of a rejected trial
            move(c, W, Q)
            error(opt, W, ERROR)
        derive(c, opt, W)
        size = _projected_step(c, opt, W, heaviest)
        before = preference_distance(W)
        if size < SHORTEST_PROJECTION or _gain(W) < opt[SPARE] * before:
            return
        scale = min(1.0, LONGEST_PROJECTION / size)
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
            descend(c, opt, W)  # only its error is computed again
            return


@kernel
def preference_distance(W: Array) -> float:
    """Return the squared distance of Q from the preferred posture, weighted by PULL."""
    square = 0.0
    for i in range(W.shape[0] - 1):
        gap = W[i, Q] - W[i, PREFERRED]
        square += W[i, PULL] * gap * gap
    return square


@kernel
def _gain(W: Array) -> float:
    """Return the first-order decrease of the squared distance by DELTA."""
    square = 0.0
    for i in range(W.shape[0] - 1):
        square += W[i, PULL] * W[i, DELTA] * W[i, DELTA]
    return square


@kernel
def _projected_step(c: Array, opt: Array, W: Array, heaviest: float) -> float:
    """Fill DELTA with the step that changes no error; return its size in units of joints."""
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
    """Return q of joint i moved by whole turns as near to another position as limits allow."""
    period = c[i + 1, PERIOD]
    if period == 0.0:
        return q
    lower, upper = c[i + 1, LOWER], c[i + 1, UPPER]
    gap = min(max(to, lower), upper) - q
    if abs(gap) <= 0.5 * period:
        return q
    value: float = q + period * math.floor(gap / period + 0.5)
    if value > upper:
        value -= period
    elif value < lower:
        value += period
    return value if lower <= value <= upper else q
