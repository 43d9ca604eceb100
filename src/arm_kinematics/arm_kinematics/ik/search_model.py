# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/ik/test_diagnosis.py
"""The chain as the search uses it: a record of constants for each screw (see cpp/chain.hpp).

Without mimic joints a row is a joint. Otherwise the first row that a joint drives is its own; the
others have no limits and no weight.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from arm_common.transforms import Array, inverse, pose
from arm_description.model.constraints import ConstraintSet
from numpy.typing import ArrayLike

from arm_kinematics.kernels import compiled
from arm_kinematics.kernels.layout import JOINT, Orientation, Records, used_slots, with_slots
from arm_kinematics.model.chain_model import MimicJoints


class SerialChain(Protocol):
    """What inverse kinematics use of a chain, as in `arm_kinematics.Chain`."""

    n: int
    joint_names: tuple[str, ...]
    S: Array
    M: Array
    prismatic: tuple[bool, ...]
    sliding: tuple[bool, ...]
    gearing: MimicJoints | None
    constraints: ConstraintSet
    lower: Array
    upper: Array
    effort: Array

    @property
    def middle(self) -> Array:
        """Joint positions (n,) at mid-range."""

    @property
    def unconstrained(self) -> SerialChain:
        """The chain without constraints."""

    def fk(self, q: ArrayLike) -> Array:
        """Return the pose of the tip."""

    def fk_jacobian(self, q: ArrayLike) -> tuple[Array, Array]:
        """Return pose and Jacobian of the tip."""

    def gravity_torques(self, q: ArrayLike) -> Array:
        """Return the torques that hold the arm at rest."""

    def ik(self, T: ArrayLike, *arguments: Any, **options: Any) -> Any:
        """Return the IkResult for a pose of the tip."""


def kernel_constants(
    S: Array, M: Array, prismatic: Sequence[bool], lower: Array, upper: Array
) -> Records:
    """Return the records (n + 1,) of JOINT for screws S (6, n) and home M (4, 4)."""
    n = S.shape[1]
    homes = [np.eye(4), *_joint_homes(S), M]
    step = _kronecker_step(n)
    c = np.zeros(n + 1, JOINT)
    fixed = np.array([inverse(a) @ b for a, b in pairwise(homes)])
    c["rotation"], c["position"] = fixed[:, :3, :3], fixed[:, :3, 3]
    joints = c[1:]
    joints["prismatic"] = prismatic
    joints["lower"], joints["upper"] = lower, upper
    joints["unit"] = np.where(prismatic, arm_length(S, M), 1.0)
    joints["period"] = np.where(prismatic, 0.0, 2.0 * math.pi)
    joints["leader"] = range(n)
    joints["spacing"] = [step ** (i + 1) % 1.0 for i in range(n)]
    return c


def _joint_homes(S: Array) -> list[Array]:
    """Return a frame on each joint's axis, z along it, as near as possible to the one before."""
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
        frames.append(pose(np.column_stack([x, np.cross(z, x), z]), origin))
    return frames


def arm_length(S: Array, M: Array) -> float:
    """Return the length of the arm [m] along its joints to the tip; 1 if it is 0."""
    homes = [*_joint_homes(S), M]
    steps = [float(np.linalg.norm(b[:3, 3] - a[:3, 3])) for a, b in pairwise(homes)]
    return sum(steps) or 1.0


def _kronecker_step(n: int) -> float:
    """Return 1/x with x^(n+1) = x + 1: its powers spread points evenly in n dimensions."""
    x = 2.0
    for _ in range(60):
        x = (1.0 + x) ** (1.0 / (n + 1))
    return 1.0 / x


_SAMPLES = 3
_RANK = 1e-7  # singular values below this share of the largest count as zero


class SearchModel:
    """The rows of a chain for the search, and their meaning.

    Attributes:
        constants: Records of JOINT for the kernels (size + 1,), the base first.
        size: Number of rows.
        names: Name of the joint that drives each row.
        sliding: Whether each row is prismatic.
        lower, upper: Limits of the rows [rad or m].
        scale: Motion of each row per motion of its joint.
        middle: Positions of the rows at mid-range, 0 where there are no limits.
        length: Length of the arm [m].
    """

    def __init__(self, chain: SerialChain) -> None:
        S, M, gearing = chain.S, chain.M, chain.gearing
        self.size, self.sliding, self.names = S.shape[1], chain.prismatic, chain.joint_names
        self.lower, self.upper = chain.lower, chain.upper
        self.scale = np.ones(self.size)
        if gearing is not None:
            self.names = tuple(self.names[j] for j in gearing.leaders)
            self.lower, self.upper = gearing.limits(self.lower, self.upper)
            self.scale = gearing.ratios
        self.constants = kernel_constants(S, M, self.sliding, self.lower, self.upper)
        if gearing is not None:
            gearing.write(self.constants)
        self.length = arm_length(S, M)
        middle = 0.5 * (np.maximum(self.lower, -1e9) + np.minimum(self.upper, 1e9))
        self._bounded = np.isfinite(self.lower) & np.isfinite(self.upper)
        self.middle = np.clip(np.where(self._bounded, middle, 0.0), self.lower, self.upper)

    def with_tool(self, tool: Array) -> SearchModel:
        """Return the model of a tool point (4, 4): tip <- point."""
        other = copy.copy(self)
        other.constants = self.constants.copy()
        last = other.constants[-1:]
        fixed = pose(last["rotation"][0], last["position"][0]) @ tool
        last["rotation"], last["position"] = fixed[:3, :3], fixed[:3, 3]
        other.length = self.length + float(np.linalg.norm(tool[:3, 3]))
        return other

    def has_spare_motion(self, opt: Records) -> bool:
        """Return whether the arm can move without changing the error (redundancy)."""
        rng = np.random.default_rng(0)
        reach = math.pi * self.constants["unit"][1:]
        centre = np.clip(0.0, self.lower, self.upper)
        low = np.maximum(self.lower, centre - reach)
        width = np.maximum(np.minimum(self.upper, centre + reach) - low, 0.0)
        own = self.constants["leader"][1:] == np.arange(self.size)
        movable = int((own & (self.lower < self.upper)).sum())
        ranks = [self._rank(opt, low + width * rng.random(self.size)) for _ in range(_SAMPLES)]
        return movable > max(ranks)

    def _rank(self, opt: Records, q: Array) -> int:
        """Return the rank of the Jacobian of the components that count at q."""
        found = compiled.fk_jacobian(self.constants, q)
        assert found is not None  # q is finite
        T, J = found
        moves = T[:3, :3].T @ J[:3], T[:3, :3].T @ J[3:]
        if opt["orientation"] == Orientation.AXIS:
            axis = opt["axis"]
            moves = moves[0], moves[1] - np.outer(axis, axis @ moves[1])
        rows = np.vstack(moves) * opt["even"][:, None]
        values = np.linalg.svd(rows, compute_uv=False)
        return int((values > _RANK * max(values[0], 1e-300)).sum())

    def sorted_result(self, opt: Records, seed: Array, out: Records, count: int) -> Records:
        """Return a result with the ``count`` preferred solutions, the best first."""
        slots = used_slots(out)
        rank = slots["distance"]
        if opt["centred"]:
            unit = math.pi * self.constants["unit"][1:]
            half = np.where(self._bounded, 0.5 * (self.upper - self.lower), unit)
            gaps = slots["q"] - np.where(self._bounded, self.middle, seed)
            rank = (opt["joint_weights"] * (gaps / np.maximum(half, 1e-9)) ** 2).sum(axis=1)
        best = slots[np.argsort(rank, kind="stable")[:count]]
        return with_slots(out, best, len(best))
