# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The groups SO(3) and SE(3): exponential of a twist, adjoint, left Jacobian of a rotation.

A twist is a 6-vector [v; w]: linear part first, as in the rows of the geometric Jacobian. Lengths
in metres, angles in radians. Formulae: Lynch and Park, "Modern Robotics" (2017), chapter 3, and
Barfoot, "State Estimation for Robotics" (2017), section 7.1. Each function is accurate at angle 0
and at angle pi. Up to 1 rad a quotient is evaluated as a power series, since the direct formula
cancels there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from arm_common.transforms import Array, cosc, pose, so3_exp
from numpy.typing import ArrayLike

_SERIES_UP_TO = 1.0  # [rad]
_SINC_REST = tuple((-1.0) ** k / math.factorial(2 * k + 3) for k in range(11))


def sinc_rest(x: float) -> float:
    """Return (x - sin(x))/x^3."""
    if x < _SERIES_UP_TO:
        return power_series(_SINC_REST, x)
    return (x - math.sin(x)) / x**3


def power_series(coefficients: Sequence[float], x: float) -> float:
    """Return the sum of c[k] x^2k."""
    total = 0.0
    for c in reversed(coefficients):
        total = total * x * x + c
    return total


def hat(w: ArrayLike) -> Array:
    """Return the skew-symmetric (3, 3) matrix whose product with x is the cross product w x x."""
    x, y, z = np.asarray(w, dtype=np.float64)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def so3_left_jacobian(w: ArrayLike) -> Array:
    """Return J (3, 3) with d/dt exp(w) = hat(J dw/dt) exp(w) (Barfoot section 7.1)."""
    vector = np.asarray(w, dtype=np.float64)
    angle = math.sqrt(vector @ vector)
    W = hat(vector)
    return np.eye(3) + cosc(angle) * W + sinc_rest(angle) * (W @ W)


def se3_exp(twist: ArrayLike) -> Array:
    """Return the rigid motion (4, 4) along the twist [v; w] for unit time (MR eq. 3.88)."""
    xi = np.asarray(twist, dtype=np.float64)
    return pose(so3_exp(xi[3:]), so3_left_jacobian(xi[3:]) @ xi[:3])


def adjoint(T: Array) -> Array:
    """Return Ad (6, 6), which carries twists [v; w] of the source frame of T to its target."""
    R = T[:3, :3]
    Ad = np.zeros((6, 6))
    Ad[:3, :3] = Ad[3:, 3:] = R
    Ad[:3, 3:] = hat(T[:3, 3]) @ R
    return Ad
