# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled: one solution, by descent from a seed near by, else the nearest of the closed form.

From a seed that is all but there, as when a target is tracked, a few steps of the descent are
faster than all branches; from anywhere else the branches are, and they never need a second start.
"""

from __future__ import annotations

import math
from functools import lru_cache

from arm_common.jit import fix_types, kernel
from arm_common.transforms import Array

from arm_kinematics.ik.closed_form.branches import solve_all
from arm_kinematics.ik.closed_form.invariants import LENGTH
from arm_kinematics.kernels.descent import descend
from arm_kinematics.kernels.forward import ERROR, LOWER, UNIT, UPPER, Q, move, work
from arm_kinematics.kernels.nullspace import set_preference
from arm_kinematics.kernels.residuals import FAILED, STARTS, error
from arm_kinematics.kernels.search import (
    FOUND,
    HEAD,
    check_request,
    prepare_search,
    search,
    set_target,
    write_solution,
)

TRACKED = 5  # joints from which on a few steps of descent are the faster way
NEAR_PLACE, NEAR_TURN = 0.2, 0.5  # of a seed's tip: share of the arm's length, [rad]
FAR = 0.7  # [rad, or units of the joint]: after so long a way the nearest may be another solution


@kernel
def solve_nearest(
    c: Array, opt: Array, exact: Array, plan: Array, T: Array, seed: Array, out: Array
) -> tuple[int, bool]:
    """Find the solution nearest to the seed.

    Args:
        c: Constants of the chain, see kernels/forward.py.
        opt: Options of a descent, see residuals.py.
        exact: The same for the branches, which are to be exact.
        plan: The closed form, see invariants.py.
        T: Wanted pose (4, 4).
        seed: Joint positions (n,).
        out: Result as of `solve_all`; only the first solution is counted in it.

    Returns:
        1 if there is a solution, else 0, BAD_TARGET or BAD_SEED; and whether it stands for
        infinitely many.
    """
    n = c.shape[0] - 1
    sound = check_request(n, T, seed)
    if sound < 0:
        return sound, False
    if n >= TRACKED and opt[STARTS] > 0.0 and _descend_nearby(c, opt, plan, T, seed, out):
        return 1, False
    found, singular = solve_all(c, exact, plan, T, seed, out)
    found = min(found, 1)
    out[FOUND] = found
    return found, singular


@kernel
def _descend_nearby(c: Array, opt: Array, plan: Array, T: Array, seed: Array, out: Array) -> bool:
    """Return whether the tip is near the target, and a descent has led to a posture near by."""
    n = c.shape[0] - 1
    W = work(n)
    set_target(T, c, W)
    for i in range(n):
        W[i, Q] = min(max(seed[i], c[i + 1, LOWER]), c[i + 1, UPPER])
    move(c, W, Q)
    error(opt, W, ERROR)
    off = math.sqrt(W[n, ERROR] ** 2 + W[n, ERROR + 1] ** 2 + W[n, ERROR + 2] ** 2)
    turned = math.sqrt(W[n, ERROR + 3] ** 2 + W[n, ERROR + 4] ** 2 + W[n, ERROR + 5] ** 2)
    if off > NEAR_PLACE * plan[0, LENGTH] or turned > NEAR_TURN:
        return False
    set_preference(c, opt, W, seed)
    if descend(c, opt, W) == FAILED:
        return False
    write_solution(c, opt, W, seed, out, HEAD)
    for i in range(n):
        if abs(out[HEAD + i] - seed[i]) > FAR * c[i + 1, UNIT]:
            return False
    out[FOUND] = 1.0
    return True


@kernel
def nearest_many(
    c: Array,
    opt: Array,
    exact: Array,
    plan: Array,
    Ts: Array,
    seeds: Array,
    room: Array,
    outs: Array,
) -> None:
    """Call `solve_nearest` once for each target, and `search` where it finds nothing.

    Args:
        c: See `solve_nearest`, as for the next three.
        opt: See there.
        exact: See there.
        plan: See there.
        Ts: Targets (m, 4, 4).
        seeds: One for each, (m, n).
        room: Where `solve_nearest` writes its result.
        outs: Results of one slot each, (m, HEAD + n + SLOT).
    """
    for k in range(Ts.shape[0]):
        room[:HEAD] = 0.0
        found, _ = solve_nearest(c, opt, exact, plan, Ts[k], seeds[k], room)
        if found > 0:
            outs[k] = room[: outs.shape[1]]
        else:
            search(c, opt, Ts[k], seeds[k], outs[k])


@lru_cache(maxsize=1)
def prepare_closed_forms() -> None:
    """Compile closed forms, unless compiled before."""
    prepare_search()
    fix_types(solve_all, (2, 1, 2, 2, 1), (1,))
    fix_types(solve_nearest, (2, 1, 1, 2, 2, 1), (1,))
    fix_types(nearest_many, (2, 1, 1, 2, 3, 2), (1, 2))
