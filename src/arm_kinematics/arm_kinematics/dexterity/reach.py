# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reach of an arm within its limits, by exact maximisation over one joint at a time.

With all other joints held, the tool's coordinates and its squared distance from a point are
A + B cos q + C sin q over a revolute joint, with a known maximum on an interval, and linear or
convex over a prismatic one, with the maximum at a limit. Coordinate ascent from many positions at
once gives a maximum that no single joint can improve. It is reached within the limits; that it is
the global maximum is likely, not proven.

Where joints follow others, or limits depend on other joints, one joint moves several rows or
narrows others. Random steps that shrink, from the best of many positions, search the maximum then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from arm_common.transforms import Matrix, Vector
from arm_description.model.constraints import SLACK
from arm_description.model.elements import Joint
from arm_description.robot_model import RobotModel
from arm_description.urdf.joint_frames import JointFrames

STARTS = 100
MAX_SWEEPS = 200
_SAMPLES, _KEPT, _CHILDREN = 2000, 20, 30
_SHRINKS, _SHRINK = 50, 0.75
TOLERANCE = 1e-9  # improvement in a sweep [m or m^2]

# (m, 3) points -> (m,) values to maximise.
Objective: TypeAlias = Callable[[Matrix], Vector]


@dataclass(frozen=True)
class ToolReach:
    """Reach of tool0 within the joint limits [m]."""

    from_base: float  # largest distance from the origin of base_link
    from_axis: float | None  # largest distance from the first joint's axis, None if prismatic
    lowest: float  # minimum height above the origin of base_link
    highest: float  # maximum height above the origin of base_link


def reach(model: RobotModel) -> ToolReach:
    """Return the reach of the tool; deterministic."""
    turns = model.rows[0] is model.joints[0] and model.joints[0].type == "revolute"
    return ToolReach(
        from_base=math.sqrt(_farthest(model, lambda p: np.einsum("ij,ij->i", p, p))),
        from_axis=_from_first_axis(model) if turns else None,
        lowest=-_farthest(model, lambda p: -p[:, 2]),
        highest=_farthest(model, lambda p: p[:, 2]),
    )


def _farthest(model: RobotModel, objective: Objective, first_is_free: bool = False) -> float:
    """Return the maximum over the tool positions, optionally with an unlimited first joint."""
    moving = [_JointTransform(joint, model) for joint in model.rows]
    lower, upper = model.lower.copy(), model.upper.copy()
    if first_is_free:
        lower[0], upper[0] = -math.pi, math.pi
    if model.dependents or model.constraints:
        return _by_random_steps(model, moving, lower, upper, objective)
    q = np.random.default_rng(0).uniform(lower, upper, (STARTS, model.n))
    best = -math.inf
    for _ in range(MAX_SWEEPS):
        value = _sweep(model, moving, q, lower, upper, objective)
        if value - best < TOLERANCE:
            break
        best = value
    return max(value, best)


def _by_random_steps(
    model: RobotModel,
    moving: list[_JointTransform],
    lower: Vector,
    upper: Vector,
    objective: Objective,
) -> float:
    """Return the maximum over the tool positions inside limits that depend on other joints."""
    random = np.random.default_rng(0)
    q = random.uniform(lower, upper, (_SAMPLES, model.n))
    q = np.array([model.constraint_set.inside(one) for one in q])
    step = 0.25 * (upper - lower)
    for _ in range(_SHRINKS):
        q = q[model.constraint_set.violation(q) <= SLACK]
        values = objective(_tips(model, moving, q))
        best = q[np.argsort(-values, kind="stable")[:_KEPT]]
        around = np.repeat(best, _CHILDREN, axis=0)
        around = np.clip(around + step * random.normal(size=around.shape), lower, upper)
        q = np.vstack([best, around])
        step = step * _SHRINK
    return float(values.max())


def _tips(model: RobotModel, moving: list[_JointTransform], q: Matrix) -> Matrix:
    """Return the tool positions (m, 3) at joint positions (m, n)."""
    columns = model.positions(dict(zip(model.joint_names, q.T, strict=True)))
    T = np.broadcast_to(model.base.matrix, (len(q), 4, 4))
    for joint, row in zip(model.rows, moving, strict=True):
        T = T @ row.transforms(np.asarray(columns[joint.name]))
    return np.asarray((T @ model.tool.matrix)[:, :3, 3])


def _from_first_axis(model: RobotModel) -> float:
    """Return the maximum distance from the first axis.

    With an unlimited first joint it equals the maximum along any one direction across the axis.
    """
    frame = JointFrames(model).joints[0].matrix
    along = frame[:3, :3] @ model.joints[0].direction
    across = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    across /= np.linalg.norm(across)
    return _farthest(model, lambda p: (p - frame[:3, 3]) @ across, first_is_free=True)


class _JointTransform:
    """Transform of a joint as constant + first * x + second * y, for many positions at once.

    x, y are cos q, sin q for a revolute joint and q, 0 for a prismatic one.
    """

    def __init__(self, joint: Joint, model: RobotModel) -> None:
        self.turns = joint.type == "revolute"
        at = [joint.matrix(model.convention, q) for q in (0.0, math.pi / 2, math.pi, 1.0)]
        self.constant = (at[0] + at[2]) / 2 if self.turns else at[0]
        self.first = at[0] - self.constant if self.turns else at[3] - at[0]
        self.second = at[1] - self.constant if self.turns else np.zeros((4, 4))

    def transforms(self, q: Vector) -> Matrix:
        """Return the transforms (m, 4, 4) at positions (m,)."""
        x, y = (np.cos(q), np.sin(q)) if self.turns else (q, np.zeros_like(q))
        x, y = x[:, None, None], y[:, None, None]
        return np.asarray(self.constant + x * self.first + y * self.second)


def _sweep(
    model: RobotModel,
    moving: list[_JointTransform],
    q: Matrix,
    lower: Vector,
    upper: Vector,
    objective: Objective,
) -> float:
    """Optimise each joint once, in place, and return the maximum value."""
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
