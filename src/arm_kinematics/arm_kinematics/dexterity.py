# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How well an arm can move at a posture, from its Jacobian."""

from __future__ import annotations

import math

import numpy as np

from arm_kinematics.lie import Array

_SINGULAR = 1e-12


def manipulability(J: Array) -> float:
    """Return Yoshikawa's measure of J (6, n): the product of its singular values.

    Translation only if n < 6, and of as many directions as the arm has joints (Yoshikawa,
    "Manipulability of robotic mechanisms", Int. J. Robotics Research 4(2), 1985).
    """
    return float(np.prod(_singular_values(J)))


def condition_number(J: Array) -> float:
    """Return the largest over the smallest singular value of the same matrix; inf if singular."""
    values = _singular_values(J)
    if not values[-1] > _SINGULAR * values[0]:
        return math.inf
    return float(values[0] / values[-1])


def _singular_values(J: Array) -> Array:
    rows = J if J.shape[1] >= 6 else J[:3]
    return np.asarray(np.linalg.svd(rows, compute_uv=False))
