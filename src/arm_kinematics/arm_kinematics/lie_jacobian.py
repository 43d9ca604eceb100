# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The left Jacobian of SE(3): how fast a motion changes with its twist.

Barfoot, "State Estimation for Robotics" (2017), section 7.1; twists are [v; w] as in lie.py.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from arm_kinematics.lie import (
    Array,
    finite_vector,
    hat,
    so3_left_jacobian,
    so3_left_jacobian_inverse,
)
from arm_kinematics.lie_series import cosc_rest, sinc_rest, sinc_rest_rest


def se3_left_jacobian(twist: ArrayLike) -> Array:
    """Return J (6, 6) with d/dt exp(xi) = [J dxi/dt] exp(xi), twists [v; w] (Barfoot 7.85)."""
    xi = finite_vector(twist, 6)
    J = np.zeros((6, 6))
    J[:3, :3] = J[3:, 3:] = so3_left_jacobian(xi[3:])
    J[:3, 3:] = _left_jacobian_coupling(xi)
    return J


def se3_left_jacobian_inverse(twist: ArrayLike) -> Array:
    """Return the inverse of :func:`se3_left_jacobian`, for angles below 2 pi (Barfoot 7.95)."""
    xi = finite_vector(twist, 6)
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
