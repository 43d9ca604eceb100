# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Screws and home pose -> the table of constants that the compiled loops use (see kernels.py)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from arm_kinematics import kernels
from arm_kinematics.lie import Array, se3, se3_inverse


def kernel_constants(
    S: Array, M: Array, prismatic: Sequence[bool], lower: Array, upper: Array
) -> Array:
    """Return the table (n + 1, CONSTANTS) for screws S (6, n) and home M (4, 4)."""
    n = S.shape[1]
    homes = [*_joint_homes(S), M]
    length = arm_length(S, M)
    step = _kronecker_step(n)
    c = np.zeros((n + 1, kernels.CONSTANTS))
    c[0, :12] = _flat(homes[0])
    for i in range(n):
        row = c[i + 1]
        row[:12] = _flat(se3_inverse(homes[i]) @ homes[i + 1])
        row[kernels.PRISMATIC] = prismatic[i]
        row[kernels.LOWER] = lower[i]
        row[kernels.UPPER] = upper[i]
        row[kernels.UNIT] = length if prismatic[i] else 1.0
        row[kernels.PERIOD] = 0.0 if prismatic[i] else 2.0 * math.pi
        row[kernels.LEADER] = i
        row[kernels.SPREAD] = step ** (i + 1) % 1.0
    return c


def with_tool(c: Array, tool: Array) -> Array:
    """Return the table for a tip moved by tool (4, 4): tip <- new tip."""
    moved = c.copy()
    last = se3(c[-1, :9].reshape(3, 3), c[-1, 9:12]) @ tool
    moved[-1, :12] = _flat(last)
    return moved


def _joint_homes(S: Array) -> list[Array]:
    """Return a frame on each joint's axis, z along it, as near to the frame before as can be."""
    origin = np.zeros(3)
    frames = []
    for v, w in zip(S[:3].T, S[3:].T, strict=True):
        z = w if w.any() else v
        if w.any():
            point = np.cross(w, v)
            origin = point + w * (w @ (origin - point))
        x = np.zeros(3)
        x[int(np.argmin(np.abs(z)))] = 1.0
        x -= z * (z @ x)
        x /= np.linalg.norm(x)
        frames.append(se3(np.column_stack([x, np.cross(z, x), z]), origin))
    return frames


def arm_length(S: Array, M: Array) -> float:
    """Return the length of the arm [m]: the way from joint to joint to the tip; 1 if it is 0."""
    homes = [*_joint_homes(S), M]
    steps = [float(np.linalg.norm(b[:3, 3] - a[:3, 3])) for a, b in pairwise(homes)]
    return sum(steps) or 1.0


def _kronecker_step(n: int) -> float:
    """Return 1/x with x^(n+1) = x + 1: its powers make an even spread in n dimensions."""
    x = 2.0
    for _ in range(60):
        x = (1.0 + x) ** (1.0 / (n + 1))
    return 1.0 / x


def _flat(T: Array) -> Array:
    return np.concatenate([T[:3, :3].ravel(), T[:3, 3]])
