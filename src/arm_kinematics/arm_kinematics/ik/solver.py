# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The solver of a chain: in closed form, by elimination, or by search.

The arm and the request decide which:

- a closed form if the geometry has one (closed_form/), in a few microseconds;
- for all solutions of six revolute joints, elimination (general_6r/), about a millisecond;
- for all solutions of seven, postures spread over their self-motion: with the last joint locked
  if that leaves a closed form (closed_form/locked.py), otherwise traced (redundancy.py);
- otherwise the solutions that a search finds.

Without a solution, the search finds the reason, or a posture that is within tolerance but not
exact: for a target just beyond the edge of reach, or slightly off the poses of an arm of few
joints.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from arm_common.jit import HAVE_NUMBA
from arm_common.transforms import Array, inverse, pose
from numpy.typing import ArrayLike

from arm_kinematics.arguments import require, target_pose, vector
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.closed_form.branches import solve_all, solve_nearest
from arm_kinematics.ik.closed_form.locked import locked_form
from arm_kinematics.ik.closed_form.recognition import ClosedForm, given_branches, recognise
from arm_kinematics.ik.diagnosis import diagnose
from arm_kinematics.ik.general_6r.solver import General6R
from arm_kinematics.ik.options import IkOptions, OptionKey, option_array
from arm_kinematics.ik.redundancy import sampled_solutions
from arm_kinematics.ik.result import IkResult, IkStatus, with_whole_turns
from arm_kinematics.ik.search_model import SearchModel
from arm_kinematics.kernels import residuals as k
from arm_kinematics.kernels.search import BEST, FARTHEST_SEED, FOUND, HEAD, SLOT, USED, search

if TYPE_CHECKING:
    from arm_kinematics.chain.chain import Chain

_MAX_SOLUTIONS = 10_000
_MAX_SEARCHED = 16
"""Solutions to search for if all are requested and only the search applies."""
_MAX_STARTS = 512 if HAVE_NUMBA else 48
"""Descents before a target counts as out of reach."""
_STARTS_TO_CHOOSE = 64 if HAVE_NUMBA else 8
"""Descents before the preferred solution is chosen."""
_SLOTS_TO_CHOOSE = 16
_WORTH, _WORTH_MUCH = 0.2, 1e-6
"""Smallest gain of a null-space step, as a share of the squared distance: usually, to choose."""
_AIM_EXACT, _AIM_WITHIN = 1e-5, 1.0
"""Shares of the tolerances, or of the defaults if smaller; exact is 1e-10 m and 1e-9 rad."""
_AIM_FOR_MANY = 1e-4  # so accurate that duplicates are recognised
_CACHE_SIZE = 256
_WEIGHTS = IkOptions._fields.index("weights")
_PREFER = IkOptions._fields.index("prefer")
_MODES = {k.NOTHING: "position", k.AXIS_ONLY: "position_axis", k.ROTATION: "pose"}
# Looked up once instead of at every call.
_contiguous, _zeros, _FLOAT = np.ascontiguousarray, np.zeros, np.float64
_SUCCESS = IkStatus.SUCCESS
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def checked_seed(seed: ArrayLike, joint_names: Sequence[str]) -> Array:
    """Return a seed as an array (n,), or raise KinematicsError."""
    expected = f"finite numbers in the order {', '.join(joint_names)}"
    return vector(seed, len(joint_names), "seed", expected, lambda q: np.abs(q) < FARTHEST_SEED)


def deadline_after(timeout: float | None) -> float:
    """Return the end of a timeout [s] on the monotonic clock [s]; inf for None."""
    if timeout is None:
        return math.inf
    if isinstance(timeout, bool) or not (isinstance(timeout, Real) and timeout > 0.0):
        raise KinematicsError(
            f"timeout is {timeout!r} s; expected a positive number or None",
            what="timeout",
            value=timeout,
        )
    return time.monotonic() + timeout


def check_count(max_solutions: int | None) -> None:
    """Raise KinematicsError if a number of solutions is invalid; None means all."""
    if max_solutions is not None:
        valid = isinstance(max_solutions, Integral) and 1 <= max_solutions <= _MAX_SOLUTIONS
        require(valid, "max_solutions", max_solutions, f"1 to {_MAX_SOLUTIONS}")


class IkSolver:
    """The solver of one chain for one tool point; a ``key`` holds the fields of IkOptions.

    Closed forms are recognised at their first use, and kept.

    Attributes:
        chain: The chain.
        model: The chain as the search uses it.
        tool: Pose (4, 4) of the tool point in the tip frame; None is the tip itself.
    """

    def __init__(self, chain: Chain, model: SearchModel, tool: Array | None = None) -> None:
        """Prepare for a tool point (4, 4): tip <- point; None is the tip itself."""
        self.chain, self.tool = chain, tool
        self.model = model if tool is None else model.with_tool(tool)
        self._home = chain.M if tool is None else chain.M @ tool
        self._constants, self._middle = self.model.constants, model.middle
        self._options: dict[OptionKey, Array] = {}
        self._quick: dict[OptionKey, Array | None] = {}
        self._forms: dict[bytes, ClosedForm | None] = {}
        self._known: dict[OptionKey, tuple[ClosedForm, Array, Array] | None] = {}
        self._n = chain.n
        self._general: General6R | None = None
        self._locked: Callable[..., Array] | None = None

    def by_form(
        self, T: ArrayLike, seed: ArrayLike | None, key: OptionKey, one: bool
    ) -> IkResult | None:
        """Return all solutions, or the nearest one, by the closed form.

        None without a closed form or a solution, or for invalid arguments: ``solve`` reports them.
        """
        try:
            known = self._known[key]
        except (KeyError, TypeError):  # not cached, or a list or an array, which cannot be a key
            known = self.known(key)
        if known is None:
            return None
        form, opt, exact = known
        c, plan, out = self._constants, form.plan, _zeros(form.shape)
        try:
            target = _contiguous(T, _FLOAT)
            start = self._middle if seed is None else _contiguous(seed, _FLOAT)
            if one:
                found = solve_nearest(c, opt, exact, plan, target, start, out)
            else:
                found = solve_all(c, exact, plan, target, start, out)
        except (TypeError, ValueError):
            return None
        return IkResult(_SUCCESS, out, self._n) if found > 0 else None

    def known(self, key: OptionKey) -> tuple[ClosedForm, Array, Array] | None:
        """Return the closed form for some options, with the options of its descent and branches.

        None if there is none, or if another than the nearest solution is preferred.
        """
        opt = self.options(key)
        form = self._form(opt)
        known = None
        if form is not None and opt[k.CENTRED] == 0.0 and key[_PREFER] != "torque":
            descent = opt.copy()
            if not self.is_quick(key):
                descent[k.STARTS] = 0.0  # with weights, the nearest may not be a descent away
            known = form, descent, _with_aim(opt, _AIM_EXACT)
        remember(self._known, key, known)
        return known

    def by_first_starts(
        self, T: ArrayLike, seed: ArrayLike | None, key: OptionKey, out: Array
    ) -> bool:
        """Search from the first starts; return whether out holds a solution.

        False also for invalid arguments: ``solve`` reports them.
        """
        try:
            opt = self._quick[key]
        except (KeyError, TypeError):  # not cached, or a list or an array, which cannot be a key
            opt = self.options(key) if self.is_quick(key) else None
            remember(self._quick, key, opt)
        if opt is None:
            return False
        try:
            target = _contiguous(T, _FLOAT)
            start = self._middle if seed is None else _contiguous(seed, _FLOAT)
            return bool(search(self._constants, opt, target, start, out) == 1)
        except (TypeError, ValueError):
            return False

    def solve(
        self,
        T: ArrayLike,
        seed: ArrayLike | None,
        key: OptionKey,
        allow_approximate: bool,
        max_solutions: int | None,
        deadline: float,
        whole_turns: bool,
        out: Array | None = None,
    ) -> IkResult:
        """Solve for one target, with all checks; None for max_solutions means all.

        ``deadline`` is on the monotonic clock [s]; ``out`` is the result of ``by_first_starts`` to
        continue from. The other arguments are those of ``Chain.all_solutions``.
        """
        check_count(max_solutions)
        opt = self.options(key)
        if key[_PREFER] == "torque":
            others: OptionKey = (*key[:-1], "nearest")
            many = max_solutions and max(max_solutions, _SLOTS_TO_CHOOSE)
            rest = allow_approximate, many, deadline, whole_turns
            return self._least_loaded(self.solve(T, seed, others, *rest), max_solutions)
        target = target_pose(T, key[0] == "position")
        start = self._middle if seed is None else self._start(seed)
        u, _, v = np.linalg.svd(target[:3, :3])  # a rotation of few digits has no exact solution
        exact = pose(u @ v, target[:3, 3])
        # With free joints, the centred posture is not among the branches.
        centred = max_solutions == 1 and opt[k.CENTRED] != 0.0
        form = None if centred else self._form(opt)
        many = max_solutions != 1 or not (centred or self.is_quick(key))
        if form is None and many and opt[k.WHAT] == k.ROTATION and self._is_bound(opt):
            form = self._eliminated(exact, start, max_solutions is None, deadline)
        if form is not None:
            for aim in (_AIM_EXACT, _AIM_WITHIN) if many else (_AIM_EXACT,):
                found, aimed = _zeros(form.shape), _with_aim(opt, aim)
                count = solve_all(self._constants, aimed, form.plan, exact, start, found)
                if count > 0:
                    found = self._sorted(found, opt, start, max_solutions or count, whole_turns)
                    return IkResult(_SUCCESS, found, self.chain.n)
        number = max_solutions or (_MAX_SEARCHED if form is None else 1)
        choose = number > 1 or self._has_to_choose(key, opt)
        opt = _with_aim(opt, _AIM_FOR_MANY if choose else opt[k.AIM])
        opt[k.DEADLINE] = deadline
        opt[k.KEEP_SEED] *= max_solutions == 1
        result = self._by_search(opt, target, start, out, number, choose, whole_turns)
        if allow_approximate and not result.ok and result.status != IkStatus.TIMEOUT:
            result.status = IkStatus.APPROXIMATE
        return result

    def _least_loaded(self, result: IkResult, count: int | None) -> IkResult:
        """Return the solutions in which gravity loads the joints least, the best first.

        What counts is the joint with the largest share of its effort limit; without limits, the
        one with the largest torque.
        """
        torques = np.abs(self.chain.gravity_torques(result.every_q))
        if np.isfinite(self.chain.effort).any():
            torques /= self.chain.effort
        order = np.argsort(torques.max(axis=1), kind="stable")
        return result.selected(order[:count].tolist()) if result.ok else result

    def _by_search(
        self,
        opt: Array,
        T: Array,
        start: Array,
        out: Array | None,
        number: int,
        choose: bool,
        whole_turns: bool,
    ) -> IkResult:
        shape = self.result_shape(max(number, _SLOTS_TO_CHOOSE) if choose else 1)
        if out is None or out.shape != shape:
            out = _zeros(shape)
        self._search(opt, T, start, out, number)
        reason = None
        if out[HEAD, FOUND] > 0:
            out = self._sorted(out, opt, start, number, whole_turns)
        else:
            reason, out = diagnose(self.model, T, start, opt, out)
        if self.chain.gearing is not None:
            out = self.chain.gearing.result(out)
        return IkResult(reason.status if reason else _SUCCESS, out, self.chain.n, reason)

    def _sorted(
        self, out: Array, opt: Array, start: Array, count: int, whole_turns: bool
    ) -> Array:
        """Return a result with the preferred solutions, the best first, or with all variants."""
        out = self.model.sorted_result(opt, start, out, count)
        return with_whole_turns(self.model, opt, start, out) if whole_turns else out

    def _search(self, opt: Array, T: Array, start: Array, out: Array, number: int) -> None:
        """Search until out holds enough solutions or the deadline has passed."""
        slots = len(out) - BEST
        while out[HEAD, USED] < _MAX_STARTS:
            found = search(self._constants, opt, T, start, out)
            if found < 0:  # passed rigid_transform by less than rounding
                raise KinematicsError("target: not a rigid motion", what="target", value=T)
            enough = found == slots or (found >= number and out[HEAD, USED] >= _STARTS_TO_CHOOSE)
            if enough or time.monotonic() > opt[k.DEADLINE]:
                return

    def options(self, key: OptionKey) -> Array:
        """Return the flat options for the fields of IkOptions, from a cache if possible."""
        with suppress(KeyError, TypeError):
            return self._options[key]
        opt = option_array(IkOptions(*key), self.model.length, self.chain.joint_names)
        if self.chain.gearing is not None:
            weights = self.chain.gearing.weights(opt[k.OPTIONS :])
            opt = np.concatenate([opt[: k.OPTIONS], weights])
        if self.model.has_spare_motion(opt):
            opt[k.SPARE] = _WORTH_MUCH if self._has_to_choose(key, opt) else _WORTH
        remember(self._options, key, opt)
        return opt

    def is_quick(self, key: OptionKey) -> bool:
        """Return whether the first solution found is good enough for some options."""
        return self.chain.gearing is None and not self._has_to_choose(key, self.options(key))

    @staticmethod
    def _has_to_choose(key: OptionKey, opt: Array) -> bool:
        """Return whether another than the first solution may be preferred."""
        chosen = bool(opt[k.CENTRED]) or key[_PREFER] == "torque"
        return chosen or key[_WEIGHTS] is not None

    def result_shape(self, slots: int) -> tuple[int, int]:
        """Return the shape of a search result."""
        return BEST + slots, self.model.size + SLOT

    def _start(self, seed: ArrayLike) -> Array:
        """Return the row positions of a checked seed (n,)."""
        array = checked_seed(seed, self.chain.joint_names)
        return array if self.chain.gearing is None else self.chain.gearing.positions(array)

    def _form(self, opt: Array) -> ClosedForm | None:
        """Return the closed form for some options; None if there is none."""
        if not self._is_bound(opt):
            return None
        question = opt[[k.WHAT, k.TOOL, k.TOOL + 1, k.TOOL + 2]].tobytes()
        if question not in self._forms:
            mode, axis, chain = _MODES[int(opt[k.WHAT])], opt[k.TOOL : k.TOOL + 3], self.chain
            form = recognise(chain.S, self._home, chain.prismatic, mode, axis)
            self._forms[question] = form
        return self._forms[question]

    def _is_bound(self, opt: Array) -> bool:
        """Return whether all solved components have tolerances, and there are no mimic joints."""
        count = 6 if opt[k.WHAT] == k.ROTATION else 3
        bound = bool((opt[k.BOUNDS : k.BOUNDS + count] > 0.0).all())
        return bound and self.chain.gearing is None

    def _eliminated(
        self, T: Array, seed: Array, sampled: bool, deadline: float
    ) -> ClosedForm | None:
        """Return all solutions of six revolute joints, or samples of seven, as a form."""
        chain = self.chain
        if any(chain.prismatic) or chain.n not in (6, 7):
            return None
        if chain.n == 6:
            if self._general is None:
                self._general = General6R(chain.S, self._home)
            branches = self._general.solve(T)
        elif sampled:
            tip = T if self.tool is None else T @ inverse(self.tool)
            if self._locked is None:
                chosen = locked_form(chain.S, chain.M, chain.prismatic, self._constants)
                self._locked = chosen or partial(sampled_solutions, chain)
            branches = self._locked(tip, seed, deadline=deadline)
        else:
            return None
        return given_branches(self.model.length, branches)


def _with_aim(opt: Array, aim: float) -> Array:
    """Return options with another accuracy to aim at."""
    aimed: Array = opt.copy()
    aimed[k.AIM] = aim
    return aimed


def remember(cache: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    """Cache a value; a full cache is emptied first."""
    if len(cache) >= _CACHE_SIZE:
        cache.clear()
    with suppress(TypeError):  # a list or an array is valid but cannot be a key
        cache[key] = value
