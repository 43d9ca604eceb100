# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The solver of a chain: in closed form, by elimination, or by search.

The arm and the request decide which:

- a closed form if the geometry has one (closed_form.py), in a few microseconds;
- for all solutions of six revolute joints, elimination (general_6r.py), about a millisecond;
- for all solutions of seven, postures spread over their self-motion (redundancy.py): with the last
  joint locked if that leaves a closed form, otherwise traced;
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
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeAlias, TypeVar

import numpy as np
from arm_common.plugins import PluginGroup
from arm_common.transforms import Array, pose
from numpy.typing import ArrayLike

from arm_kinematics.arguments import nearest_rotation, require, target_pose, vector
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.closed_form import ClosedForm, recognise
from arm_kinematics.ik.diagnosis import diagnose
from arm_kinematics.ik.options import OF_ORIENTATION, IkOptions, OptionKey, option_record
from arm_kinematics.ik.result import IkResult, IkStatus, with_whole_turns
from arm_kinematics.ik.search_model import SearchModel, SerialChain
from arm_kinematics.kernels.compiled import (
    prepare_all,
    prepare_nearest,
    search,
    solve_all,
    solve_given,
)
from arm_kinematics.kernels.layout import (
    FARTHEST_SEED,
    MAX_BRANCHES,
    Orientation,
    Records,
    empty_result,
    options_dtype,
)

_MAX_SOLUTIONS = 10_000
_MAX_SEARCHED = 16
"""Solutions to search for if all are requested and only the search applies."""
_MAX_STARTS = 512
"""Descents before a target counts as out of reach."""
_STARTS_TO_CHOOSE = 64
"""Descents before the preferred solution is chosen."""
_SLOTS_TO_CHOOSE = 16
_WORTH, _WORTH_MUCH = 0.2, 1e-6
"""Smallest gain of a null-space step, as a share of the squared distance: usually, to choose."""
_AIM_EXACT, _AIM_WITHIN = 1e-5, 1.0
"""Shares of the tolerances, or of the defaults if smaller; exact is 1e-10 m and 1e-9 rad."""
_AIM_FOR_MANY = 1e-4  # so accurate that duplicates are recognised
_CACHE_SIZE = 256
# By the number of revolute joints, those of arms without a closed form: a function of the chain,
# the tool and the table of constants that returns one of a target, a seed and a deadline, for all
# postures (k, n). It is imported for the first such arm.
ALL_SOLUTIONS = PluginGroup(
    "arm_kinematics.all_solutions",
    "method for all solutions",
    {
        "6": "arm_kinematics.ik.general_6r:prepared",
        "7": "arm_kinematics.ik.redundancy:prepared",
    },
)
_SUCCESS, _ROTATION = IkStatus.SUCCESS, Orientation.ROTATION  # a member is slow to look up
_Request: TypeAlias = Callable[[ArrayLike, ArrayLike | None], IkResult | None]
"""A prepared request: of a target and a seed. Without an answer, `IkSolver.solve` says why."""
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


@dataclass(frozen=True, slots=True)  # whose attributes are faster than those of a tuple
class PreparedOptions:
    """Options of inverse kinematics for one chain and tool point, and what follows from them."""

    options: IkOptions  # the options as given
    position_only: bool  # whether no part of the orientation counts
    record: Records  # the options of a search
    is_quick: bool  # whether the first solution found is good enough
    # the closed form; None if there is none, or if another than the nearest solution is preferred
    form: ClosedForm | None
    descent: Records  # the options of the descent of the closed form
    exact: Records  # the options of the branches of the closed form
    # the request for the nearest solution; None if several must be compared. Its first attempts,
    # by the closed form or from some starts, do not look at the time.
    nearest: _Request | None
    every: _Request | None  # the request for all solutions; None without a closed form


class IkSolver:
    """The solver of one chain for one tool point.

    Closed forms are recognised at their first use, and kept.

    Attributes:
        chain: The chain.
        model: The chain as the search uses it.
        tool: Pose (4, 4) of the tool point in the tip frame; None is the tip itself.
    """

    def __init__(self, chain: SerialChain, model: SearchModel, tool: Array | None = None) -> None:
        """Prepare for a tool point (4, 4): tip <- point; None is the tip itself."""
        self.chain, self.tool = chain, tool
        self.model = model if tool is None else model.with_tool(tool)
        self._home = chain.M if tool is None else chain.M @ tool
        self._constants, self._middle = self.model.constants, model.middle
        self._prepared: dict[OptionKey, PreparedOptions] = {}
        self._forms: dict[bytes, ClosedForm | None] = {}
        self._all_postures: Callable[..., Array] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process, which prepares its own requests."""
        return self.__dict__ | {"_prepared": {}, "_all_postures": None}

    def prepared(self, key: OptionKey) -> PreparedOptions:
        """Return what follows from the fields of IkOptions, from a cache if possible."""
        try:
            return self._prepared[key]
        except (KeyError, TypeError):  # not cached, or a list or an array, which cannot be a key
            made = self._prepare(IkOptions(*key))
            remember(self._prepared, key, made)
            return made

    def _prepare(self, options: IkOptions) -> PreparedOptions:
        opt = self._record(options)
        chooses = bool(opt["centred"]) or options.prefer == "torque"
        form = None if chooses else self._form(opt)
        chooses = chooses or options.weights is not None
        if self.model.has_spare_motion(opt):
            opt["smallest_gain"] = _WORTH_MUCH if chooses else _WORTH
        is_quick = self.chain.gearing is None and not chooses
        descent = exact = opt
        nearest = every = None
        if form is not None:
            descent, exact = opt.copy(), _with_aim(opt, _AIM_EXACT)
            if not is_quick:
                descent["starts"] = 0.0  # with weights, the nearest may not be a descent away
        if form is not None or is_quick:
            plan = None if form is None else form.plan
            parts = self._constants, descent, exact, plan, self._middle, IkResult, _SUCCESS
            nearest = prepare_nearest(*parts)
            every = None if form is None else prepare_all(*parts)
        position_only = options.part == Orientation.NOTHING
        records = descent, exact, nearest, every
        return PreparedOptions(options, position_only, opt, is_quick, form, *records)

    def _record(self, options: IkOptions) -> Records:
        """Return the options of a search, with weights of the screws if there are mimic joints."""
        opt = option_record(options, self.model.length, self.chain.joint_names)
        if self.chain.gearing is None:
            return opt
        of_screws = np.zeros((), options_dtype(self.model.size))
        for name in opt.dtype.names or ():
            weights = name == "joint_weights"
            of_screws[name] = self.chain.gearing.weights(opt[name]) if weights else opt[name]
        return of_screws

    def solve(
        self,
        T: ArrayLike,
        seed: ArrayLike | None,
        prepared: PreparedOptions,
        allow_approximate: bool,
        max_solutions: int | None,
        deadline: float,
        whole_turns: bool = False,
        out: Records | None = None,
    ) -> IkResult:
        """Solve for one target, with all checks; None for max_solutions means all.

        ``deadline`` is on the monotonic clock [s]; ``out`` is the result of a search to
        continue from. The other arguments are those of ``Chain.all_solutions``.
        """
        check_count(max_solutions)
        options, opt = prepared.options, prepared.record
        if options.prefer == "torque":
            nearest = self.prepared(options._replace(prefer="nearest"))
            many = max_solutions and max(max_solutions, _SLOTS_TO_CHOOSE)
            rest = allow_approximate, many, deadline, whole_turns
            return self._least_loaded(self.solve(T, seed, nearest, *rest), max_solutions)
        target = target_pose(T, prepared.position_only)
        start = self._middle if seed is None else self._start(seed)
        # A rotation of few digits has no exact solution.
        exact = pose(nearest_rotation(target[:3, :3]), target[:3, 3])
        # With free joints, the centred posture is not among the branches.
        centred = max_solutions == 1 and bool(opt["centred"])
        form = None if centred else self._form(opt)
        postures: Array | None = None
        many = max_solutions != 1 or not (centred or prepared.is_quick)
        if form is None and many and opt["orientation"] == _ROTATION and self._is_bound(opt):
            postures = self._eliminated(exact, start, max_solutions is None, deadline)
        if form is not None or postures is not None:
            for aim in (_AIM_EXACT, _AIM_WITHIN) if many else (_AIM_EXACT,):
                found = self._by_branches(form, postures, _with_aim(opt, aim), exact, start)
                if count := int(found["solutions"]):
                    found = self._sorted(found, opt, start, max_solutions or count, whole_turns)
                    return IkResult.of(_SUCCESS, found)
        is_searched = form is None and postures is None
        number = max_solutions or (_MAX_SEARCHED if is_searched else 1)
        choose = number > 1 or bool(opt["centred"]) or options.weights is not None
        opt = _with_aim(opt, _AIM_FOR_MANY if choose else float(opt["aim"]))
        if max_solutions != 1:
            opt["keep_seed"] = 0.0
        result = self._by_search(opt, target, start, out, number, choose, whole_turns, deadline)
        if allow_approximate and not result.ok and result.status != IkStatus.TIMEOUT:
            result.status = IkStatus.APPROXIMATE
        return result

    def _by_branches(
        self, form: ClosedForm | None, postures: Array | None, opt: Records, T: Array, seed: Array
    ) -> Records:
        """Return the result of the closed form, or of given postures (k, n) of all branches."""
        slots = MAX_BRANCHES if postures is None else max(len(postures), 1)
        c, out = self._constants, empty_result(self.model.size, slots)
        if form is not None:
            solve_all(c, opt, form.plan, T, seed, out)
        elif postures is not None:
            solve_given(c, opt, self.model.length, np.ascontiguousarray(postures), T, seed, out)
        return out

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
        opt: Records,
        T: Array,
        start: Array,
        out: Records | None,
        number: int,
        choose: bool,
        whole_turns: bool,
        deadline: float,
    ) -> IkResult:
        slots = max(number, _SLOTS_TO_CHOOSE) if choose else 1
        if out is None or len(out["slots"]) != slots:
            out = empty_result(self.model.size, slots)
        self._search(opt, T, start, out, number, deadline)
        reason = None
        if out["solutions"]:
            out = self._sorted(out, opt, start, number, whole_turns)
        else:
            reason, out = diagnose(self.model, T, start, opt, out, deadline)
        if self.chain.gearing is not None:
            out = self.chain.gearing.result(out)
        return IkResult.of(reason.status if reason else _SUCCESS, out, reason)

    def _sorted(
        self, out: Records, opt: Records, start: Array, count: int, whole_turns: bool
    ) -> Records:
        """Return a result with the preferred solutions, the best first, or with all variants."""
        out = self.model.sorted_result(opt, start, out, count)
        return with_whole_turns(self.model, opt, start, out) if whole_turns else out

    def _search(
        self, opt: Records, T: Array, start: Array, out: Records, number: int, deadline: float
    ) -> None:
        """Search until out holds enough solutions or the deadline has passed."""
        slots = len(out["slots"])
        while out["starts"] < _MAX_STARTS:
            # The first starts do not look at the time: the same answer whenever a moment suffices.
            opt["time_limit"] = deadline - time.monotonic() if out["starts"] else math.inf
            found = search(self._constants, opt, T, start, out)
            opt["time_limit"] = math.inf
            if found < 0:  # passed rigid_transform by less than rounding
                raise KinematicsError("target: not a rigid motion", what="target", value=T)
            enough = found == slots or (found >= number and out["starts"] >= _STARTS_TO_CHOOSE)
            if enough or time.monotonic() > deadline:
                return

    def _start(self, seed: ArrayLike) -> Array:
        """Return the row positions of a checked seed (n,)."""
        array = checked_seed(seed, self.chain.joint_names)
        return array if self.chain.gearing is None else self.chain.gearing.positions(array)

    def _form(self, opt: Records) -> ClosedForm | None:
        """Return the closed form for some options; None if there is none."""
        if not self._is_bound(opt):
            return None
        question = opt["orientation"].tobytes() + opt["axis"].tobytes()
        if question not in self._forms:
            mode = OF_ORIENTATION[Orientation(int(opt["orientation"]))]
            chain = self.chain
            form = recognise(chain.S, self._home, chain.prismatic, mode, opt["axis"])
            self._forms[question] = form
        return self._forms[question]

    def _is_bound(self, opt: Records) -> bool:
        """Return whether all solved components have tolerances, and there are no mimic joints."""
        count = 6 if opt["orientation"] == _ROTATION else 3
        return self.chain.gearing is None and min(opt["bounds"][:count].tolist()) > 0.0

    def _eliminated(self, T: Array, seed: Array, sampled: bool, deadline: float) -> Array | None:
        """Return all solutions (k, n) of six revolute joints, or samples of seven."""
        chain = self.chain
        can_all = chain.n == 6 or (chain.n == 7 and sampled)
        if any(chain.prismatic) or not can_all:
            return None
        if self._all_postures is None:
            prepared = ALL_SOLUTIONS.load(str(chain.n))
            self._all_postures = prepared(chain, self.tool, self._constants)
        return self._all_postures(T, seed, deadline)


def _with_aim(opt: Records, aim: float) -> Records:
    """Return options with another accuracy to aim at."""
    aimed: Records = opt.copy()
    aimed["aim"] = aim
    return aimed


def remember(cache: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    """Cache a value; a full cache is emptied first."""
    if len(cache) >= _CACHE_SIZE:
        cache.clear()
    with suppress(TypeError):  # a list or an array is valid but cannot be a key
        cache[key] = value
