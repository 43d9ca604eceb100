# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the search knows of a chain: a row for each screw.

That is a joint, if none follows another. Else a joint's own row is the first one that it drives;
the others have no limits here, and no weight.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import numpy as np

from arm_kinematics import kernels
from arm_kinematics.constants import arm_length, kernel_constants, with_tool
from arm_kinematics.gearing import Gearing
from arm_kinematics.kernels_error import AXIS_ONLY, CENTRED, EVEN, OPTIONS, TOOL, WHAT
from arm_kinematics.kernels_search import FOUND, HEAD, SLOT
from arm_kinematics.lie import Array

_SAMPLES = 3
_RANK = 1e-7  # singular values below this share of the largest are none


class Mechanism:
    """Rows of a chain and what they mean.

    Attributes:
        constants: Table for the compiled loops, see kernels.py.
        size: Number of rows.
        names: Name of the joint that drives each row.
        sliding: Whether the row slides.
        lower, upper: Limits of the rows [rad or m].
        scale: Way of each row per way of its joint.
        middle: The rows in the middle of their ranges, 0 where there are no limits.
        length: Length of the arm [m].
    """

    def __init__(
        self,
        S: Array,
        M: Array,
        prismatic: Sequence[bool],
        names: Sequence[str],
        limits: tuple[Array, Array],
        gearing: Gearing | None,
    ) -> None:
        self.size, self.sliding, self.names = S.shape[1], tuple(prismatic), tuple(names)
        self.lower, self.upper = limits
        self.scale = np.ones(self.size)
        if gearing is not None:
            self.names = tuple(names[j] for j in gearing.leaders)
            self.lower, self.upper = gearing.limits(*limits)
            self.scale = gearing.ratios
        self.constants = kernel_constants(S, M, prismatic, self.lower, self.upper)
        if gearing is not None:
            gearing.write(self.constants)
        self.length = arm_length(S, M)
        middle = 0.5 * (np.maximum(self.lower, -1e9) + np.minimum(self.upper, 1e9))
        self._bounded = np.isfinite(self.lower) & np.isfinite(self.upper)
        self.middle = np.clip(np.where(self._bounded, middle, 0.0), self.lower, self.upper)

    def carrying(self, tool: Array) -> Mechanism:
        """Return the mechanism of a point at tool (4, 4): tip <- point."""
        other = copy.copy(self)
        other.constants = with_tool(self.constants, tool)
        other.length = self.length + float(np.linalg.norm(tool[:3, 3]))
        return other

    def slots(self, out: Array) -> Array:
        """Return the slots (k, size + SLOT) that are in use, as a view."""
        return out[HEAD:].reshape(-1, self.size + SLOT)[: max(1, int(out[FOUND]))]

    def has_spare_motion(self, opt: Array) -> bool:
        """Return whether the arm can move while nothing changes that was asked for."""
        rng = np.random.default_rng(0)
        reach = math.pi * self.constants[1:, kernels.UNIT]
        low, high = np.maximum(self.lower, -reach), np.minimum(self.upper, reach)
        own = self.constants[1:, kernels.LEADER] == np.arange(self.size)
        movable = int((own & (self.lower < self.upper)).sum())
        ranks = [self._rank(opt, rng.uniform(low, high)) for _ in range(_SAMPLES)]
        return movable > max(ranks)

    def _rank(self, opt: Array, q: Array) -> int:
        """Return how many independent changes of what counts the joints can make at q."""
        T, J = np.empty((4, 4)), np.empty((6, self.size))
        kernels.fk_jacobian(self.constants, q, T, J)
        moves = T[:3, :3].T @ J[:3], T[:3, :3].T @ J[3:]
        if opt[WHAT] == AXIS_ONLY:
            axis = opt[TOOL : TOOL + 3]
            moves = moves[0], moves[1] - np.outer(axis, axis @ moves[1])
        rows = np.vstack(moves) * opt[EVEN : EVEN + 6, None]
        values = np.linalg.svd(rows, compute_uv=False)
        return int((values > _RANK * max(values[0], 1e-300)).sum())

    def in_order(self, opt: Array, seed: Array, out: Array, count: int) -> Array:
        """Return a result with the preferred ``count`` of its solutions, the best first."""
        slots = self.slots(out)
        rank = slots[:, self.size + 7]
        if opt[CENTRED] != 0.0:
            unit = math.pi * self.constants[1:, kernels.UNIT]
            half = np.where(self._bounded, 0.5 * (self.upper - self.lower), unit)
            gaps = slots[:, : self.size] - np.where(self._bounded, self.middle, seed)
            rank = (opt[OPTIONS:] * (gaps / np.maximum(half, 1e-9)) ** 2).sum(axis=1)
        best = slots[np.argsort(rank, kind="stable")[:count]]
        head = out[:HEAD].copy()
        head[FOUND] = len(best)
        return np.concatenate([head, best.ravel()])
