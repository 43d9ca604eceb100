# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A 7R arm at one pose: the curves that its joints can move along while the tip rests.

One joint is locked at some values; the other six are a 6R arm, of which `general_6r` has every
solution. From each, the curve is traced until it closes (see kernels_curve.py). A curve that
misses all values of one joint is met by those of another: two joints are used, those which move
most in self-motions.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from arm_kinematics import kernels, kernels_curve
from arm_kinematics.constants import arm_length, kernel_constants
from arm_kinematics.general_6r import General6R, Plan
from arm_kinematics.kernels_curve import CLOSED, COUNT, ENDING
from arm_kinematics.lie import Array, adjoint, se3_exp
from arm_kinematics.warm_up import prepare_self_motion

CAPACITY = 8192
SAMPLES = 16
_STEP = 0.9115923534820549 ** np.arange(1, 8)  # 1/x with x^8 = x + 1 (Roberts 2018)
_OFFSET = 0.137  # keeps the locked values off quarter turns, where axes tend to be parallel


class SevenR:
    """The self-motions of an arm of seven revolute joints, without limits.

    Attributes:
        by_motion: The joints, those first that move most in self-motions.
    """

    def __init__(self, S: Array, M: Array) -> None:
        """Prepare the arm of screws S (6, 7) and home pose M (4, 4)."""
        prepare_self_motion()
        infinite = np.full(7, np.inf)
        self._S, self._M = S, M
        self._c = kernel_constants(S, M, [False] * 7, -infinite, infinite)
        self._unit = arm_length(S, M) / 3.0
        self._plans: dict[int, Plan] = {}
        self._locked: dict[tuple[int, float], General6R] = {}
        self.by_motion = tuple(int(i) for i in np.argsort(-self._motion(), kind="stable"))

    def _motion(self) -> Array:
        """Return how much each joint moves (7,) in self-motions at sample postures."""
        total, T, J = np.zeros(7), np.empty((4, 4)), np.empty((6, 7))
        for i in range(12):
            q = 2.0 * math.pi * ((0.5 + (i + 1) * _STEP) % 1.0)
            kernels.fk_jacobian(self._c, np.asarray(q, dtype=np.float64), T, J)
            J[:3] /= self._unit
            total += np.abs(np.linalg.svd(J)[2][6])
        return total

    def locked(self, T: Array, joint: int, value: float) -> Array:
        """Return all joint angles (k, 7) that hold the tip at T with one joint at a value."""
        key = joint, value
        if key not in self._locked:
            self._locked[key] = self._lock(joint, value)
        return np.insert(self._locked[key].solve(T), joint, value, axis=1)

    def _lock(self, joint: int, value: float) -> General6R:
        """Return the 6R arm that is left if one joint stays at a value."""
        turned = se3_exp(self._S[:, joint] * value)
        behind = adjoint(turned) @ self._S[:, joint + 1 :]
        screws = np.hstack([self._S[:, :joint], behind])
        arm = General6R(screws, turned @ self._M, self._plans.get(joint))
        self._plans[joint] = arm.plan
        return arm

    def curves(
        self, T: Array, step: float, joints: Sequence[int], deadline: float = math.inf
    ) -> list[tuple[Array, bool]]:
        """Return the curves (m, 7) of the self-motion at T, and whether each is closed.

        Args:
            T: Pose of the tip (4, 4).
            step: Longest way of a joint between two points [rad].
            joints: The joints to be locked for the first points.
            deadline: When to stop with those that are found, on the monotonic clock [s].
        """
        T = np.ascontiguousarray(T)
        options = np.array([self._unit, step, 1.0])
        curves: list[tuple[Array, bool]] = []
        for joint in joints:
            for i in range(SAMPLES):
                if time.monotonic() > deadline:
                    return curves
                value = 2.0 * math.pi * (i + 0.5) / SAMPLES - math.pi + _OFFSET
                for q in self.locked(T, joint, value):
                    if not any(kernels_curve.passes(self._c, T, options, p, q) for p, _ in curves):
                        curves.append(self._curve(T, q, options))
        return curves

    def _curve(self, T: Array, q: Array, options: Array) -> tuple[Array, bool]:
        """Return the whole curve through q, and whether it is closed."""
        ahead, closed = self._trace(T, q, options)
        if closed:
            return ahead, True
        back, _ = self._trace(T, q, options * (1.0, 1.0, -1.0))
        return np.concatenate([back[:0:-1], ahead]), False

    def _trace(self, T: Array, q: Array, options: Array) -> tuple[Array, bool]:
        out = np.empty((1 + CAPACITY, 7))
        kernels_curve.trace(self._c, T, np.ascontiguousarray(q), options, out)
        return out[1 : 1 + int(out[0, COUNT])].copy(), bool(out[0, ENDING] == CLOSED)

    def point_at(self, T: Array, near: Array, way: Array) -> Array | None:
        """Return the point (7,) of the self-motion a step from another, or beside that."""
        q, options = np.empty(7), np.array([self._unit, 0.0, 0.0])
        near, way, T = (np.ascontiguousarray(x) for x in (near, way, T))
        return q if kernels_curve.point_at(self._c, T, options, near, way, q) else None
