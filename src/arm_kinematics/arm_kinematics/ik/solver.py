# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The numerical solver: check the arguments, run the search, decide the status."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from numbers import Integral
from typing import Any

import numpy as np
from arm_common.jit import HAVE_NUMBA
from arm_common.transforms import Array
from numpy.typing import ArrayLike

from arm_kinematics.arguments import positive, require, rigid_transform, vector
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.diagnosis import diagnose
from arm_kinematics.ik.options import IkOptions, option_array
from arm_kinematics.ik.result import IkResult, IkStatus, with_whole_turns
from arm_kinematics.ik.search_model import SearchModel
from arm_kinematics.kernels.residuals import AIM, CENTRED, DEADLINE, OPTIONS, SPARE
from arm_kinematics.kernels.search import FARTHEST_SEED, FOUND, HEAD, SLOT, USED, search
from arm_kinematics.model.mimic_joints import MimicJoints

_MOST_SOLUTIONS = 10_000
MAX_STARTS = 512 if HAVE_NUMBA else 48
"""Descents before a target counts as out of reach."""
_STARTS_TO_CHOOSE = 64 if HAVE_NUMBA else 8
"""Descents before one is chosen, where not the first solution is wanted but the preferred one."""
_SLOTS_TO_CHOOSE = 16
_WORTH, _WORTH_MUCH = 0.2, 1e-6
"""Shares of the squared distance worth a null-space step: usually, and to choose."""

_WEIGHTS = IkOptions._fields.index("weights")
_CACHED = 256
_AIM_FOR_MANY = 1e-4  # so near to the solution itself that two of one are seen to be the same
_contiguous, _FLOAT = np.ascontiguousarray, np.float64  # looked up once


def check_count(max_solutions: int) -> None:
    """Raise KinematicsError if so many solutions cannot be searched for."""
    fine = isinstance(max_solutions, Integral) and 1 <= max_solutions <= _MOST_SOLUTIONS
    require(fine, "max_solutions", max_solutions, f"1 to {_MOST_SOLUTIONS}")


def checked_seed(seed: ArrayLike, joint_names: Sequence[str]) -> Array:
    """Return a seed as an array (n,), or raise KinematicsError."""
    expected = f"finite numbers in the order {', '.join(joint_names)}"
    return vector(seed, len(joint_names), "seed", expected, lambda q: np.abs(q) < FARTHEST_SEED)


def deadline_after(timeout: float | None) -> float:
    """Return when a timeout [s] from now is over, on the monotonic clock [s]; None is never."""
    if timeout is None:
        return math.inf
    return time.monotonic() + positive(timeout, "timeout", "a positive number of seconds or None")


class IkSolver:
    """The search of one chain, with everything that does not change between calls prepared.

    Attributes:
        model: The chain, as the search knows it.
        joint_names: Names of the joints.
        gearing: Which joint drives which rows of the model; None if each its own.
    """

    def __init__(
        self, model: SearchModel, joint_names: tuple[str, ...], gearing: MimicJoints | None
    ) -> None:
        self.model, self.joint_names, self.gearing = model, joint_names, gearing
        self.n = len(joint_names)
        self._constants, self._middle = model.constants, model.middle
        self._options: dict[Any, Array] = {}

    @property
    def middle(self) -> Array:
        """Joint positions (n,) in the middle of their ranges, 0 where there are no limits."""
        middle = self._middle
        return middle.copy() if self.gearing is None else self.gearing.joints(middle)

    def with_tool(self, tool: Array) -> IkSolver:
        """Return the solver for a point at tool (4, 4): tip <- point."""
        return IkSolver(self.model.with_tool(tool), self.joint_names, self.gearing)

    def quick(self, T: Any, seed: Any, key: Any, out: Array) -> bool:
        """Return whether out now holds a solution found from the first starts.

        False, too, for invalid arguments: ``solve`` reports them.
        """
        if not self.is_quick(key):
            return False
        opt = self.options(key)
        try:
            target = _contiguous(T, _FLOAT)
            start = self._middle if seed is None else _contiguous(seed, _FLOAT)
            return bool(search(self._constants, opt, target, start, out) == 1)
        except (TypeError, ValueError):
            return False

    def solve(
        self,
        T: Any,
        seed: Any,
        key: tuple[Any, ...],
        allow_approximate: bool,
        max_solutions: int,
        deadline: float,
        out: Array | None,
        whole_turns: bool = False,
    ) -> IkResult:
        """Solve for one target, with all checks.

        ``key`` are the fields of IkOptions, ``deadline`` is on the monotonic clock [s], ``out`` is
        what ``quick`` has left, to go on from. The rest are as of ``Chain.all_solutions``.
        """
        check_count(max_solutions)
        opt = self.options(key)
        target = rigid_transform(T, "target")
        start = self._middle if seed is None else self.start(seed)
        choose = max_solutions > 1 or self._has_to_choose(key, opt)
        opt = opt.copy()
        opt[DEADLINE] = deadline
        if choose:
            opt[AIM] = _AIM_FOR_MANY
        size = self.result_size(max(max_solutions, _SLOTS_TO_CHOOSE) if choose else 1)
        if out is None or out.size != size:
            out = np.zeros(size)
        self._search(opt, target, start, out, max_solutions, deadline)
        reason, status = None, IkStatus.SUCCESS
        if out[FOUND] > 0:
            out = self.model.in_order(opt, start, out, max_solutions)
            if whole_turns:
                out = with_whole_turns(self.model, opt, start, out)
        else:
            reason, out = diagnose(self.model, target, start, opt, out, deadline)
        if reason is not None:
            status = reason.status
            if allow_approximate and status != IkStatus.TIMEOUT:
                status = IkStatus.APPROXIMATE
        if self.gearing is not None:
            out = self.gearing.result(out)
        return IkResult(status, out, self.n, reason)

    def _search(
        self, opt: Array, T: Array, start: Array, out: Array, wanted: int, deadline: float
    ) -> None:
        """Fill out, until enough is found or the deadline has passed."""
        slots = (out.size - HEAD) // (self.model.size + SLOT)
        while out[USED] < MAX_STARTS:
            found = search(self._constants, opt, T, start, out)
            if found < 0:  # on the very edge of what was checked before
                raise KinematicsError("target: is not a rigid motion", what="target", value=T)
            enough = found == slots or (found >= wanted and out[USED] >= _STARTS_TO_CHOOSE)
            if enough or time.monotonic() > deadline:
                return

    def options(self, key: tuple[Any, ...]) -> Array:
        """Return the flat options for the fields of IkOptions; kept for the next time."""
        with suppress(KeyError, TypeError):
            return self._options[key]
        opt = option_array(IkOptions(*key), self.model.length, self.joint_names)
        if self.gearing is not None:
            opt = np.concatenate([opt[:OPTIONS], self.gearing.weights(opt[OPTIONS:])])
        if self.model.has_spare_motion(opt):
            opt[SPARE] = _WORTH_MUCH if self._has_to_choose(key, opt) else _WORTH
        with suppress(TypeError):  # a list or an array: right, but it cannot be a key
            remember(self._options, key, opt)
        return opt

    def is_quick(self, key: tuple[Any, ...]) -> bool:
        """Return whether for some options the first solution that is found will do."""
        return self.gearing is None and not self._has_to_choose(key, self.options(key))

    def result_size(self, slots: int) -> int:
        """Return the length of a result of the search."""
        size: int = HEAD + slots * (self.model.size + SLOT)
        return size

    def start(self, seed: ArrayLike) -> Array:
        """Return a seed (n,), checked, as the positions of the rows."""
        array = checked_seed(seed, self.joint_names)
        return array if self.gearing is None else self.gearing.positions(array)

    @staticmethod
    def _has_to_choose(key: tuple[Any, ...], opt: Array) -> bool:
        """Return whether the first solution will not do, because another may be preferred."""
        return bool(opt[CENTRED]) or key[_WEIGHTS] is not None


def remember(known: dict[Any, Any], key: Any, value: Any) -> None:
    """Keep a value for a key; forget all if there are too many."""
    if len(known) >= _CACHED:
        known.clear()
    known[key] = value
