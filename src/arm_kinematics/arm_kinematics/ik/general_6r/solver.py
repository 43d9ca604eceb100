# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""All real solutions of any arm of six revolute joints, at most 16 (Primrose 1986).

There is no seed and no iteration that might miss one: elimination leaves an eigenvalue problem of
size 16 (`elimination.py` has the equations and their sources), each real eigenvalue gives one
candidate (`cpp/general_6r/back_substitution.hpp`), and Newton's method on the pose removes the
rounding (`cpp/general_6r/refinement.hpp`).

A closed loop can be opened at any of its six joints and read in two directions. A geometry
that is singular in one of these twelve orders (parallel axes, a spherical wrist) usually is not in
another; sample poses show once per arm which orders to trust. For each target two trusted orders
have to agree, and to account for every real eigenvalue; otherwise the others are used too.

At a singular pose two solutions or more meet. There they are found to about 1e-7 rad (two) or
1e-5 rad (three), while the pose still fits to round-off. Where the arm can move with its tip at
rest (a wrist with two axes in line), the solutions are a curve; some points of it are returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array, inverse
from numpy.typing import ArrayLike

from arm_kinematics.arguments import rigid_transform
from arm_kinematics.ik.general_6r.elimination import ORDERS, Loops, products, third_angles
from arm_kinematics.ik.search_model import arm_length, kernel_constants
from arm_kinematics.ik.serial_chain import SerialChain
from arm_kinematics.kernels.compiled import collect, fk
from arm_kinematics.kernels.layout import Records
from arm_kinematics.model.chain_model import checked_screws

SAMPLES = 5
CAPACITY = 64  # solutions of a target
COMPLEX = 0.2  # imaginary part of q3 above which no real solution is near [rad]
NEARLY_REAL = 0.01  # imaginary part of q3 that may be due to rounding [rad]
VALID_REAL = 1e-4  # largest error of a valid candidate of a real eigenvalue,
VALID_NEARLY_REAL = 1e-2  # and of a nearly real one
WORTH_POLISHING = 0.03  # error of a complex eigenvalue's candidate
AGREE = 2  # orders that must agree; otherwise the others are used too
_JOINTS = [f"joint {i + 1}" for i in range(6)]
_STEP = 0.8986537126286993 ** np.arange(1, 7)  # 1/x with x^7 = x + 1 (Roberts 2018)


class EliminationPlan(NamedTuple):
    """Orders of an arm's loop, best first, and the number of trusted ones."""

    orders: tuple[int, ...]
    trusted: int


class Solutions:
    """Solutions of a target, the first ``count`` rows of q."""

    def __init__(self) -> None:
        self.q, self.count = np.empty((CAPACITY, 6)), 0


class Census(NamedTuple):
    """How many solutions an order found, whether they are consistent, and the largest error."""

    solutions: int
    is_sound: bool
    largest_error: float  # of a real eigenvalue's candidate


def _census(count: int, errors: Array, off: Array) -> Census:
    """Return the census of an order from the errors of its candidates, negative where none is.

    It is sound if each real eigenvalue's candidate nearly is a solution, these are all different,
    and further ones are even in number and come from complex pairs that rounding may have made of
    real ones. That is so for a general arm; not if the arm is special (the pencil is singular, or
    several solutions share the angle of the third joint), or its pose is singular.
    """
    real, others = errors[off == 0.0], errors[(off > 0.0) & (off < NEARLY_REAL)]
    others = others[others >= 0.0]
    largest = float(real.max(initial=0.0))
    is_valid = largest < VALID_REAL and bool((others < VALID_NEARLY_REAL).all())
    is_complete = len(real) <= count <= len(real) + 2 * len(others) and count % 2 == 0
    return Census(count, is_valid and is_complete, largest)


class General6R:
    """The solver of an arm of six revolute joints of any geometry.

    May be used from several threads at once.

    Attributes:
        unit: Unit of length in which positions and angles count alike [m].
        plan: Orders in which the loop is solved; arms of nearly the same geometry may share it.
    """

    def __init__(self, S: ArrayLike, M: ArrayLike, plan: EliminationPlan | None = None) -> None:
        """Prepare the arm of screws S (6, 6), six revolute joints, and home pose M (4, 4)."""
        from scipy.linalg import lapack  # takes longer than all other imports of this package

        self._ggev = lapack.dggev
        screws, home = checked_screws(S, [False] * 6, _JOINTS), rigid_transform(M, "home pose")
        infinite = np.full(6, np.inf)
        self._c = kernel_constants(screws, home, [False] * 6, -infinite, infinite)
        self._from_home = inverse(home)
        self.unit = arm_length(screws, home) / 3.0
        self._loops = Loops(screws, self.unit)
        self.plan = plan or self._rank_orders()

    def solve(self, T: ArrayLike) -> Array:
        """Return all real joint angles (k, 6) in (-pi, pi] that bring the tip to T (4, 4)."""
        target = rigid_transform(T, "target")
        orders, enough = self.plan.orders, min(AGREE, max(self.plan.trusted, 1))
        found, complete = Solutions(), []
        for first in range(0, ORDERS, enough):
            for i, census in enumerate(self._add(orders[first : first + enough], target, found)):
                if census.is_sound and first + i < self.plan.trusted:
                    complete.append(census.solutions)
            if complete.count(found.count) >= enough:
                break
        solutions = found.q[: found.count]
        return solutions[np.lexsort(solutions.T[::-1])]

    def _add(self, orders: Sequence[int], T: Array, found: Solutions) -> list[Census]:
        """Add the solutions of some orders of the loop, and return what each found."""
        H = T @ self._from_home
        H[:3, 3] /= self.unit
        pencils = self._loops.pencils(orders, H)
        values, vectors = np.empty((len(orders), 3, 16)), np.empty((len(orders), 16, 16))
        for k in range(len(orders)):
            left, right = pencils.left[k], pencils.right[k]
            *values[k], _, vectors[k], _, _ = self._ggev(left, right, compute_vl=0)
        (q3, off), imaginary = third_angles(values), values[:, 1]
        v = products(pencils.Zv, imaginary, vectors)
        limits = np.where(imaginary == 0.0, np.inf, WORTH_POLISHING)
        limits[(imaginary < 0.0) | (off > COMPLEX)] = -1.0
        counts = []
        for k, order in enumerate(orders):
            before, behind = pencils.before[k], pencils.behind[k]
            count, found.count = collect(
                *(self._c, T, self.unit, order, before, behind, q3[k], v[k], limits[k]),
                *(found.q, found.count),
            )
            counts.append(count)
        return list(map(_census, counts, limits, off))

    def _rank_orders(self) -> EliminationPlan:
        """Rank the orders by their results at sample poses.

        An order is trusted if most of its results are SOUND, and these are never wrong.
        """
        counts, errors = np.zeros((SAMPLES, ORDERS)), np.zeros(ORDERS)
        for i in range(SAMPLES):
            turns = (0.5 + (i + 1) * _STEP) % 1.0
            T = fk(self._c, 2.0 * np.pi * turns - np.pi)
            assert T is not None  # the turns are finite
            found = Solutions()
            of_orders = self._add(range(ORDERS), T, found)
            errors += [of_order.largest_error for of_order in of_orders]
            counts[i] = [o.solutions - found.count if o.is_sound else np.nan for o in of_orders]
        right, wrong = np.sum(counts == 0.0, axis=0), np.sum(counts < 0.0, axis=0)
        ranked = sorted(range(ORDERS), key=lambda k: (wrong[k], -right[k], errors[k], k))
        return EliminationPlan(tuple(ranked), int(np.sum((wrong == 0) & (2 * right > SAMPLES))))


def prepared(
    chain: SerialChain, tool: Array | None, constants: Records
) -> Callable[[Array, Array, float], Array]:
    """Return the function of a target, a seed and a deadline for all postures of a 6R arm."""
    del constants
    arm = General6R(chain.S, chain.M if tool is None else chain.M @ tool)
    return lambda T, seed, deadline: arm.solve(T)
