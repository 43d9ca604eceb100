# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compile, or load from the cache, everything that is compiled: once, before the first use."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

from arm_kinematics import kernels, kernels_batch, kernels_search, kernels_timing
from arm_kinematics.jit import fix_types

_lock = Lock()


def prepare_chains() -> None:
    """Make sure that kinematics are compiled; costs nothing once they are."""
    with _lock:
        _chains()


def prepare_closed_forms() -> None:
    """Make sure that closed forms are compiled; costs nothing once they are."""
    with _lock:
        _chains()
        _closed_forms()


def prepare_timing() -> None:
    """Make sure that the time law is compiled; costs nothing once it is."""
    with _lock:
        _timing()


def prepare_general_6r() -> None:
    """Make sure that the general 6R solver is compiled; costs nothing once it is."""
    with _lock:
        _chains()
        _general_6r()


def prepare_self_motion() -> None:
    """Make sure that the tracing of self-motions is compiled; costs nothing once it is."""
    with _lock:
        _chains()
        _general_6r()
        _self_motion()


@lru_cache(maxsize=1)
def _chains() -> None:
    fix_types(kernels.fk, (2, 1), (2,))
    fix_types(kernels.fk_jacobian, (2, 1), (2, 2))
    fix_types(kernels_search.search, (2, 1, 2, 1), (1,))
    fix_types(kernels_batch.search_many, (2, 1, 3, 2), (2,))


@lru_cache(maxsize=1)
def _closed_forms() -> None:
    from arm_kinematics.closed_form.kernels_nearest import solve_nearest
    from arm_kinematics.closed_form.kernels_solve import solve_all

    fix_types(solve_all, (2, 1, 2, 2, 1), (1,))
    fix_types(solve_nearest, (2, 1, 1, 2, 2, 1), (1,))
    fix_types(kernels_batch.nearest_many, (2, 1, 1, 2, 3, 2), (1, 2))


@lru_cache(maxsize=1)
def _timing() -> None:
    fix_types(kernels_timing.fastest, (1, 2, 2, 2, 1, 1), (1,))


@lru_cache(maxsize=1)
def _general_6r() -> None:
    from arm_kinematics.general_6r.kernels_collect import collect
    from arm_kinematics.general_6r.kernels_elimination import eliminate

    fix_types(eliminate, (2, 2), (2, 2, 2))
    fix_types(collect, (2, 2, 2, 2, 2, 2, 2), (2,))


@lru_cache(maxsize=1)
def _self_motion() -> None:
    from arm_kinematics import kernels_curve

    fix_types(kernels_curve.trace, (2, 2, 1, 1), (2,))
    fix_types(kernels_curve.passes, (2, 2, 1, 2, 1), ())
    fix_types(kernels_curve.point_at, (2, 2, 1, 1, 1), (1,))
