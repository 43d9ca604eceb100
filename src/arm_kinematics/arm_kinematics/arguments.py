# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of what callers give to inverse kinematics."""

from __future__ import annotations

import time
from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from arm_kinematics.errors import KinematicsError
from arm_kinematics.kernels_search import FARTHEST_SEED
from arm_kinematics.lie import Array

_MOST_SOLUTIONS = 10_000


def check_count(max_solutions: int) -> None:
    """Raise KinematicsError if so many solutions cannot be looked for."""
    if not (isinstance(max_solutions, Integral) and 1 <= max_solutions <= _MOST_SOLUTIONS):
        raise KinematicsError(
            f"max_solutions is {max_solutions!r}; expected 1 to {_MOST_SOLUTIONS}",
            what="max_solutions",
            value=max_solutions,
        )


def checked_seed(seed: ArrayLike, joint_names: Sequence[str]) -> Array:
    """Return a seed as an array (n,), or raise KinematicsError."""
    try:
        array = np.ascontiguousarray(seed, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (len(joint_names),) or not (np.abs(array) < FARTHEST_SEED).all():
        raise KinematicsError(
            f"seed: expected {len(joint_names)} finite numbers in the order "
            f"{', '.join(joint_names)}, got {seed!r}",
            what="seed",
            value=seed,
        )
    return array


def deadline_after(timeout: float) -> float:
    """Return the time on the monotonic clock at which a timeout [s] from now is over."""
    if not (isinstance(timeout, Real) and timeout > 0.0):
        raise KinematicsError(
            f"timeout is {timeout!r} s; expected a positive number or None",
            what="timeout",
            value=timeout,
        )
    return time.monotonic() + timeout
