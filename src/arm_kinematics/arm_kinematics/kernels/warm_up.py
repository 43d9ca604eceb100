# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compile, or load from the cache, everything that is compiled: once, before the first use."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

from arm_kinematics.kernels import forward, search, time_scaling
from arm_kinematics.kernels.jit import fix_types

_lock = Lock()


def prepare_chains() -> None:
    """Make sure that kinematics are compiled; costs nothing once they are."""
    with _lock:
        _chains()


def prepare_timing() -> None:
    """Make sure that the time law is compiled; costs nothing once it is."""
    with _lock:
        _timing()


@lru_cache(maxsize=1)
def _chains() -> None:
    fix_types(forward.fk, (2, 1), (2,))
    fix_types(forward.fk_jacobian, (2, 1), (2, 2))
    fix_types(search.search, (2, 1, 2, 1), (1,))
    fix_types(search.search_many, (2, 1, 3, 2), (2,))


@lru_cache(maxsize=1)
def _timing() -> None:
    fix_types(time_scaling.fastest, (1, 2, 2, 2, 1, 1), (1,))
