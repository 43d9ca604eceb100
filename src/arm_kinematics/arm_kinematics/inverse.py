# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics as it is called: arguments checked, search run, status decided."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arm_kinematics.diagnosis import diagnose
from arm_kinematics.errors import KinematicsError
from arm_kinematics.jit import HAVE_NUMBA
from arm_kinematics.kernels_error import AIM
from arm_kinematics.kernels_search import FARTHEST_SEED, FOUND, HEAD, SLOT, USED, search
from arm_kinematics.lie import Array, transform
from arm_kinematics.options import options
from arm_kinematics.result import IkResult, IkStatus

__all__ = ["MAX_STARTS", "Solver"]

MAX_STARTS = 512 if HAVE_NUMBA else 48
"""Descents before a target counts as out of reach."""

_SUCCESS = IkStatus.SUCCESS
_CACHED_OPTIONS = 256
_MOST_SOLUTIONS = 10_000
_AIM_FOR_MANY = 1e-4  # so near to the solution itself that two of one are seen to be the same
_contiguous, _FLOAT = np.ascontiguousarray, np.float64  # looked up once


class Solver:
    """The search of one chain, with everything that does not change between calls prepared.

    Attributes:
        constants: Table of the chain, see kernels.py.
        joint_names: Names of the joints.
        lower, upper: Limits (n,) [rad or m].
        length: Length of the arm [m].
    """

    def __init__(
        self,
        constants: Array,
        joint_names: Sequence[str],
        lower: Array,
        upper: Array,
        length: float,
    ) -> None:
        self.constants = constants
        self.joint_names = tuple(joint_names)
        self.lower, self.upper = lower, upper
        self.n = len(self.joint_names)
        self.length = length
        middle = 0.5 * (np.maximum(lower, -1e9) + np.minimum(upper, 1e9))
        self.middle = np.where(np.isfinite(lower) & np.isfinite(upper), middle, 0.0)
        self.middle = np.clip(self.middle, lower, upper)
        self._options: dict[Any, Array] = {}

    def quick(self, T: Any, seed: Any, key: Any, out: Array) -> bool:
        """Return whether out now holds a solution found from the first starts.

        False, too, for whatever is not right about the arguments: ``solve`` says what.
        """
        try:
            opt = self._options[key]
            target = _contiguous(T, _FLOAT)
            start = self.middle if seed is None else _contiguous(seed, _FLOAT)
            return bool(search(self.constants, opt, target, start, out) == 1)
        except (KeyError, TypeError, ValueError):
            return False

    def solve(
        self,
        T: Any,
        seed: Any,
        key: tuple[str, Any, Any],
        allow_approximate: bool,
        max_solutions: int,
        deadline: float | None,
        out: Array | None,
    ) -> IkResult:
        """Solve for one target, with all checks.

        Args:
            T: See ``Chain.ik``, as for the other arguments that are not here.
            seed: See there.
            key: Mode, position tolerance, orientation tolerance.
            allow_approximate: See there.
            max_solutions: See there.
            deadline: When to stop, on the monotonic clock [s].
            out: What ``quick`` has left, to go on from.
        """
        if not 1 <= max_solutions <= _MOST_SOLUTIONS:
            raise KinematicsError(
                f"max_solutions is {max_solutions}; expected 1 to {_MOST_SOLUTIONS}",
                what="max_solutions",
                value=max_solutions,
            )
        opt = self._known_options(key)
        target = np.ascontiguousarray(transform(T, "target"))
        start = self.middle if seed is None else self._seed(seed)
        if max_solutions > 1:
            opt = opt.copy()
            opt[AIM] = _AIM_FOR_MANY
        if out is None:
            out = np.zeros(HEAD + max_solutions * (self.n + SLOT))
        late = False
        while out[USED] < MAX_STARTS and not late:
            found = search(self.constants, opt, target, start, out)
            if found < 0:  # on the very edge of what was checked above
                raise KinematicsError("target: is not a rigid motion", what="target", value=T)
            if found == max_solutions:
                break
            late = deadline is not None and time.monotonic() > deadline
        if out[FOUND] > 0:
            return IkResult(_SUCCESS, out, self.n)
        return diagnose(self, target, start, opt, out, allow_approximate, deadline, late)

    def _known_options(self, key: tuple[str, Any, Any]) -> Array:
        with suppress(KeyError, TypeError):
            return self._options[key]
        opt = options(*key, self.length)
        if len(self._options) >= _CACHED_OPTIONS:
            self._options.clear()
        with suppress(TypeError):  # a list or an array: right, but it cannot be a key
            self._options[key] = opt
        return opt

    def _seed(self, seed: ArrayLike) -> Array:
        try:
            array = np.ascontiguousarray(seed, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.shape != (self.n,) or not (np.abs(array) < FARTHEST_SEED).all():
            raise KinematicsError(
                f"seed: expected {self.n} finite numbers in the order "
                f"{', '.join(self.joint_names)}, got {seed!r}",
                what="seed",
                value=seed,
            )
        return array


def deadline_after(timeout: float) -> float:
    """Return the time on the monotonic clock at which a timeout [s] from now is over."""
    if not timeout > 0.0:
        raise KinematicsError(
            f"timeout is {timeout} s; expected a positive number or None",
            what="timeout",
            value=timeout,
        )
    return time.monotonic() + timeout
