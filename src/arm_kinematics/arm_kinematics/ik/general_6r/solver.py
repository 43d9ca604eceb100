# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""All real solutions of any arm of six revolute joints, at most 16 (Primrose 1986).

There is no seed and no iteration that might miss one: elimination leaves an eigenvalue problem of
size 16 (`cpp/general_6r/elimination.hpp` has the equations and their sources), each real
eigenvalue gives one candidate (`back_substitution.hpp`), and Newton's method on the pose removes
the rounding (`refinement.hpp`).

A closed loop can be opened at any of its six joints and read in two directions. A geometry
that is singular in one of these twelve orders (parallel axes, a spherical wrist) usually is not in
another; sample poses show once per arm which orders to trust. For each target two trusted orders
have to agree, and to account for every real eigenvalue; otherwise the others are used too.

At a singular pose two solutions or more meet. There they are found to about 1e-7 rad (two) or
1e-5 rad (three), while the pose still fits to round-off. Where the arm can move with its tip at
rest (a wrist with two axes in line), the solutions are a curve; some points of it are returned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array, inverse
from numpy.typing import ArrayLike

from arm_kinematics.arguments import rigid_transform
from arm_kinematics.ik.search_model import arm_length, kernel_constants
from arm_kinematics.kernels import compiled
from arm_kinematics.kernels.layout import LOOP, POSTURES, Records
from arm_kinematics.model.chain_model import checked_screws

ORDERS = 12


def order_loops(S: Array, unit: float) -> Records:
    """Return the records (12,) of LOOP of all orders of the loop of screws S (6, 6).

    Orders 0 to 5 begin with joint 1 to 6; 6 to 11 are read backwards and begin with joint 6 to 1.
    """
    points, directions = np.cross(S[3:].T, S[:3].T) / unit, S[3:].T
    t = np.zeros(ORDERS, LOOP)
    t["unit"] = unit
    for order in range(ORDERS):
        backwards, start = divmod(order, 6)
        place = np.arange(start, start + 6)
        joint = 5 - place % 6 if backwards else place % 6
        joints = t["joints"][order]
        joints["point"] = points[joint]
        joints["direction"] = directions[joint] * (-1.0 if backwards else 1.0)
        joints["carried"], joints["joint"] = place >= 6, joint
        t["reversed"][order] = backwards
    return t


SAMPLES = 5
AGREE = 2  # orders that must agree; otherwise the others are used too
_JOINTS = [f"joint {i + 1}" for i in range(6)]
_STEP = 0.8986537126286993 ** np.arange(1, 7)  # 1/x with x^7 = x + 1 (Roberts 2018)


class EliminationPlan(NamedTuple):
    """Orders of an arm's loop, best first, and the number of trusted ones."""

    orders: tuple[int, ...]
    trusted: int


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
        self._loops = order_loops(screws, self.unit)
        self.plan = plan or self._rank_orders()

    def solve(self, T: ArrayLike) -> Array:
        """Return all real joint angles (k, 6) in (-pi, pi] that bring the tip to T (4, 4)."""
        target = rigid_transform(T, "target")
        H = target @ self._from_home
        out = np.zeros((), POSTURES)
        enough = min(AGREE, max(self.plan.trusted, 1))
        complete: list[float] = []
        for i, order in enumerate(self.plan.orders):
            self._solve_order(order, target, H, out)
            if out["is_sound"] and i < self.plan.trusted:
                complete.append(float(out["of_order"]))
            if complete.count(float(out["count"])) >= enough:
                break
        solutions = out["q"][: int(out["count"])]
        return solutions[np.lexsort(solutions.T[::-1])]

    def _solve_order(self, order: int, T: Array, H: Array, out: Records) -> None:
        """Add the solutions of one order of the loop to out."""
        loop = self._loops[order : order + 1]
        lines, Z, P = np.empty((10, 6)), np.empty((16, 28)), np.empty((32, 16))
        compiled.eliminate(loop, H, lines, Z, P)
        re, im, beta, _, vectors, _, _ = self._ggev(
            P[:16].T, P[16:].T, compute_vl=0, overwrite_a=1, overwrite_b=1
        )
        values = np.array((re, im, beta))
        compiled.collect(self._c, T, loop, lines, Z, values, vectors.T, out)

    def _rank_orders(self) -> EliminationPlan:
        """Rank the orders by their results at sample poses.

        An order is trusted if most of its results are SOUND, and these are never wrong.
        """
        counts, errors = np.zeros((SAMPLES, ORDERS)), np.zeros(ORDERS)
        for i in range(SAMPLES):
            out = np.zeros((), POSTURES)
            turns = (0.5 + (i + 1) * _STEP) % 1.0
            T = compiled.fk(self._c, 2.0 * np.pi * turns - np.pi)
            assert T is not None  # the turns are finite
            H = T @ self._from_home
            for order in range(ORDERS):
                self._solve_order(order, T, H, out)
                counts[i, order] = out["of_order"] if out["is_sound"] else np.nan
                errors[order] += out["largest_error"]
            counts[i] -= out["count"]
        right, wrong = np.sum(counts == 0.0, axis=0), np.sum(counts < 0.0, axis=0)
        ranked = sorted(range(ORDERS), key=lambda k: (wrong[k], -right[k], errors[k], k))
        return EliminationPlan(tuple(ranked), int(np.sum((wrong == 0) & (2 * right > SAMPLES))))
