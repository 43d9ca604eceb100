# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How far an arm reaches within its limits: maximised one joint at a time, exactly in each.

With all other joints held, the tool's coordinates and its squared distance from a point are
A + B cos q + C sin q over a revolute joint, whose maximum on an interval is known, and linear or
convex over a prismatic one, whose maximum is at an end. Going round the joints until nothing
improves, from many positions at once, gives a maximum that no single joint can better. It is
reached at a position within the limits; that none is larger is likely, not proven.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from arm_common.transforms import Matrix, Vector

from arm_description.model.elements import Joint
from arm_description.robot_model import RobotModel
from arm_description.urdf.kinematics import JointFrames

STARTS = 100
MOST_SWEEPS = 200
ENOUGH = 1e-9  # improvement of a sweep [m or m^2]

# (m, 3) points -> (m,) what is to be made large.
Objective: TypeAlias = Callable[[Matrix], Vector]


@dataclass(frozen=True)
class ToolReach:
    """Reach of tool0 within the joint limits [m]."""

    from_base: float  # largest distance from base_link's origin
    from_axis: float | None  # largest distance from the first joint's axis, None if it slides
    lowest: float  # lowest height over base_link's origin
    highest: float  # highest height over base_link's origin


def reach(model: RobotModel) -> ToolReach:
    """Find how far the tool reaches; the same for the same robot."""
    return ToolReach(
        from_base=math.sqrt(_farthest(model, lambda p: np.einsum("ij,ij->i", p, p))),
        from_axis=_from_first_axis(model) if model.joints[0].type == "revolute" else None,
        lowest=-_farthest(model, lambda p: -p[:, 2]),
        highest=_farthest(model, lambda p: p[:, 2]),
    )


def _farthest(model: RobotModel, objective: Objective, first_is_free: bool = False) -> float:
    """Return the largest value at the tool, if need be with the first joint turning all around."""
    moving = [_Moving(joint, model) for joint in model.joints]
    lower, upper = model.lower.copy(), model.upper.copy()
    if first_is_free:
        lower[0], upper[0] = -math.pi, math.pi
    q = np.random.default_rng(0).uniform(lower, upper, (STARTS, model.n))
    best = -math.inf
    for _ in range(MOST_SWEEPS):
        value = _sweep(model, moving, q, lower, upper, objective)
        if value - best < ENOUGH:
            break
        best = value
    return max(value, best)


def _from_first_axis(model: RobotModel) -> float:
    """With the first joint free, the largest distance along any one direction across its axis."""
    frame = JointFrames(model).joints[0].matrix
    along = frame[:3, :3] @ model.joints[0].direction
    across = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    across /= np.linalg.norm(across)
    return _farthest(model, lambda p: (p - frame[:3, 3]) @ across, first_is_free=True)


class _Moving:
    """A joint's transform as constant + a factor * x + another * y, for many positions at once.

    x, y are cos q, sin q of a revolute joint and q, 0 of a prismatic one.
    """

    def __init__(self, joint: Joint, model: RobotModel) -> None:
        self.turns = joint.type == "revolute"
        at = [joint.matrix(model.convention, q) for q in (0.0, math.pi / 2, math.pi, 1.0)]
        self.constant = (at[0] + at[2]) / 2 if self.turns else at[0]
        self.first = at[0] - self.constant if self.turns else at[3] - at[0]
        self.second = at[1] - self.constant if self.turns else np.zeros((4, 4))

    def transforms(self, q: Vector) -> Matrix:
        """(m, 4, 4) of (m,) positions."""
        x, y = (np.cos(q), np.sin(q)) if self.turns else (q, np.zeros_like(q))
        x, y = x[:, None, None], y[:, None, None]
        return np.asarray(self.constant + x * self.first + y * self.second)


def _sweep(
    model: RobotModel,
    moving: list[_Moving],
    q: Matrix,
    lower: Vector,
    upper: Vector,
    objective: Objective,
) -> float:
    """Improve each joint once, in place; returns the largest value then."""
    behind = [np.broadcast_to(model.tool.matrix[:, 3], (len(q), 4))]
    for index in range(model.n - 1, 0, -1):
        behind.append(_apply(moving[index].transforms(q[:, index]), behind[-1]))
    before = np.broadcast_to(model.base.matrix, (len(q), 4, 4))
    for index, joint in enumerate(moving):
        point, frame = behind[-1 - index], before

        def value(at: Vector, joint=joint, frame=frame, point=point) -> Vector:  # type: ignore[no-untyped-def]
            return objective(_apply(frame, _apply(joint.transforms(at), point))[:, :3])

        q[:, index] = _best(joint.turns, value, q[:, index], lower[index], upper[index])
        before = before @ joint.transforms(q[:, index])
    return float(objective(_apply(before, behind[0])[:, :3]).max())


def _best(
    turns: bool, value: Callable[[Vector], Vector], q: Vector, lower: float, upper: float
) -> Vector:
    candidates = [q, np.full_like(q, lower), np.full_like(q, upper)]
    if turns:
        zero, quarter, half = (value(np.full_like(q, at)) for at in (0.0, math.pi / 2, math.pi))
        middle = (zero + half) / 2
        peak = np.arctan2(quarter - middle, zero - middle)
        peak += 2 * math.pi * np.ceil((lower - peak) / (2 * math.pi))
        candidates.append(np.where(peak <= upper, peak, q))
    best = np.argmax([value(candidate) for candidate in candidates], axis=0)
    return np.asarray(np.choose(best, candidates))


def _apply(transforms: Matrix, points: Matrix) -> Matrix:
    return np.asarray(np.einsum("mij,mj->mi", transforms, points))
