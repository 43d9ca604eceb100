# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Rotations SO(3) and rigid motions SE(3): exponential, logarithm, adjoint, Jacobians.

A twist is a 6-vector [v; w]: linear part first, as in the rows of the geometric Jacobian. Lengths
in metres, angles in radians. Formulae: Lynch and Park, "Modern Robotics" (2017), chapter 3, and
Barfoot, "State Estimation for Robotics" (2017), section 7.1. Each function is accurate at angle 0
and at angle pi; the logarithm goes through the unit quaternion for that reason.

The quotients in the formulae of SO(3) and SE(3), without cancellation at small angles.

Each is its power series up to 1 rad, where the quotient has lost at most one digit in a hundred.

The left Jacobian of SE(3): how fast a motion changes with its twist.

Barfoot, "State Estimation for Robotics" (2017), section 7.1; twists are [v; w] as in lie.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_kinematics.errors import KinematicsError

_TERMS = 11
_SERIES_UP_TO = 1.0  # [rad]


def _coefficients(term: Callable[[int], float]) -> tuple[float, ...]:
    return tuple((-1.0) ** k * term(k) for k in range(_TERMS))


def _bernoulli_over_factorial(terms: int) -> tuple[float, ...]:
    """Return |B(2k)| / (2k)! for k = 1, 2, ...: 2 zeta(2k) / (2 pi)^2k."""
    zeta = [math.pi**2 / 6.0, math.pi**4 / 90.0]
    zeta += [sum(j ** (-2.0 * k) for j in range(400, 0, -1)) for k in range(3, terms + 1)]
    return tuple(2.0 * z / (2.0 * math.pi) ** (2 * k) for k, z in enumerate(zeta, start=1))


_SINC_REST = _coefficients(lambda k: 1.0 / math.factorial(2 * k + 3))
_COSC_REST = _coefficients(lambda k: 1.0 / math.factorial(2 * k + 4))
_SINC_REST_REST = _coefficients(lambda k: (k + 1.0) / math.factorial(2 * k + 5))
_COT_REST = _bernoulli_over_factorial(_TERMS)


def sinc(x: float) -> float:
    """Return sin(x)/x."""
    return 1.0 - x * x / 6.0 if x < 1e-4 else math.sin(x) / x


def cosc(x: float) -> float:
    """Return (1 - cos(x))/x^2, by the half angle, which does not cancel."""
    return 0.5 * sinc(0.5 * x) ** 2


def sinc_rest(x: float) -> float:
    """Return (x - sin(x))/x^3."""
    if x < _SERIES_UP_TO:
        return _sum(_SINC_REST, x)
    return (x - math.sin(x)) / x**3


def cosc_rest(x: float) -> float:
    """Return (x^2 + 2 cos(x) - 2)/(2 x^4)."""
    if x < _SERIES_UP_TO:
        return _sum(_COSC_REST, x)
    return (x * x + 2.0 * math.cos(x) - 2.0) / (2.0 * x**4)


def sinc_rest_rest(x: float) -> float:
    """Return (2 x - 3 sin(x) + x cos(x))/(2 x^5)."""
    if x < _SERIES_UP_TO:
        return _sum(_SINC_REST_REST, x)
    return (2.0 * x - 3.0 * math.sin(x) + x * math.cos(x)) / (2.0 * x**5)


def cot_rest(x: float) -> float:
    """Return (1 - (x/2) cot(x/2))/x^2."""
    if x < _SERIES_UP_TO:
        return _sum(_COT_REST, x)
    return (1.0 - 0.5 * x / math.tan(0.5 * x)) / (x * x)


def _sum(coefficients: Sequence[float], x: float) -> float:
    """Return the sum of c[k] x^2k."""
    total = 0.0
    for c in reversed(coefficients):
        total = total * x * x + c
    return total


Array = NDArray[np.float64]
Row = tuple[float, float, float]

_IDENTITY = np.eye(4)


def hat(w: ArrayLike) -> Array:
    """Return the skew-symmetric (3, 3) matrix whose product with x is the cross product w x x."""
    x, y, z = finite_vector(w, 3)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def so3_exp(w: ArrayLike) -> Array:
    """Return the rotation (3, 3) by the rotation vector w [rad] (Rodrigues, MR eq. 3.51)."""
    x, y, z = finite_vector(w, 3).tolist()
    angle = math.sqrt(x * x + y * y + z * z)
    a, b = sinc(angle), cosc(angle)
    return np.array(
        [
            [1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y],
            [b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x],
            [b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y)],
        ]
    )


def so3_log(R: ArrayLike) -> Array:
    """Return the rotation vector (3,) [rad] of a rotation, of length 0 to pi.

    At exactly pi both signs are right; one of them is returned.
    """
    x, y, z, w = quaternion(rotation(R))
    length = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 / w if length < 1e-12 else 2.0 * math.atan2(length, w) / length
    return np.array([scale * x, scale * y, scale * z])


def quaternion(R: Array) -> tuple[float, float, float, float]:
    """Return the unit quaternion x, y, z, w (w >= 0) of a rotation (3, 3), which is not checked.

    From its largest component (Shepperd, J. Guidance and Control 1(3), 1978), so that it is
    accurate at 0 and at pi.
    """
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    trace = a + e + i
    if trace >= max(a, e, i):
        x, y, z, w = h - f, c - g, d - b, 1.0 + trace
    elif a >= max(e, i):
        x, y, z, w = 1.0 + 2.0 * a - trace, b + d, c + g, h - f
    elif e >= i:
        x, y, z, w = b + d, 1.0 + 2.0 * e - trace, f + h, c - g
    else:
        x, y, z, w = c + g, f + h, 1.0 + 2.0 * i - trace, d - b
    scale = math.copysign(1.0 / math.sqrt(x * x + y * y + z * z + w * w), w)
    return scale * x, scale * y, scale * z, scale * w


def rotation_rows(x: float, y: float, z: float, w: float) -> tuple[Row, Row, Row]:
    """Return the rows of the rotation of a quaternion, not of length zero (MR appendix B.3)."""
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return (
        (1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
        (s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)),
        (s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)),
    )


def so3_left_jacobian(w: ArrayLike) -> Array:
    """Return J (3, 3) with d/dt exp(w) = hat(J dw/dt) exp(w) (Barfoot section 7.1)."""
    vector = finite_vector(w, 3)
    angle = math.sqrt(vector @ vector)
    W = hat(vector)
    return np.eye(3) + cosc(angle) * W + sinc_rest(angle) * (W @ W)


def so3_left_jacobian_inverse(w: ArrayLike) -> Array:
    """Return the inverse of :func:`so3_left_jacobian`, for angles below 2 pi."""
    vector = finite_vector(w, 3)
    angle = math.sqrt(vector @ vector)
    W = hat(vector)
    return np.eye(3) - 0.5 * W + cot_rest(angle) * (W @ W)


def se3(R: ArrayLike, p: ArrayLike) -> Array:
    """Return the (4, 4) rigid motion with rotation R (3, 3) and translation p (3,) [m]."""
    T = _IDENTITY.copy()
    T[:3, :3] = R
    T[:3, 3] = p
    return T


def se3_exp(twist: ArrayLike) -> Array:
    """Return the rigid motion (4, 4) along the twist [v; w] for unit time (MR eq. 3.88)."""
    xi = finite_vector(twist, 6)
    return se3(so3_exp(xi[3:]), so3_left_jacobian(xi[3:]) @ xi[:3])


def se3_log(T: ArrayLike) -> Array:
    """Return the twist (6,) [v; w] with exp(twist) = T (MR eq. 3.92)."""
    motion = transform(T)
    w = so3_log(motion[:3, :3])
    return np.concatenate([so3_left_jacobian_inverse(w) @ motion[:3, 3], w])


def se3_inverse(T: ArrayLike) -> Array:
    """Return the inverse of a rigid motion (4, 4), without a linear solve."""
    motion = transform(T)
    R = motion[:3, :3].T
    return se3(R, -R @ motion[:3, 3])


def adjoint(T: ArrayLike) -> Array:
    """Return Ad (6, 6), which carries twists [v; w] of the source frame of T to its target."""
    motion = transform(T)
    R = motion[:3, :3]
    Ad = np.zeros((6, 6))
    Ad[:3, :3] = Ad[3:, 3:] = R
    Ad[:3, 3:] = hat(motion[:3, 3]) @ R
    return Ad


def rotation(R: ArrayLike, what: str = "rotation") -> Array:
    """Return R as a float (3, 3) array, or raise KinematicsError if it is not a rotation."""
    matrix = _finite(R, (3, 3), what)
    if not _is_rotation(*matrix.tolist()):
        raise KinematicsError(
            f"{what}: the (3, 3) part is not a rotation matrix (orthonormal, determinant +1)",
            what=what,
            value=R,
        )
    return matrix


def _is_rotation(x: Row, y: Row, z: Row) -> bool:
    """Return whether rows are orthonormal within 1e-6, and right-handed."""
    (a, b, c), (d, e, f), (g, h, i) = x, y, z
    off = max(
        abs(a * a + b * b + c * c - 1.0),
        abs(d * d + e * e + f * f - 1.0),
        abs(g * g + h * h + i * i - 1.0),
        abs(a * d + b * e + c * f),
        abs(d * g + e * h + f * i),
        abs(g * a + h * b + i * c),
    )
    return off <= 1e-6 and a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) > 0.0


def transform(T: ArrayLike, what: str = "transform") -> Array:
    """Return T as a float (4, 4) array, or raise KinematicsError if it is no rigid motion."""
    matrix = _finite(T, (4, 4), what)
    rotation(matrix[:3, :3], what)
    a, b, c, d = matrix[3].tolist()
    if abs(a) + abs(b) + abs(c) + abs(d - 1.0) > 1e-9:
        raise KinematicsError(f"{what}: the last row must be 0 0 0 1", what=what, value=T)
    return matrix


def finite_vector(values: ArrayLike, size: int) -> Array:
    """Return values as a float (size,) array, or raise KinematicsError."""
    return _finite(values, (size,), "vector")


def _finite(values: Any, shape: tuple[int, ...], what: str) -> Array:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = None
    if array is None or array.shape != shape:
        found = "something else" if array is None else str(array.shape)
        raise KinematicsError(
            f"{what}: expected numbers of shape {shape}, got {found}", what=what, value=values
        )
    if not all(map(math.isfinite, array.ravel().tolist())):
        raise KinematicsError(f"{what}: contains NaN or infinity", what=what, value=values)
    return array


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
