# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled search: descents from the seed and from a fixed set of evenly spread starts.

The same input gives the same output: the starts are a low-discrepancy sequence (powers of the
generalised golden ratio, Roberts 2018) over the joint ranges, the best of a few at a time.
"""

from __future__ import annotations

import math
from functools import lru_cache

from arm_common.jit import allocating_kernel, fix_types, inlined_kernel, kernel
from arm_common.transforms import Array

from arm_kinematics.kernels import forward
from arm_kinematics.kernels.descent import (
    damped_step,
    descend,
    descend_by_excess,
    is_near,
    nearest_turn,
    normal_equations,
    project_to_preference,
    set_preference,
)
from arm_kinematics.kernels.forward import Q, move, work
from arm_kinematics.kernels.residuals import (
    EVEN,
    FAILED,
    KEEP_SEED,
    OPTIONS,
    PERSIST,
    SPARE,
    STARTS,
    WEIGHTS,
    derive,
    error,
    quality,
)

# A result is a table (1 + slots, n + SLOT). Its first row is a head: solutions found, starts and
# evaluations used, whether it has a best effort, whether a solution is one of infinitely many (in
# closed forms only).
HEAD = 0
FOUND, USED, COUNT, BEST_EFFORT, SINGULAR = 0, 1, 2, 3, 4
# Each other row is a slot, the best solution or the best effort first: joint positions (n), error
# (6), its weighted half square, weighted distance to the seed.
BEST = 1
SLOT = 8

TRIES = 4  # points per start, of which the best is used
BAD_TARGET, BAD_SEED = -1, -2
FARTHEST_SEED = 1e9  # [rad or m]
WIDE = 4.0  # ranges of prismatic joints longer than this many arms are wide
NEARBY = 0.2  # size of the error at the seed [rad] up to which a target is nearby
LEAP, LEAP_BY_ERROR = 0.1, 3.0  # longest motion of a joint that is no leap: and so much per error
NEIGHBOURS, FIRST_RADIUS, WIDEN = 64, 0.1, 1.045  # postures about the seed, in widening ranges
SAME, SAME_PROJECTED = 1e-3, 0.03
"""Solutions nearer than this in every joint [rad, or units of the joint] are the same."""


@kernel
def search(c: Array, opt: Array, T: Array, seed: Array, out: Array) -> int:
    """Continue a search until all slots are filled, or opt[STARTS] starts are used.

    Start number 0 is the seed (n,). The result is zero before the first call; until a solution is
    found the first slot holds the best effort. Returns the number of solutions so far; BAD_TARGET
    or BAD_SEED if T (4, 4) or the seed is invalid.
    """
    return _search(c, opt, T, seed, out)


@allocating_kernel
def _search(c: Array, opt: Array, T: Array, seed: Array, out: Array) -> int:
    n = c.shape[0] - 1
    sound = check_request(n, T, seed)
    if sound < 0:
        return sound
    W = work(n)
    set_target(T, c, W)
    set_preference(c, opt, W, seed)
    found = int(out[HEAD, FOUND])
    slots = out.shape[0] - BEST
    if out[HEAD, USED] == 0.0 and accept_seed(c, opt, W, seed):
        write_solution(c, opt, W, seed, out, BEST)
        found, out[HEAD, USED] = 1, 1.0
    for _ in range(int(opt[STARTS]) if found < slots else 0):
        _start(c, opt, W, seed, int(out[HEAD, USED]))
        near = out[HEAD, BEST_EFFORT] != 0.0 and is_near(opt, out[BEST, n + 6])
        W[n, forward.EVALUATIONS] = 0.0
        if found == 0 and near and opt[PERSIST] == 0.0 and out[HEAD, USED] % 2.0 == 1.0:
            state = descend_by_excess(c, opt, W)
        elif out[HEAD, USED] == 0.0 and opt[PERSIST] == 0.0:
            state = _descend_from_seed(c, opt, W, seed)
        else:
            state = descend(c, opt, W)
        out[HEAD, USED] += 1.0
        out[HEAD, COUNT] += W[n, forward.EVALUATIONS]
        if state == FAILED:
            first = out[HEAD, BEST_EFFORT] == 0.0
            if found == 0 and (first or W[n, forward.COST] < out[BEST, n + 6]):
                out[HEAD, BEST_EFFORT] = 1.0
                write_solution(c, opt, W, seed, out, BEST)
            continue
        if opt[SPARE] != 0.0:
            project_to_preference(c, opt, W, state)
        if is_new(c, W, out, found, SAME if opt[SPARE] == 0.0 else SAME_PROJECTED):
            write_solution(c, opt, W, seed, out, BEST + found)
            found += 1
            if found == slots:
                break
    out[HEAD, FOUND] = found
    return found


@kernel
def accept_seed(c: Array, opt: Array, W: Array, seed: Array) -> bool:
    """Return True if the seed, moved inside the limits, is the solution; leave it in W[:, Q]."""
    n = W.shape[0] - 1
    if opt[KEEP_SEED] == 0.0:
        return False
    set_preference(c, opt, W, seed)
    for i in range(n):
        W[i, Q] = min(max(seed[i], c[i + 1, forward.LOWER]), c[i + 1, forward.UPPER])
    move(c, W, Q)
    W[n, forward.COST] = error(opt, W, forward.ERROR)
    return bool(quality(opt, W, forward.ERROR, W[n, forward.COST]) != FAILED)


@kernel
def _descend_from_seed(c: Array, opt: Array, W: Array, seed: Array) -> int:
    """Descend from the seed in W[:, Q]; return the `quality`, as `descend` does.

    Near a singular posture that may fail, or lead far away, although a small motion reaches a
    target nearby. Then descents from postures about the seed are tried, and the nearest is kept.
    """
    n = W.shape[0] - 1
    state = descend(c, opt, W)
    best = _motion(c, W, seed)
    if state != FAILED and best <= LEAP:
        return state
    for i in range(n):
        W[i, forward.STEP] = W[i, Q]
        W[i, Q] = min(max(seed[i], c[i + 1, forward.LOWER]), c[i + 1, forward.UPPER])
    move(c, W, Q)
    error(opt, W, forward.ERROR)
    size = _size_of_error(opt, W)
    enough = LEAP + LEAP_BY_ERROR * size
    if state == FAILED:
        best = math.inf
    radius = FIRST_RADIUS
    for index in range(NEIGHBOURS if size <= NEARBY else 0):
        if best <= max(enough, radius):
            break
        radius *= WIDEN
        _fill_neighbour(c, W, seed, index + 1, radius)
        now = descend(c, opt, W)
        motion = _motion(c, W, seed)
        if now != FAILED and motion < best:
            state, best = now, motion
            for i in range(n):
                W[i, forward.STEP] = W[i, Q]
    for i in range(n):
        W[i, Q] = W[i, forward.STEP]
    move(c, W, Q)
    W[n, forward.COST] = error(opt, W, forward.ERROR)
    return state


@kernel
def _motion(c: Array, W: Array, seed: Array) -> float:
    """Return the largest motion of a joint from the seed to W[:, Q], in units of the joints."""
    longest = 0.0
    for i in range(W.shape[0] - 1):
        if c[i + 1, forward.LEADER] == i:
            longest = max(longest, abs(W[i, Q] - seed[i]) / c[i + 1, forward.UNIT])
    return longest


@kernel
def _size_of_error(opt: Array, W: Array) -> float:
    """Return the size of the error in W [rad, or the equivalent length]."""
    n, square = W.shape[0] - 1, 0.0
    for k in range(6):
        square += (opt[EVEN + k] * W[n, forward.ERROR + k]) ** 2
    return math.sqrt(square)


@kernel
def _fill_neighbour(c: Array, W: Array, seed: Array, index: int, radius: float) -> None:
    """Fill W[:, Q] with point number index of an even sequence about the seed."""
    for i in range(W.shape[0] - 1):
        share = 0.5 + index * c[i + 1, forward.SPREAD]
        offset = (2.0 * (share - math.floor(share)) - 1.0) * radius * c[i + 1, forward.UNIT]
        W[i, Q] = min(max(seed[i] + offset, c[i + 1, forward.LOWER]), c[i + 1, forward.UPPER])


@inlined_kernel
def check_request(n: int, T: Array, seed: Array) -> int:
    """Return 0 if T and seed are valid for a chain of n joints, else BAD_TARGET or BAD_SEED."""
    if T.ndim != 2 or T.shape[0] != 4 or T.shape[1] != 4 or not is_motion(T):
        return BAD_TARGET
    if seed.size != n:
        return BAD_SEED
    for i in range(n):
        if not abs(seed[i]) < FARTHEST_SEED:
            return BAD_SEED
    return 0


@inlined_kernel
def is_motion(T: Array) -> bool:
    """Return whether T (4, 4) is a finite rigid motion, its rotation orthonormal to 1e-6."""
    row = abs(T[3, 0]) + abs(T[3, 1]) + abs(T[3, 2]) + abs(T[3, 3] - 1.0)
    worst = 0.0
    for i in range(3):
        for k in range(i + 1):
            dot = T[0, i] * T[0, k] + T[1, i] * T[1, k] + T[2, i] * T[2, k]
            worst = max(worst, abs(dot - 1.0 if i == k else dot))
    volume = (
        T[0, 0] * (T[1, 1] * T[2, 2] - T[1, 2] * T[2, 1])
        + T[0, 1] * (T[1, 2] * T[2, 0] - T[1, 0] * T[2, 2])
        + T[0, 2] * (T[1, 0] * T[2, 1] - T[1, 1] * T[2, 0])
    )
    far = abs(T[0, 3]) + abs(T[1, 3]) + abs(T[2, 3])
    sound = worst <= 1e-6 and volume > 0.0 and row <= 1e-9 and far < 1e100
    return bool(sound and worst == worst)


@inlined_kernel
def set_target(T: Array, c: Array, W: Array) -> None:
    """Fill BASE with inverse(T) B0."""
    n = W.shape[0] - 1
    for i in range(3):
        x, y, z = T[0, i], T[1, i], T[2, i]
        for k in range(3):
            W[n, forward.BASE + 3 * i + k] = x * c[0, k] + y * c[0, 3 + k] + z * c[0, 6 + k]
        W[n, forward.BASE + 9 + i] = (
            x * (c[0, 9] - T[0, 3]) + y * (c[0, 10] - T[1, 3]) + z * (c[0, 11] - T[2, 3])
        )


@kernel
def _start(c: Array, opt: Array, W: Array, seed: Array, index: int) -> None:
    """Fill W[:, Q] with start number index: the seed inside the limits, then the best of a few."""
    n = W.shape[0] - 1
    if index == 0:
        for i in range(n):
            W[i, Q] = min(max(seed[i], c[i + 1, forward.LOWER]), c[i + 1, forward.UPPER])
        _move_far_slides(c, opt, W)
        return
    best = math.inf
    for attempt in range(TRIES):
        _spread(c, W, seed, (index - 1) * TRIES + attempt + 1)
        move(c, W, forward.TRIAL)
        cost = error(opt, W, forward.TRIAL_ERROR)
        if cost < best:
            best = cost
            for i in range(n):
                W[i, Q] = W[i, forward.TRIAL]
    _move_far_slides(c, opt, W)


@kernel
def _is_wide_slide(c: Array, i: int) -> bool:
    """Return whether a joint is prismatic with a range much longer than the arm."""
    row = i + 1
    width = c[row, forward.UPPER] - c[row, forward.LOWER]
    return bool(c[row, forward.PRISMATIC] != 0.0 and width > WIDE * c[row, forward.UNIT])


@kernel
def _move_far_slides(c: Array, opt: Array, W: Array) -> None:
    """Move the wide slides of W[:, Q] to where they bring the tip nearest to a far target.

    The pose is linear in them, so one step does; a descent takes steps of the arm's length.
    """
    n = W.shape[0] - 1
    wide = 0
    for i in range(n):
        W[i, forward.FREE] = 0.0
        if _is_wide_slide(c, i) and c[i + 1, forward.LEADER] == i:
            W[i, forward.FREE] = 1.0
            wide += 1
    if wide == 0:
        return
    move(c, W, Q)
    error(opt, W, forward.ERROR)
    derive(c, opt, W)
    floor = 1e-13 * normal_equations(opt, W, WEIGHTS)
    damped_step(W, forward.DAMPING_WEIGHT, 0.0, floor)
    longest = 0.0
    for i in range(n):
        longest = max(longest, abs(W[i, forward.DELTA]) / c[i + 1, forward.UNIT])
    if longest > 1.0:
        for i in range(n):
            value = W[i, Q] + W[i, forward.DELTA]
            W[i, Q] = min(max(value, c[i + 1, forward.LOWER]), c[i + 1, forward.UPPER])


@kernel
def _spread(c: Array, W: Array, seed: Array, index: int) -> None:
    """Fill W[:, TRIAL] with point number index of an even sequence over the joint ranges.

    A range of more than one turn counts as the turn about the seed; a wide range of a prismatic
    joint as one unit on either side of it.
    """
    for i in range(W.shape[0] - 1):
        lower, upper = c[i + 1, forward.LOWER], c[i + 1, forward.UPPER]
        reach = c[i + 1, forward.UNIT] if c[i + 1, forward.PRISMATIC] != 0.0 else math.pi
        if upper - lower > 2.0 * reach and (
            c[i + 1, forward.PRISMATIC] == 0.0 or _is_wide_slide(c, i)
        ):
            lower = max(lower, min(seed[i] - reach, upper - 2.0 * reach))
            upper = lower + 2.0 * reach
        share = 0.5 + index * c[i + 1, forward.SPREAD]
        W[i, forward.TRIAL] = lower + (share - math.floor(share)) * (upper - lower)


@kernel
def is_new(c: Array, W: Array, out: Array, found: int, same: float) -> bool:
    """Return whether W[:, Q] differs from every solution in out, whole turns aside.

    Solutions nearer than ``same`` in every joint [rad, or units of the joint] are equal.
    """
    n = W.shape[0] - 1
    for s in range(found):
        alike = 0
        for i in range(n):
            gap = abs(W[i, Q] - out[BEST + s, i])
            period = c[i + 1, forward.PERIOD]
            if period != 0.0:
                gap = abs(gap - period * math.floor(gap / period + 0.5))
            if gap >= same * c[i + 1, forward.UNIT]:
                break
            alike += 1
        if alike == n:
            return False
    return True


@kernel
def write_solution(c: Array, opt: Array, W: Array, seed: Array, out: Array, row: int) -> None:
    """Write a slot, with joints moved by whole turns towards the preferred posture."""
    n = W.shape[0] - 1
    square = 0.0
    for i in range(n):
        q = nearest_turn(c, i, W[i, Q], W[i, forward.PREFERRED])
        out[row, i] = q
        square += opt[OPTIONS + i] * (q - seed[i]) ** 2
    for k in range(6):
        out[row, n + k] = W[n, forward.ERROR + k]
    out[row, n + 6] = W[n, forward.COST]
    out[row, n + 7] = math.sqrt(square)


@kernel
def search_many(c: Array, opt: Array, Ts: Array, seeds: Array, outs: Array) -> None:
    """Call `search` once for each target Ts[k] (m, 4, 4) with seeds[k] and outs[k]."""
    for k in range(Ts.shape[0]):
        search(c, opt, Ts[k], seeds[k], outs[k])


@lru_cache(maxsize=1)
def prepare_search() -> None:
    """Compile forward kinematics and the search, unless compiled before."""
    fix_types(forward.fk, (2, 1), (2,))
    fix_types(forward.fk_jacobian, (2, 1), (2, 2))
    fix_types(search, (2, 1, 2, 1), (2,))
    fix_types(search_many, (2, 1, 3, 2), (3,))
