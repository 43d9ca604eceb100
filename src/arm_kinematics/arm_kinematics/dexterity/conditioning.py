# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How well an arm moves: measures of a Jacobian J (6, n), rows v then w, and the best posture.

The best posture minimises the condition number of the homogeneous Jacobian over postures and
lengths; the length at the minimum is the characteristic one (Angeles, "Fundamentals of Robotic
Mechanical Systems", section 5.8). For an arm of fewer than six joints only the translation counts,
in the directions in which the tip can move; that needs no length.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from arm_common.transforms import Array
from arm_description.model.constraints import SLACK
from numpy.typing import NDArray

from arm_kinematics.arguments import require
from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError

_SINGULAR = 1e-12
STARTS = 96
_PROBES = 16  # postures that determine the directions of motion
_NO_MOTION = 1e-9
Bounds: TypeAlias = list[tuple[float | None, float | None]]
_SINGULAR_COST = 1e3  # finite stand-in for the cost of a singular posture


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
    valid = length > 0.0 and math.isfinite(length)
    require(valid, "length", length, "a positive number of metres")


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


@dataclass(frozen=True)
class BestPosture:
    """The best conditioned posture of an arm."""

    q: Array  # (n,) joint positions [rad or m]
    condition: float  # Frobenius condition number there; 1 if isotropic
    length: float | None  # characteristic length [m]; None for fewer than six joints


def best_posture(chain: Chain, starts: int = STARTS) -> BestPosture:
    """Find the best conditioned posture inside the limits; equal input gives equal output.

    Quasi-Newton steps with the exact gradient, from joints at 0 and from evenly spread starts.

    Raises:
        KinematicsError: The arm is singular at every posture tried.
    """
    lower, upper = finite_limits(chain)
    cost = PostureCost(chain)
    best_x, best = np.empty(0), math.inf
    zero = np.clip(np.zeros(chain.n), lower, upper)
    for start in postures_inside(chain, np.vstack([zero, halton_points(lower, upper, starts)])):
        x = minimum_inside(chain, cost, cost.start(start), cost.bounds(lower, upper))
        condition = frobenius_condition(cost.matrix(x)[1])
        if condition < best * (1.0 - 1e-9):
            best_x, best = x, condition
    if not math.isfinite(best):
        raise KinematicsError("the arm is singular at every posture that was tried")
    length = math.exp(best_x[-1]) if cost.has_length else None
    return BestPosture(best_x[: chain.n], best, length)


def postures_inside(chain: Chain, q: Array) -> Array:
    """Return postures (m, n) moved inside the constraints, without those that stay outside."""
    if not chain.constraints:
        return q
    moved = np.array([chain.constraints.inside(row) for row in q])
    return moved[chain.constraints.violation(moved) <= SLACK]


def minimum_inside(
    chain: Chain, cost: Callable[[Array], tuple[float, Array]], start: Array, bounds: Bounds
) -> Array:
    """Return the local minimum of a cost from a start, inside bounds and the constraints.

    Args:
        chain: The arm.
        cost: Returns the value and the gradient at x, which begins with joint positions (n,).
        start: The first x, which is inside.
        bounds: Lower and upper of each component of x, None where there is none.
    """
    from scipy.optimize import minimize  # a node need not load it

    if not chain.constraints:
        return np.asarray(minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds).x)
    inside = chain.constraints.inside

    def margins(x: Array) -> Array:
        """Return how far the joints are inside each of their limits that depend on others."""
        q = dict(zip(chain.joint_names, x.tolist(), strict=False))
        ends = [(q[c.joint], *c.bounds(q)) for c in chain.constraints.constraints]
        return np.array([[at - lower, upper - at] for at, lower, upper in ends]).ravel()

    limits = {"type": "ineq", "fun": margins}
    found = minimize(cost, start, jac=True, method="SLSQP", bounds=bounds, constraints=limits).x
    low, high = np.array(bounds, dtype=np.float64).T  # NaN where there is none
    found = np.fmin(np.fmax(found, low), high)
    moved = np.append(inside(found[: chain.n]), found[chain.n :])
    return moved if float(chain.constraints.violation(moved[: chain.n])) <= SLACK else start


class PostureCost:
    """ln(tr(N) tr(N^-1)) and its gradient at x: q (n,), or (q, ln L) for six joints or more."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self.has_length = chain.n >= 6  # then x ends with ln L
        self._directions = motion_directions(chain)

    def start(self, q: Array) -> Array:
        """Return x at joint positions q (n,), with a length that balances the Jacobian's rows."""
        if not self.has_length:
            return q
        J = self._chain.jacobian(q)
        size = math.sqrt((J[:3] ** 2).sum() / max((J[3:] ** 2).sum(), 1e-300)) or 1.0
        return np.append(q, math.log(size))

    def bounds(self, lower: Array, upper: Array) -> Bounds:
        """Return the bounds of x."""
        bounds: Bounds = [*zip(lower, upper, strict=True)]
        return [*bounds, (None, None)] if self.has_length else bounds

    def matrix(self, x: Array) -> tuple[Array, Array]:
        """Return the Jacobian (6, n) at x, and the matrix (k, n) whose condition counts."""
        J = self._chain.jacobian(x[: self._chain.n])
        if self.has_length:
            return J, homogeneous_jacobian(J, math.exp(x[-1]))
        return J, self._directions @ J[:3]

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Return the value and the gradient by x."""
        J, H = self.matrix(x)
        value, by_H = log_cost(H)
        if not math.isfinite(value):
            return _SINGULAR_COST, np.zeros(len(x))
        if not self.has_length:
            by_J = np.vstack([self._directions.T @ by_H, np.zeros((3, J.shape[1]))])
            return value, self._by_q(x, J, by_J)
        by_J = homogeneous_jacobian(by_H, math.exp(x[-1]))
        return value, np.append(self._by_q(x, J, by_J), -float((by_H[:3] * H[:3]).sum()))

    def _by_q(self, x: Array, J: Array, by_J: Array) -> Array:
        """Return the gradient (n,) by q from that by the Jacobian J (6, n) at x."""
        gearing = self._chain.gearing
        if gearing is None:
            return gradient_by_screws(J, by_J)
        J = self._chain.screw_jacobian(x[: self._chain.n])
        return gearing.gradient_by_joints(gradient_by_screws(J, gearing.gradient_by_screws(by_J)))


def gradient_by_screws(J: Array, by_J: Array) -> Array:
    """Return the gradient (s,) by the positions of the screws of a function of their Jacobian.

    From its gradient by the Jacobian J (6, s). Screw k moves the tip as seen by the columns up to
    its own, dv_i = w_i x v_k, and rotates those behind it, dv_i = w_k x v_i and dw_i = w_k x w_i.
    """
    v, w, by_v, by_w = J[:3].T, J[3:].T, by_J[:3].T, by_J[3:].T
    before = np.cumsum(np.cross(by_v, w), axis=0)
    turned = np.cross(v, by_v) + np.cross(w, by_w)
    behind = np.cumsum(turned[::-1], axis=0)[::-1] - turned
    gradient: Array = (v * before + w * behind).sum(axis=1)
    return gradient


def condition_at(chain: Chain, q: Array, length: float | None) -> float:
    """Return the condition number that `best_posture` minimises, at joint positions q (n,).

    It is that of the homogeneous Jacobian with a length [m]; without one, that of the translation.
    """
    J = chain.jacobian(q)
    H = motion_directions(chain) @ J[:3] if length is None else homogeneous_jacobian(J, length)
    return frobenius_condition(H)


def motion_directions(chain: Chain) -> Array:
    """Return the directions in which the tip can move, (k, 3) orthonormal, k from 1 to 3."""
    lower, upper = finite_limits(chain)
    columns = [chain.jacobian(q)[:3] for q in halton_points(lower, upper, _PROBES)]
    directions, sizes, _ = np.linalg.svd(np.hstack(columns))
    if not sizes[0] > 0.0:
        raise KinematicsError("the tip does not move")
    return np.asarray(directions[:, sizes > _NO_MOTION * sizes[0]].T)


def halton_points(lower: Array, upper: Array, count: int) -> Array:
    """Return a Halton sequence (count, n) between two corners (n,); always the same points."""
    primes = [n for n in range(2, 10 * len(lower) + 10) if all(n % k for k in range(2, n))]
    fractions = [_radical_inverse(np.arange(1, count + 1), base) for base in primes[: len(lower)]]
    return np.asarray(lower + np.transpose(fractions) * (upper - lower))


def _radical_inverse(index: NDArray[np.int_], base: int) -> Array:
    """Return the numbers whose digits in a base are those of whole numbers (m,), mirrored."""
    value, place = np.zeros(len(index)), 1.0
    while index.any():
        index, digit = np.divmod(index, base)
        place /= base
        value += place * digit
    return value


def finite_limits(chain: Chain) -> tuple[Array, Array]:
    """Return the limits (n,), +-pi or +-1 m where there are none."""
    reach = np.where(chain.sliding, 1.0, math.pi)
    lower = np.where(np.isfinite(chain.lower), chain.lower, -reach)
    return lower, np.where(np.isfinite(chain.upper), chain.upper, reach)
