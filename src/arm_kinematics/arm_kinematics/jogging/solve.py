# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Twist -> joint speeds by damped pseudo-inverses, one task before the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arm_kinematics.lie import Array

Rows = NDArray[np.intp]
_NONE = 1e-9  # singular values below this are zero


def damped_inverse(J: Array, trusted: float) -> Array:
    """Return the pseudo-inverse (n, m) of J (m, n), damped along its nearly singular directions.

    A singular value s below ``trusted`` counts as s / (s^2 + d^2) with d^2 = (1 - (s/trusted)^2)
    (trusted/2)^2, at most 1.2/trusted; the others count exactly. Damping that grows smoothly
    from 0: Nakamura and Hanafusa, J. Dynamic Systems, Measurement and Control 108(3), 1986, in
    the form of Chiaverini, IEEE Trans. Robotics and Automation 13(3), 1997, eq. 15; for each
    singular direction alone: Maciejewski and Klein, J. Robotic Systems 5(6), 1988.
    """
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    d2 = np.where(s < trusted, (1.0 - (s / trusted) ** 2) * (0.5 * trusted) ** 2, 0.0)
    gain = np.where(s > _NONE, s / np.maximum(s * s + d2, 1e-300), 0.0)
    return np.asarray((Vt.T * gain) @ U.T)


def solve(J: Array, twist: Array, tasks: list[Rows], fixed: Array, trusted: float) -> Array:
    """Return joint speeds (n,) for the tasks in their order, each as far as those before allow.

    Nakamura, Hanafusa and Yoshikawa, Int. J. Robotics Research 6(2), 1987.

    Args:
        J: Jacobian (6, n), rows and columns scaled to be compared.
        twist: Wanted (6,), scaled as the rows.
        tasks: Rows of each task.
        fixed: (n,) speed of the joints that are held at it, NaN where a joint is free.
        trusted: Singular values from here on are met exactly.
    """
    free = np.isnan(fixed)
    rates = np.where(free, 0.0, fixed)
    missing = twist - J @ rates
    columns = J[:, free]
    spare = np.eye(columns.shape[1])
    moved = np.zeros(columns.shape[1])
    for rows in tasks if free.any() else []:
        part = columns[rows]
        inverse = damped_inverse(part @ spare, trusted)
        moved = moved + inverse @ (missing[rows] - part @ moved)
        spare = spare @ _null_space(part @ spare)
    rates[free] = moved
    return rates


def _null_space(A: Array) -> Array:
    """Return the projector (n, n) on the joint speeds that A (m, n) does not feel."""
    _, s, Vt = np.linalg.svd(A, full_matrices=False)
    V = Vt[s > _NONE]
    return np.asarray(np.eye(A.shape[1]) - V.T @ V)
