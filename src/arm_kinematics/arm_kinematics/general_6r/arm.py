# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every pose of a 6R arm: which orders of its loop to trust, and how far to go on asking."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from arm_kinematics import kernels
from arm_kinematics.chain_parts import checked_screws
from arm_kinematics.constants import arm_length, kernel_constants
from arm_kinematics.general_6r.kernels_collect import (
    CAPACITY,
    COUNT,
    FOUND,
    SOUND,
    WORST,
    collect,
)
from arm_kinematics.general_6r.kernels_elimination import PRODUCTS, SIZE, eliminate
from arm_kinematics.general_6r.orders import ORDERS, order_tables
from arm_kinematics.lie import Array, se3_inverse, transform
from arm_kinematics.warm_up import prepare_general_6r

SAMPLES = 5
AGREE = 2  # orders that have to agree before the others are left unasked
_JOINTS = [f"joint {i + 1}" for i in range(6)]
_STEP = 0.8986537126286993 ** np.arange(1, 7)  # 1/x with x^7 = x + 1 (Roberts 2018)


class Plan(NamedTuple):
    """What was learnt about an arm: orders of its loop, best first; how many can be trusted."""

    orders: tuple[int, ...]
    trusted: int


class General6R:
    """The poses of an arm of six revolute joints, whatever its geometry.

    May be used from several threads at once.

    Attributes:
        plan: In which orders the loop is solved; arms of nearly the same geometry may share it.
    """

    def __init__(self, S: ArrayLike, M: ArrayLike, plan: Plan | None = None) -> None:
        """Prepare the arm of screws S (6, 6) and home pose M (4, 4).

        Raises:
            KinematicsError: S is not six turning joints, or M is no rigid motion.
        """
        prepare_general_6r()
        screws, home = checked_screws(S, [False] * 6, _JOINTS), transform(M, "home pose")
        infinite = np.full(6, np.inf)
        self._c = kernel_constants(screws, home, [False] * 6, -infinite, infinite)
        self._from_home = se3_inverse(home)
        unit = arm_length(screws, home) / 3.0
        self._tables = order_tables(screws, unit)
        self.plan = plan or self._learn()

    def solve(self, T: ArrayLike) -> Array:
        """Return all real joint angles (k, 6) in (-pi, pi] that bring the tip to T (4, 4).

        Raises:
            KinematicsError: T is no rigid motion.
        """
        target = np.ascontiguousarray(transform(T, "target"))
        H = target @ self._from_home
        out = np.zeros((1 + CAPACITY, 6))
        enough = min(AGREE, max(self.plan.trusted, 1))
        complete: list[float] = []
        for i, order in enumerate(self.plan.orders):
            self._ask(order, target, H, out)
            if out[0, SOUND] and i < self.plan.trusted:
                complete.append(out[0, FOUND])
            if complete.count(out[0, COUNT]) >= enough:
                break
        solutions = out[1 : 1 + int(out[0, COUNT])]
        return solutions[np.lexsort(solutions.T[::-1])]

    def _ask(self, order: int, T: Array, H: Array, out: Array) -> None:
        """Add to out what one order of the loop finds."""
        table = self._tables[order]
        lines, Z = np.empty((10, 6)), np.empty((SIZE, PRODUCTS + SIZE))
        P = np.empty((2 * SIZE, SIZE))
        eliminate(table, H, lines, Z, P)
        re, im, beta, _, vectors, _, _ = lapack.dggev(
            P[:SIZE].T, P[SIZE:].T, compute_vl=0, overwrite_a=1, overwrite_b=1
        )
        collect(self._c, T, table, lines, Z, np.array((re, im, beta)), vectors.T, out)

    def _learn(self) -> Plan:
        """Rank the orders by what they do with sample poses.

        Trusted is an order that answers soundly more often than not and never wrongly so.
        """
        answers, errors = np.zeros((SAMPLES, ORDERS)), np.zeros(ORDERS)
        for i in range(SAMPLES):
            T, out = np.empty((4, 4)), np.zeros((1 + CAPACITY, 6))
            turns = (0.5 + (i + 1) * _STEP) % 1.0
            kernels.fk(self._c, np.asarray(2.0 * np.pi * turns - np.pi, dtype=np.float64), T)
            H = T @ self._from_home
            for order in range(ORDERS):
                self._ask(order, T, H, out)
                answers[i, order] = out[0, FOUND] if out[0, SOUND] else np.nan
                errors[order] += out[0, WORST]
            answers[i] -= out[0, COUNT]
        right, wrong = np.sum(answers == 0.0, axis=0), np.sum(answers < 0.0, axis=0)
        ranked = sorted(range(ORDERS), key=lambda k: (wrong[k], -right[k], errors[k], k))
        return Plan(tuple(ranked), int(np.sum((wrong == 0) & (2 * right > SAMPLES))))
