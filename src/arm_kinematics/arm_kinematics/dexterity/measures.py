# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How well an arm can move at a posture, from its Jacobian J (6, n), rows v then w."""

from __future__ import annotations

import math

import numpy as np
from arm_common.transforms import Array

from arm_kinematics.errors import KinematicsError

_SINGULAR = 1e-12


def measures(J: Array) -> tuple[float, float]:
    """Return manipulability and condition number of J (6, n)."""
    rows = J if J.shape[1] >= 6 else J[:3]
    values = np.linalg.svd(rows, compute_uv=False).tolist()
    is_singular = not values[-1] > _SINGULAR * values[0]
    return math.prod(values), math.inf if is_singular else values[0] / values[-1]


def manipulability(J: Array) -> float:
    """Return Yoshikawa's measure of J (6, n): the product of its singular values.

    Translation only if n < 6, and of as many directions as the arm has joints (Yoshikawa,
    "Manipulability of robotic mechanisms", Int. J. Robotics Research 4(2), 1985).
    """
    return measures(J)[0]


def condition_number(J: Array) -> float:
    """Return the largest over the smallest singular value of the same matrix; inf if singular."""
    return measures(J)[1]


def homogeneous_jacobian(J: Array, length: float) -> Array:
    """Return J (6, n) with its rows of velocity divided by a length [m], so that it has no unit.

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
    """Return the condition number of H in the Frobenius norm: 1 at the best, inf if singular.

    sqrt(tr(N) tr(N^-1)) / k with N (k, k) the smaller of H H' and H' H; Khan and Angeles (2006).

    Args:
        H: (k, n) without units: a homogeneous Jacobian, or rows of one kind.
    """
    values = np.linalg.eigvalsh(_gram(H))
    if not values[0] > _SINGULAR * values[-1]:
        return math.inf
    return float(math.sqrt(values.sum() * (1.0 / values).sum()) / len(values))


def characteristic_length(J: Array) -> float:
    """Return the length [m] by which the homogeneous Jacobian is conditioned best.

    With H as above, tr(H H') = a / L^2 + b and tr((H H')^-1) = p L^2 + w, whose product is least
    at L^4 = a w / (b p).

    Raises:
        KinematicsError: There are less than six joints, or the posture is singular.
    """
    if J.shape[1] < 6:
        raise KinematicsError("only an arm of six or more joints has a characteristic length")
    a, b = float((J[:3] ** 2).sum()), float((J[3:] ** 2).sum())
    size = math.sqrt(a / b) if a > 0.0 and b > 0.0 else 1.0
    H = homogeneous_jacobian(J, size)
    if not math.isfinite(frobenius_condition(H)):
        raise KinematicsError("at a singular posture there is no characteristic length")
    inverse = np.linalg.inv(H @ H.T)
    p, w = float(np.trace(inverse[:3, :3])), float(np.trace(inverse[3:, 3:]))
    return float(size * (w / p) ** 0.25)


def log_cost(H: Array) -> tuple[float, Array]:
    """Return ln(tr(N) tr(N^-1)) of H (k, n) and its gradient by H (k, n); inf if singular.

    Twice the logarithm of the condition number, but for a constant. From d tr(N) = 2 H . dH and
    d tr(N^-1) = -2 N^-2 H . dH.
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
    return H @ H.T if H.shape[0] <= H.shape[1] else H.T @ H
