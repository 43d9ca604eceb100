# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Numeric parts of an exercise: singular positions and the reach.

An arm is singular where its Jacobian, of the tool's position alone if only that is asked for,
has a singular value of 0. Each local minimum of the ratio of its singular values along one joint
is refined, and kept if it is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from arm_common.transforms import Array
from arm_kinematics.chain.chain import Chain
from scipy.optimize import minimize, minimize_scalar

from arm_studio.derivation.singularities import TaskJacobian, ToolTask

SAMPLES = 361
_NEAR = 0.1  # largest ratio of a sample beside a singular position
ZERO = 1e-6  # largest ratio of the singular values where an arm is singular
_STARTS, _REFINED = 4000, 25  # postures for the reach
_APART = 0.05  # [rad], or fraction of the range of a slide, between two positions or to a limit


@dataclass(frozen=True)
class SingularJoint:
    """The singular positions of one joint, with the other joints fixed at a posture.

    Attributes:
        joint: Index of the joint.
        positions: The positions inside its limits (k,), ascending, within half a turn [rad or m].
    """

    joint: int
    positions: Array

    @classmethod
    def of(cls, chain: Chain, mode: str, q: Array, joint: int) -> SingularJoint | None:
        """Return the positions for a posture q (n,); None if one is near a limit or another."""
        jacobian = TaskJacobian(chain, ToolTask(mode))
        low, high = float(jacobian.lower[joint]), float(jacobian.upper[joint])
        apart = _APART * (high - low if chain.sliding[joint] else 1.0)
        ratio = partial(_ratio_at, jacobian, np.array(q), joint)
        grid = np.linspace(low - apart, high + apart, SAMPLES)
        step = grid[1] - grid[0]
        values = np.array([ratio(x) for x in grid])
        inner = (values[1:-1] <= values[:-2]) & (values[1:-1] < values[2:])
        inner &= values[1:-1] < _NEAR
        positions = []
        for x in grid[1:-1][inner]:
            best = minimize_scalar(
                ratio, bounds=(x - 2 * step, x + 2 * step), options={"xatol": 1e-11}
            )
            if best.fun < ZERO:
                positions.append(float(best.x))
        edges = [low, *sorted(positions), high]
        if not positions or np.diff(edges).min() < apart:
            return None
        return cls(joint, np.array(sorted(positions)))


def _ratio_at(jacobian: TaskJacobian, q: Array, joint: int, value: float) -> float:
    q[joint] = value
    return jacobian.ratio(q)


def singular_joints(chain: Chain, mode: str, postures: Sequence[Array]) -> tuple[int, int] | None:
    """Return the first joint that has the same number of singular positions in most postures.

    With its number of positions; None if there is none.
    """
    for joint in range(chain.n):
        every = [SingularJoint.of(chain, mode, q, joint) for q in postures]
        counts = [len(singular.positions) for singular in every if singular is not None]
        if len(counts) > len(postures) // 2:
            common = max(set(counts), key=counts.count)
            if counts.count(common) > len(postures) // 2:
                return joint, common
    return None


def distances(chain: Chain) -> tuple[float, float]:
    """Return the largest and smallest distance of the tool from the base within the limits [m].

    Each is refined from the best of many random postures; that it is the global one is likely,
    not proven.
    """
    starts = np.random.default_rng(0).uniform(chain.lower, chain.upper, (_STARTS, chain.n))
    squares = np.array([float(np.square(chain.fk(q)[:3, 3]).sum()) for q in starts])
    order = np.argsort(squares, kind="stable")
    bounds = list(zip(chain.lower, chain.upper, strict=True))
    extremes = []
    for sign, best in ((-1.0, order[-_REFINED:]), (1.0, order[:_REFINED])):

        def goal(q: Array, sign: float = sign) -> tuple[float, Array]:
            T, J = chain.fk_jacobian(q)
            p = T[:3, 3]
            return sign * float(p @ p), sign * 2.0 * (J[:3].T @ p)

        options = {"ftol": 1e-15, "gtol": 1e-10}
        results = [
            minimize(goal, starts[i], jac=True, bounds=bounds, method="L-BFGS-B", options=options)
            for i in best
        ]
        extremes.append(math.sqrt(max(abs(min(one.fun for one in results)), 0.0)))
    return extremes[0], extremes[1]
