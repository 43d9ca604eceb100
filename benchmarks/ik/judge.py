# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Checks the answers of all solvers: forward kinematics by the DH table alone, and the limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from arm_description import RobotModel
from ik.problem import Problem

ROUND_OFF = 1.0 + 1e-6
AT_LIMIT = 1e-9  # [rad or m]


@dataclass(frozen=True)
class Verdict:
    """Correctness and errors of answers.

    Attributes:
        right: Whether an answer is within tolerance and limits (k,).
        branches: Number of distinct right candidates of an answer (k,).
        position: Error of the best right candidate [m], NaN where there is none (k,).
        orientation: Orientation error of that candidate [rad] (k,).
    """

    right: np.ndarray
    branches: np.ndarray
    position: np.ndarray
    orientation: np.ndarray


def fk(model: RobotModel, q: np.ndarray) -> np.ndarray:
    """Return the poses (m, 4, 4) at joint positions (m, n), by the product of the DH table.

    The transform of a revolute joint is P + C cos q + D sin q, that of a prismatic one A + B q.
    """
    T = np.broadcast_to(model.base.matrix, (len(q), 4, 4))
    for joint, x in zip(model.joints, q.T[:, :, None, None], strict=True):
        zero = joint.matrix(model.convention, 0.0)
        if joint.type == "prismatic":
            step = zero + x * (joint.matrix(model.convention, 1.0) - zero)
        else:
            mean = 0.5 * (zero + joint.matrix(model.convention, math.pi))
            quarter = joint.matrix(model.convention, 0.5 * math.pi)
            step = mean + (zero - mean) * np.cos(x) + (quarter - mean) * np.sin(x)
        T = T @ step
    poses: np.ndarray = T @ model.tool.matrix
    return poses


def judge(model: RobotModel, problem: Problem, q: np.ndarray) -> Verdict:
    """Check answers (k, c, n) to the first k targets, modulo whole turns."""
    count, candidates, n = q.shape
    q = into_limits(model, q.reshape(-1, n))
    slack = np.array([AT_LIMIT])
    inside = ((q >= model.lower - slack) & (q <= model.upper + slack)).all(axis=1)
    targets = np.repeat(problem.targets[:count], candidates, axis=0)
    reached = fk(model, np.nan_to_num(q))
    position = np.linalg.norm(reached[:, :3, 3] - targets[:, :3, 3], axis=1)
    orientation = orientation_error(problem.mode, reached, targets)
    right = (
        inside
        & (position <= problem.position_tolerance * ROUND_OFF)
        & (orientation <= problem.orientation_tolerance * ROUND_OFF)
    )
    shape = (count, candidates)
    right, position, orientation = (x.reshape(shape) for x in (right, position, orientation))
    best = np.argmin(np.where(right, position, np.inf), axis=1)
    rows, any_right = np.arange(count), right.any(axis=1)
    return Verdict(
        any_right,
        distinct(q.reshape(count, candidates, n), right),
        np.where(any_right, position[rows, best], np.nan),
        np.where(any_right, orientation[rows, best], np.nan),
    )


def into_limits(model: RobotModel, q: np.ndarray) -> np.ndarray:
    """Return q (m, n) with whole turns added to revolute joints to get within the limits."""
    turning = np.array([joint.type == "revolute" for joint in model.joints])
    turn = np.where(turning, 2.0 * math.pi, np.inf)
    low = np.ceil((model.lower - AT_LIMIT - q) / turn)
    high = np.floor((model.upper + AT_LIMIT - q) / turn)
    turns = np.where(low > 0, low, np.where(high < 0, high, 0.0))
    return np.where(turning, q + np.nan_to_num(turns) * 2.0 * math.pi, q)


def orientation_error(mode: str, reached: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the orientation errors (m,) [rad] in a mode."""
    if mode == "position":
        return np.zeros(len(reached))
    if mode == "position_axis":
        z, wanted = reached[:, :3, 2], targets[:, :3, 2]
        across = np.linalg.norm(np.cross(z, wanted), axis=1)
        return np.arctan2(across, (z * wanted).sum(axis=1))
    R = np.swapaxes(targets[:, :3, :3], 1, 2) @ reached[:, :3, :3]
    chord = np.linalg.norm((R - np.eye(3)).reshape(-1, 9), axis=1)  # sqrt(8) sin(angle / 2)
    return 2.0 * np.arcsin(np.minimum(chord / math.sqrt(8.0), 1.0))


def distinct(q: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the number of distinct right candidates (k,) of each answer, modulo whole turns."""
    counts = np.zeros(len(q), dtype=int)
    for k in range(len(q)):
        kept: list[np.ndarray] = []
        for row in q[k][right[k]]:
            if all(np.abs(np.sin(0.5 * (row - other))).max() > 1e-4 for other in kept):
                kept.append(row)
        counts[k] = len(kept)
    return counts
