# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled first search for many targets."""

from __future__ import annotations

from arm_kinematics.jit import kernel
from arm_kinematics.kernels import Array
from arm_kinematics.kernels_search import search


@kernel
def search_many(c: Array, opt: Array, Ts: Array, seeds: Array, outs: Array) -> None:
    """Call `search` once for each target Ts[k] (m, 4, 4) with seeds[k] and outs[k]."""
    for k in range(Ts.shape[0]):
        search(c, opt, Ts[k], seeds[k], outs[k])
