# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""All real solutions of any arm of six revolute joints, at most 16 (Primrose 1986).

No seed, no iteration that might miss one: elimination leaves an eigenvalue problem of size 16
(`kernels_elimination.py` has the equations and their sources), each real eigenvalue gives one
candidate (`kernels_candidates.py`), and Newton's method on the pose removes the rounding
(`kernels_polish.py`).

A closed loop can be opened at any of its six joints and read in two directions. What is singular
in one of these twelve orders (parallel axes, a spherical wrist) mostly is not in another; sample
poses tell once per arm which to trust. For each target two trusted orders have to agree, and to
account for every real eigenvalue; if they do not, the others are asked too (`arm.py`).

At a singular pose two solutions or more meet. There they are found to about 1e-7 rad (two) or
1e-5 rad (three), while the pose still fits to round-off. Where the arm can move with its tip at
rest (a wrist with two axes in line), the solutions are a curve; some points of it are returned.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from arm_kinematics.general_6r.arm import General6R, Plan
from arm_kinematics.lie import Array

__all__ = ["General6R", "Plan", "solve"]


def solve(S: ArrayLike, M: ArrayLike, T: ArrayLike) -> Array:
    """Return all real joint angles of a 6R arm that bring its tip to a pose; limits are not asked.

    The arms used last are kept; `General6R` keeps one by itself.

    Args:
        S: Screws [v; w] of six revolute joints in the base frame at q = 0, (6, 6).
        M: Pose of the tip at q = 0, (4, 4).
        T: Wanted pose of the tip, (4, 4).

    Returns:
        Joint angles (k, 6) in (-pi, pi], in rising order of the first that differs; (0, 6) if the
        pose is out of reach. Equal input gives equal output.

    Raises:
        KinematicsError: S is not six turning joints, or M or T is no rigid motion.
    """
    screws, home = (np.ascontiguousarray(x, dtype=np.float64) for x in (S, M))
    return _arm(screws.tobytes(), screws.shape, home.tobytes(), home.shape).solve(T)


@lru_cache(maxsize=16)
def _arm(S: bytes, S_shape: tuple[int, ...], M: bytes, M_shape: tuple[int, ...]) -> General6R:
    return General6R(np.frombuffer(S).reshape(S_shape), np.frombuffer(M).reshape(M_shape))
