# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Measures of dexterity at a posture, from the Jacobian J (6, n), rows v then w."""

from __future__ import annotations

import math

import numpy as np
from arm_common.transforms import Array

from arm_kinematics.errors import KinematicsError

_SINGULAR = 1e-12


def measures(J: Array) -> tuple[float, float]:
    """Return manipulability and condition number of J (6, n).

    Manipulability is the product of the singular values, the condition number the largest over
    the smallest; if singular, they are 0 and inf. With n < 6 only the translation counts, in at
    most n directions (Yoshikawa, "Manipulability of robotic mechanisms", Int. J. Robotics Research
    4(2), 1985).
    """
    rows = J if J.shape[1] >= 6 else J[:3]
    values = np.linalg.svd(rows, compute_uv=False).tolist()
    is_singular = not values[-1] > _SINGULAR * values[0]
    return (0.0, math.inf) if is_singular else (math.prod(values), values[0] / values[-1])


def homogeneous_jacobian(J: Array, length: float) -> Array:
    """Return J (6, n) with its velocity rows divided by a length [m], so that it has no unit.

    Angeles, "Fundamentals of Robotic Mechanical Systems", section 5.8; Khan and Angeles, "The
    kinetostatic optimization of robotic manipulators", J. Mechanical Design 128(1), 2006.

    Raises:
        KinematicsError: The length is not positive.
    """
    check_length(length)
    H = np.array(J, dtype=np.float64)
    H[:3] /= length
    return H


def check_length(length: float) -> None:
    """Raise KinematicsError if a length [m] is not positive."""
    if not (length > 0.0 and math.isfinite(length)):
        raise KinematicsError(
            f"length is {length}; expected a positive number of metres", what="length"
        )


def frobenius_condition(H: Array) -> float:
    """Return the Frobenius condition number of H: 1 if isotropic, inf if singular.

    sqrt(tr(N) tr(N^-1)) / k with N (k, k) the smaller of H H' and H' H; Khan and Angeles (2006).

    Args:
        H: (k, n) of one unit: a homogeneous Jacobian, or rows of one kind.
    """
    values = np.linalg.eigvalsh(_gram(H))
    if not values[0] > _SINGULAR * values[-1]:
        return math.inf
    return float(math.sqrt(values.sum() * (1.0 / values).sum()) / len(values))


def log_cost(H: Array) -> tuple[float, Array]:
    """Return ln(tr(N) tr(N^-1)) of H (k, n), inf if singular, and its gradient (k, n) by H.

    This is twice the logarithm of the condition number, up to a constant. It follows from
    d tr(N) = 2 H . dH and d tr(N^-1) = -2 N^-2 H . dH.
    """
    N = _gram(H)
    values = np.linalg.eigvalsh(N)
    if not values[0] > _SINGULAR * values[-1]:
        return math.inf, np.zeros_like(H)
    inverse = np.linalg.inv(N)
    square = inverse @ inverse
    a, b = float(np.trace(N)), float(np.trace(inverse))
    of_inverse = square @ H if len(N) == len(H) else H @ square
    return math.log(a * b), 2.0 * H / a - 2.0 * of_inverse / b


def _gram(H: Array) -> Array:
    gram: Array = H @ H.T if H.shape[0] <= H.shape[1] else H.T @ H
    return gram
