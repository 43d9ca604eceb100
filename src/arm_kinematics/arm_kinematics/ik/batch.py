# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics for many targets on all cores, with the same results as single calls."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from arm_common.transforms import Array
from arm_description.model.constraints import SLACK
from numpy.typing import ArrayLike, NDArray

from arm_kinematics.arguments import floats
from arm_kinematics.errors import CanceledError, KinematicsError
from arm_kinematics.ik.constrained import ConstrainedSolver
from arm_kinematics.ik.result import IkResult, IkStatus
from arm_kinematics.ik.solver import IkSolver, PreparedOptions, checked_seed, deadline_after
from arm_kinematics.kernels.compiled import solve_many
from arm_kinematics.kernels.layout import FARTHEST_SEED, Records, result_dtype

_BLOCK_SIZE = 128  # targets that a core takes at a time; Ctrl-C waits for the end of a block
_LIMITED_BLOCK_SIZE = 32  # where the limits of the batch are checked before each block
_MIN_FOR_THREADS = 32  # targets; fewer are not worth starting threads for


@dataclass(frozen=True)
class IkBatch:
    """The results for many targets; row k belongs to target k.

    A target for which no time was left has the status TIMEOUT, its seed as q, and infinite errors.

    Attributes:
        status: Values of IkStatus (m,).
        q: Joint positions (m, n) [rad or m] of the solution, or of the best approximation.
        position_error: Distances from the target positions (m,) [m].
        orientation_error: Angles from the target orientations (m,) [rad].
        distance: Weighted distances of q from the seeds (m,).
    """

    status: NDArray[np.int8]
    q: Array
    position_error: Array
    orientation_error: Array
    distance: Array

    @property
    def ok(self) -> NDArray[np.bool_]:
        """True for SUCCESS and APPROXIMATE (m,)."""
        return np.asarray(self.status > 0)

    def __len__(self) -> int:
        return len(self.status)


class BatchLimits(NamedTuple):
    """What ends a batch, or the search for one of its targets, early."""

    timeout: float | None  # of each target [s]
    end: float  # of the whole batch, on the monotonic clock [s]
    canceled: Callable[[], bool] | None

    @property
    def is_over(self) -> bool:
        """Whether the time of the batch has passed; raises CanceledError if it was cancelled."""
        if self.canceled is not None and self.canceled():
            raise CanceledError("the batch was cancelled")
        return time.monotonic() > self.end

    def deadline(self) -> float:
        """Return the deadline of a target that begins now, on the monotonic clock [s]."""
        return min(deadline_after(self.timeout), self.end)


class BatchSolver:
    """Solver for many targets; arguments as in ``Chain.ik_batch``."""

    def __init__(
        self,
        solver: IkSolver,
        Ts: ArrayLike,
        seeds: ArrayLike | None,
        prepared: PreparedOptions,
        allow_approximate: bool,
        limits: BatchLimits,
    ) -> None:
        self._solver, self._prepared, self._limits = solver, prepared, limits
        limits.deadline()  # raises KinematicsError if the timeout is invalid
        self._allow_approximate = allow_approximate
        self._Ts = _targets(Ts, prepared.position_only)
        count = len(self._Ts)
        self._seeds, self._has_seeds = _seeds(solver, seeds, count), seeds is not None
        self._is_abandoned = False
        self._status = np.full(count, IkStatus.SUCCESS, dtype=np.int8)
        single = result_dtype(solver.model.size, 1)
        self._outs = np.zeros(count, single)
        self._numbers = self._outs.view(np.float64).reshape(count, single.itemsize // 8)
        self._rows = np.zeros((count, solver.chain.n + 3))

    def run(self) -> IkBatch:
        """Solve all targets.

        Raises:
            CanceledError: The batch was cancelled.
            KinematicsError: One of the targets is invalid.
        """
        cores, count = usable_cores(), len(self._Ts)
        may_end_early = self._limits.canceled is not None or math.isfinite(self._limits.end)
        max_size = _LIMITED_BLOCK_SIZE if may_end_early else _BLOCK_SIZE
        size = max(min(max_size, -(-count // cores)), 1)
        blocks = [slice(at, at + size) for at in range(0, count, size)]
        if cores == 1 or count < _MIN_FOR_THREADS:
            for block in blocks:
                self._solve_block(block)
        else:
            self._solve_by_threads(cores, blocks)
        self._keep_constraints()
        n = self._solver.chain.n
        a = self._rows
        return IkBatch(self._status, a[:, :n].copy(), a[:, n], a[:, n + 1], a[:, n + 2])

    def _solve_by_threads(self, cores: int, blocks: Sequence[slice]) -> None:
        with ThreadPoolExecutor(cores) as pool:
            try:
                list(pool.map(self._solve_block, blocks))
            except BaseException:  # Ctrl-C, too: the threads must not finish the batch first
                self._is_abandoned = True
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _solve_block(self, block: slice) -> None:
        if self._limits.is_over:
            self._leave(range(*block.indices(len(self._Ts))))
            return
        if self._prepared.nearest is not None:
            self._try_first(block)
            self._rows[block] = _summary(self._outs[block])
        left = np.flatnonzero(self._outs["solutions"][block] == 0.0) + block.start
        for i, k in enumerate(left.tolist()):
            if self._is_abandoned:
                return
            if self._limits.is_over:
                self._leave(left[i:])
                return
            self._solve_one(k)

    def _leave(self, rows: Any) -> None:
        """Fill the results of targets for which no time is left."""
        self._status[rows] = IkStatus.TIMEOUT
        n = self._solver.chain.n
        self._rows[rows, :n] = self._seeds[rows]
        self._rows[rows, n : n + 2], self._rows[rows, n + 2] = np.inf, 0.0

    def _try_first(self, block: slice) -> None:
        """Run the first attempt of ``Chain.ik`` for a block of targets."""
        prepared, constants = self._prepared, self._solver.model.constants
        plan = None if prepared.form is None else prepared.form.plan
        Ts, seeds, numbers = self._Ts[block], self._seeds[block], self._numbers[block]
        solve_many(constants, prepared.descent, prepared.exact, plan, Ts, seeds, numbers)

    def _solve_one(self, k: int) -> None:
        """Solve one target that the first attempt did not solve."""
        deadline, approximate = self._limits.deadline(), self._allow_approximate
        T, seed = self._Ts[k], self._seeds[k]
        out = self._outs[k : k + 1].reshape(()) if self._prepared.is_quick else None
        try:
            result = self._solver.solve(T, seed, self._prepared, approximate, 1, deadline, out=out)
        except KinematicsError as error:
            raise KinematicsError(f"target {k + 1}: {error}", what=error.what) from None
        self._keep(k, result)

    def _keep(self, k: int, result: IkResult) -> None:
        self._status[k] = result.status
        q, *rest = result.solutions[0]
        self._rows[k] = [*q, *rest]

    def _keep_constraints(self) -> None:
        """Solve those targets again whose result is outside the constraints of the chain."""
        solver, n = self._solver, self._solver.chain.n
        violations = solver.chain.constraints.violation(self._rows[:, :n])
        for k in np.flatnonzero(violations > SLACK).tolist():
            if self._limits.is_over:
                self._status[k] = IkStatus.TIMEOUT
                self._rows[k, n : n + 2] = math.inf
                continue
            seed = self._seeds[k] if self._has_seeds else None
            request = self._Ts[k], seed, self._prepared, self._limits.deadline()
            constrained = ConstrainedSolver(solver.chain, solver, *request)
            self._keep(k, constrained.solve(self._allow_approximate, 1))


def _summary(outs: Records) -> Array:
    """Return positions, both errors and distance (m, n + 3) of single-slot results."""
    slots = outs["slots"][:, 0]
    lengths = np.sqrt((slots["error"].reshape(-1, 2, 3) ** 2).sum(axis=2))
    return np.hstack([slots["q"], lengths, slots["distance"][:, None]])


def _targets(Ts: ArrayLike, position_only: bool) -> Array:
    targets = floats(Ts)
    if position_only and targets is not None and targets.ndim == 2 and targets.shape[1] == 3:
        points, targets = targets, np.tile(np.eye(4), (len(targets), 1, 1))
        targets[:, :3, 3] = points
    if targets is None or targets.ndim != 3 or targets.shape[1:] != (4, 4):
        found = "something else" if targets is None else targets.shape
        raise KinematicsError(
            f"targets: expected numbers of shape (m, 4, 4), got {found}", what="targets", value=Ts
        )
    return targets


def _seeds(solver: IkSolver, seeds: Any, count: int) -> Array:
    """Return a seed for each target (count, n)."""
    if seeds is None:
        return np.tile(solver.chain.middle, (count, 1))
    array = floats(seeds)
    if array is None:
        array = np.empty((count, 0))
    if array.ndim != 2:
        return np.tile(checked_seed(seeds, solver.chain.joint_names), (count, 1))
    if len(array) != count:
        raise KinematicsError(
            f"seeds: {len(array)} for {count} targets; expected one for each, or one for all",
            what="seeds",
        )
    if array.shape[1] != solver.chain.n or not (np.abs(array) < FARTHEST_SEED).all():
        for seed in seeds:  # raises the error of the invalid one
            checked_seed(seed, solver.chain.joint_names)
    return array


def usable_cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
