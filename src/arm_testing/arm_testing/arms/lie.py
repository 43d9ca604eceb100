# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Logarithm and left Jacobians of SE(3), with which tests check velocities of motions.

Formulae as in arm_kinematics/model/lie.py, whose conventions are those here.
"""

import math
from collections.abc import Callable

import numpy as np
from arm_common.transforms import Array, so3_log
from arm_kinematics.model.lie import hat, power_series, sinc_rest, so3_left_jacobian
from numpy.typing import ArrayLike

_TERMS = 11
_SERIES_UP_TO = 1.0  # [rad]


def _coefficients(term: Callable[[int], float]) -> tuple[float, ...]:
    return tuple((-1.0) ** k * term(k) for k in range(_TERMS))


def _bernoulli_over_factorial(terms: int) -> tuple[float, ...]:
    """Return |B(2k)| / (2k)! for k = 1, 2, ...: 2 zeta(2k) / (2 pi)^2k."""
    zeta = [math.pi**2 / 6.0, math.pi**4 / 90.0]
    zeta += [sum(j ** (-2.0 * k) for j in range(400, 0, -1)) for k in range(3, terms + 1)]
    return tuple(2.0 * z / (2.0 * math.pi) ** (2 * k) for k, z in enumerate(zeta, start=1))


_COSC_REST = _coefficients(lambda k: 1.0 / math.factorial(2 * k + 4))
_SINC_REST_REST = _coefficients(lambda k: (k + 1.0) / math.factorial(2 * k + 5))
_COT_REST = _bernoulli_over_factorial(_TERMS)


def cosc_rest(x: float) -> float:
    """Return (x^2 + 2 cos(x) - 2)/(2 x^4)."""
    if x < _SERIES_UP_TO:
        return power_series(_COSC_REST, x)
    return (x * x + 2.0 * math.cos(x) - 2.0) / (2.0 * x**4)


def sinc_rest_rest(x: float) -> float:
    """Return (2 x - 3 sin(x) + x cos(x))/(2 x^5)."""
    if x < _SERIES_UP_TO:
        return power_series(_SINC_REST_REST, x)
    return (2.0 * x - 3.0 * math.sin(x) + x * math.cos(x)) / (2.0 * x**5)


def cot_rest(x: float) -> float:
    """Return (1 - (x/2) cot(x/2))/x^2."""
    if x < _SERIES_UP_TO:
        return power_series(_COT_REST, x)
    return (1.0 - 0.5 * x / math.tan(0.5 * x)) / (x * x)


def so3_left_jacobian_inverse(w: ArrayLike) -> Array:
    """Return the inverse of :func:`so3_left_jacobian`, for angles below 2 pi."""
    vector = np.asarray(w, dtype=np.float64)
    angle = math.sqrt(vector @ vector)
    W = hat(vector)
    return np.eye(3) - 0.5 * W + cot_rest(angle) * (W @ W)


def se3_log(T: Array) -> Array:
    """Return the twist (6,) [v; w] with exp(twist) = T (MR eq. 3.92)."""
    w = so3_log(T)
    return np.concatenate([so3_left_jacobian_inverse(w) @ T[:3, 3], w])


def se3_left_jacobian(twist: ArrayLike) -> Array:
    """Return J (6, 6) with d/dt exp(xi) = [J dxi/dt] exp(xi), twists [v; w] (Barfoot 7.85)."""
    xi = np.asarray(twist, dtype=np.float64)
    J = np.zeros((6, 6))
    J[:3, :3] = J[3:, 3:] = so3_left_jacobian(xi[3:])
    J[:3, 3:] = _left_jacobian_coupling(xi)
    return J


def se3_left_jacobian_inverse(twist: ArrayLike) -> Array:
    """Return the inverse of :func:`se3_left_jacobian`, for angles below 2 pi (Barfoot 7.95)."""
    xi = np.asarray(twist, dtype=np.float64)
    inverse = so3_left_jacobian_inverse(xi[3:])
    J = np.zeros((6, 6))
    J[:3, :3] = J[3:, 3:] = inverse
    J[:3, 3:] = -inverse @ _left_jacobian_coupling(xi) @ inverse
    return J


def _left_jacobian_coupling(xi: Array) -> Array:
    """Return the upper right block of the left Jacobian (Barfoot 7.86)."""
    V, W = hat(xi[:3]), hat(xi[3:])
    angle = math.sqrt(xi[3:] @ xi[3:])
    WVW = W @ V @ W
    first = W @ V + V @ W + WVW
    second = W @ W @ V + V @ W @ W - 3.0 * WVW
    third = WVW @ W + W @ WVW
    rest = cosc_rest(angle) * second + sinc_rest_rest(angle) * third
    return np.asarray(0.5 * V + sinc_rest(angle) * first + rest)
