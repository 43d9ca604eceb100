# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The solver of a chain: in closed form, by elimination, or by search.

Which it is depends on the arm and on the request:

- a closed form where the geometry has one (closed_form/), in a few microseconds;
- else, for all solutions of six turning joints, elimination (general_6r/), about a millisecond;
- else, for those of seven, postures spread evenly over their self-motion (redundancy.py);
- else the solutions that a search finds.

If there is none, the search finds the reason, or what is within tolerance but not exact: a target
just beyond the edge of reach, or slightly off what an arm of few joints can do.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.jit import HAVE_NUMBA
from arm_common.transforms import Array, inverse, pose
from numpy.typing import ArrayLike

from arm_kinematics.arguments import require, rigid_transform, vector
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.closed_form.branches import solve_all, solve_nearest
from arm_kinematics.ik.closed_form.recognition import ClosedForm, given_branches, recognise
from arm_kinematics.ik.diagnosis import diagnose
from arm_kinematics.ik.general_6r.solver import General6R
from arm_kinematics.ik.options import IkOptions, option_array
from arm_kinematics.ik.redundancy import sampled_solutions
from arm_kinematics.ik.result import IkResult, IkStatus, with_whole_turns
from arm_kinematics.ik.search_model import SearchModel
from arm_kinematics.kernels import residuals as k
from arm_kinematics.kernels.search import FARTHEST_SEED, FOUND, HEAD, SLOT, USED, search

if TYPE_CHECKING:
    from arm_kinematics.chain.chain import Chain

_MOST_SOLUTIONS = 10_000
_MOST_SEARCHED = 16
"""Solutions to search for where all are requested and no other way is known."""
_MOST_STARTS = 512 if HAVE_NUMBA else 48
"""Descents before a target counts as out of reach."""
_STARTS_TO_CHOOSE = 64 if HAVE_NUMBA else 8
"""Descents before one is chosen, where not the first solution but the preferred one is needed."""
_SLOTS_TO_CHOOSE = 16
_WORTH, _WORTH_MUCH = 0.2, 1e-6
"""Shares of the squared distance worth a null-space step: usually, and to choose."""
_AIM_EXACT, _AIM_WITHIN = 1e-5, 1.0
"""Shares of the tolerances, or of the defaults if smaller; exact is 1e-10 m and 1e-9 rad."""
_AIM_FOR_MANY = 1e-4  # so near to the solution itself that two of one are seen to be the same
_CACHED = 256
_WEIGHTS = IkOptions._fields.index("weights")
_MODES = {k.NOTHING: "position", k.AXIS_ONLY: "position_axis", k.ROTATION: "pose"}
_SINGULAR = (
    "; singular, infinitely many solutions: of these one is given, with what is free at the seed"
)
# Looked up once, not at every call.
_contiguous, _zeros, _FLOAT = np.ascontiguousarray, np.zeros, np.float64
_SUCCESS = IkStatus.SUCCESS


def checked_seed(seed: ArrayLike, joint_names: Sequence[str]) -> Array:
    """Return a seed as an array (n,), or raise KinematicsError."""
    expected = f"finite numbers in the order {', '.join(joint_names)}"
    return vector(seed, len(joint_names), "seed", expected, lambda q: np.abs(q) < FARTHEST_SEED)


def deadline_after(timeout: float | None) -> float:
    """Return when a timeout [s] from now is over, on the monotonic clock [s]; None is never."""
    if timeout is None:
        return math.inf
    if isinstance(timeout, bool) or not (isinstance(timeout, Real) and timeout > 0.0):
        raise KinematicsError(
            f"timeout is {timeout!r} s; expected a positive number or None",
            what="timeout",
            value=timeout,
        )
    return time.monotonic() + timeout


class IkSolver:
    """The solver of one chain for one point of its tool; ``key`` are the fields of IkOptions.

    Closed forms are recognised at their first use, and kept.

    Attributes:
        chain: The chain.
        model: The same, as the search knows it.
    """

    def __init__(self, chain: Chain, model: SearchModel, tool: Array | None = None) -> None:
        """Prepare for the point at tool (4, 4), tip <- point, of a chain; None is the tip."""
        self.chain, self._tool = chain, tool
        self.model = model if tool is None else model.with_tool(tool)
        self._home = chain.M if tool is None else chain.M @ tool
        self._constants, self._middle = self.model.constants, model.middle
        self._options: dict[Any, Array] = {}
        self._quick: dict[Any, Array | None] = {}
        self._forms: dict[bytes, ClosedForm | None] = {}
        self._known: dict[Any, tuple[ClosedForm, Array, Array] | None] = {}
        self._general: General6R | None = None

    def by_form(self, T: Any, seed: Any, key: Any, one: bool) -> IkResult | None:
        """Return the solutions, or the nearest one, where there is a closed form.

        None if there is none, or for invalid arguments: ``solve`` reports them.
        """
        try:
            known = self._known[key]
        except (KeyError, TypeError):  # forgotten, or a list or an array, which is no key
            known = self.known(key)
        if known is None:
            return None
        form, opt, exact = known
        c, plan, out = self._constants, form.plan, _zeros(form.size)
        try:
            target = _contiguous(T, _FLOAT)
            start = self._middle if seed is None else _contiguous(seed, _FLOAT)
            if one:
                found, singular = solve_nearest(c, opt, exact, plan, target, start, out)
            else:
                found, singular = solve_all(c, exact, plan, target, start, out)
        except (TypeError, ValueError):
            return None
        if found <= 0:
            return None
        return IkResult(_SUCCESS, out, self.chain.n, None, _SINGULAR if singular else "")

    def known(self, key: Any) -> tuple[ClosedForm, Array, Array] | None:
        """Return the closed form for some options, its options for a descent, and for the form.

        None if there is none, or if not the nearest solution is requested.
        """
        opt = self.options(key)
        form = self._form(opt)
        known = None
        if form is not None and opt[k.CENTRED] == 0.0:
            descent = opt.copy()
            if not self.is_quick(key):
                descent[k.STARTS] = 0.0  # with weights, the nearest may not be a descent away
            known = form, descent, _aiming(opt, _AIM_EXACT)
        remember(self._known, key, known)
        return known

    def by_first_starts(self, T: Any, seed: Any, key: Any, out: Array) -> bool:
        """Return whether out now holds a solution found from the first starts of the search.

        False, too, for invalid arguments: ``solve`` reports them.
        """
        try:
            opt = self._quick[key]
        except (KeyError, TypeError):  # forgotten, or a list or an array, which is no key
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
        T: Any,
        seed: Any,
        key: tuple[Any, ...],
        allow_approximate: bool,
        max_solutions: int | None,
        deadline: float,
        whole_turns: bool,
        out: Array | None = None,
    ) -> IkResult:
        """Solve for one target, with all checks; max_solutions None is all of them.

        ``deadline`` is on the monotonic clock [s], ``out`` is what ``by_first_starts`` filled,
        to go on from. The rest are as of ``Chain.all_solutions``.
        """
        if max_solutions is not None:
            fine = isinstance(max_solutions, Integral) and 1 <= max_solutions <= _MOST_SOLUTIONS
            require(fine, "max_solutions", max_solutions, f"1 to {_MOST_SOLUTIONS}")
        opt, target = self.options(key), rigid_transform(T, "target")
        start = self._middle if seed is None else self._start(seed)
        u, _, v = np.linalg.svd(target[:3, :3])  # a rotation of few digits has no exact solution
        exact = pose(u @ v, target[:3, 3])
        # What is centred is not among the branches where joints are free.
        centred = max_solutions == 1 and opt[k.CENTRED] != 0.0
        form = None if centred else self._form(opt)
        many = max_solutions != 1 or not (centred or self.is_quick(key))
        if form is None and many and opt[k.WHAT] == k.ROTATION and self._is_bound(opt):
            form = self._given(exact, start, max_solutions is None, deadline)
        if form is not None:
            for aim in (_AIM_EXACT, _AIM_WITHIN) if many else (_AIM_EXACT,):
                found, aims = _zeros(form.size), _aiming(opt, aim)
                count, singular = solve_all(self._constants, aims, form.plan, exact, start, found)
                if count > 0:
                    found = self._arranged(found, opt, start, max_solutions or count, whole_turns)
                    note = _SINGULAR if singular else ""
                    return IkResult(_SUCCESS, found, self.chain.n, None, note)
        wanted = max_solutions or (_MOST_SEARCHED if form is None else 1)
        choose = wanted > 1 or self._has_to_choose(key, opt)
        opt = _aiming(opt, _AIM_FOR_MANY if choose else opt[k.AIM])
        opt[k.DEADLINE] = deadline
        result = self._by_search(opt, target, start, out, wanted, choose, whole_turns)
        if allow_approximate and not result.ok and result.status != IkStatus.TIMEOUT:
            result.status = IkStatus.APPROXIMATE
        return result

    def _by_search(
        self,
        opt: Array,
        T: Array,
        start: Array,
        out: Array | None,
        wanted: int,
        choose: bool,
        whole_turns: bool,
    ) -> IkResult:
        size = self.result_size(max(wanted, _SLOTS_TO_CHOOSE) if choose else 1)
        if out is None or out.size != size:
            out = _zeros(size)
        self._search(opt, T, start, out, wanted)
        reason = None
        if out[FOUND] > 0:
            out = self._arranged(out, opt, start, wanted, whole_turns)
        else:
            reason, out = diagnose(self.model, T, start, opt, out)
        if self.chain.gearing is not None:
            out = self.chain.gearing.result(out)
        return IkResult(reason.status if reason else _SUCCESS, out, self.chain.n, reason)

    def _arranged(
        self, out: Array, opt: Array, start: Array, count: int, whole_turns: bool
    ) -> Array:
        """Return a result with the preferred solutions, the best first, or all variations."""
        out = self.model.in_order(opt, start, out, count)
        return with_whole_turns(self.model, opt, start, out) if whole_turns else out

    def _search(self, opt: Array, T: Array, start: Array, out: Array, wanted: int) -> None:
        """Fill out, until enough is found or the deadline has passed."""
        slots = (out.size - HEAD) // (self.model.size + SLOT)
        while out[USED] < _MOST_STARTS:
            found = search(self._constants, opt, T, start, out)
            if found < 0:  # on the very edge of what was checked before
                raise KinematicsError("target: is not a rigid motion", what="target", value=T)
            enough = found == slots or (found >= wanted and out[USED] >= _STARTS_TO_CHOOSE)
            if enough or time.monotonic() > opt[k.DEADLINE]:
                return

    def options(self, key: tuple[Any, ...]) -> Array:
        """Return the flat options for the fields of IkOptions; kept for the next time."""
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

    def is_quick(self, key: tuple[Any, ...]) -> bool:
        """Return whether for some options the first solution that is found will do."""
        return self.chain.gearing is None and not self._has_to_choose(key, self.options(key))

    @staticmethod
    def _has_to_choose(key: tuple[Any, ...], opt: Array) -> bool:
        """Return whether the first solution will not do, because another may be preferred."""
        return bool(opt[k.CENTRED]) or key[_WEIGHTS] is not None

    def result_size(self, slots: int) -> int:
        """Return the length of a result of the search."""
        size: int = HEAD + slots * (self.model.size + SLOT)
        return size

    def _start(self, seed: ArrayLike) -> Array:
        """Return a seed (n,), checked, as the positions of the rows."""
        array = checked_seed(seed, self.chain.joint_names)
        return array if self.chain.gearing is None else self.chain.gearing.positions(array)

    def _form(self, opt: Array) -> ClosedForm | None:
        """Return the closed form for a question; None if there is none."""
        if not self._is_bound(opt):
            return None
        question = opt[[k.WHAT, k.TOOL, k.TOOL + 1, k.TOOL + 2]].tobytes()
        if question not in self._forms:
            mode, axis, chain = _MODES[int(opt[k.WHAT])], opt[k.TOOL : k.TOOL + 3], self.chain
            form = recognise(chain.S, self._home, chain.prismatic, mode, axis)
            self._forms[question] = form
        return self._forms[question]

    def _is_bound(self, opt: Array) -> bool:
        """Return whether all that a form solves is bounded, and each joint moves on its own."""
        count = 6 if opt[k.WHAT] == k.ROTATION else 3
        bound = bool((opt[k.BOUNDS : k.BOUNDS + count] > 0.0).all())
        return bound and self.chain.gearing is None

    def _given(self, T: Array, seed: Array, sampled: bool, deadline: float) -> ClosedForm | None:
        """Return all solutions of six turning joints, or many of seven, as those of a form."""
        chain = self.chain
        if any(chain.prismatic) or chain.n not in (6, 7):
            return None
        if chain.n == 6:
            if self._general is None:
                self._general = General6R(chain.S, self._home)
            branches = self._general.solve(T)
        elif sampled:
            tip = T if self._tool is None else T @ inverse(self._tool)
            branches = sampled_solutions(chain, tip, seed, deadline=deadline)
        else:
            return None
        return given_branches(chain.S, self._home, branches)


def _aiming(opt: Array, aim: float) -> Array:
    """Return options for solutions so near to the target."""
    aiming: Array = opt.copy()
    aiming[k.AIM] = aim
    return aiming


def remember(known: dict[Any, Any], key: Any, value: Any) -> None:
    """Keep a value for a key; forget all if there are too many."""
    if len(known) >= _CACHED:
        known.clear()
    with suppress(TypeError):  # a list or an array: right, but it cannot be a key
        known[key] = value
