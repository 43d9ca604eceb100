# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled first search for many targets."""

from __future__ import annotations

from arm_kinematics.closed_form.kernels_nearest import solve_nearest
from arm_kinematics.jit import kernel
from arm_kinematics.kernels import Array
from arm_kinematics.kernels_search import HEAD, search


@kernel
def search_many(c: Array, opt: Array, Ts: Array, seeds: Array, outs: Array) -> None:
    """Call `search` once for each target Ts[k] (m, 4, 4) with seeds[k] and outs[k]."""
    for k in range(Ts.shape[0]):
        search(c, opt, Ts[k], seeds[k], outs[k])


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
