# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every solution of inverse kinematics: in closed form, by elimination, or by search.

Which it is depends on the arm and on what is asked for:

- a closed form where the geometry has one (closed_form/), in a few microseconds;
- else all real solutions of six turning joints by elimination (general_6r/), about a millisecond;
- else, for seven turning joints, postures spread evenly over their self-motion (self_motion.py);
- else the different solutions that a search finds.

If there is none, the search finds the reason, or what is within tolerance but not exact: a target
just beyond the edge of reach, or slightly off what an arm of few joints can do.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.transforms import Array, inverse, pose

from arm_kinematics.arguments import rigid_transform
from arm_kinematics.ik.closed_form.branches import solve_all, solve_nearest
from arm_kinematics.ik.closed_form.recognition import ClosedForm, given_branches, recognise
from arm_kinematics.ik.general_6r.solver import General6R
from arm_kinematics.ik.redundancy import sampled_solutions
from arm_kinematics.ik.result import IkResult, IkStatus, with_whole_turns
from arm_kinematics.ik.solver import IkSolver, check_count, remember
from arm_kinematics.kernels import residuals as k
from arm_kinematics.kernels.search import FOUND

if TYPE_CHECKING:
    from arm_kinematics.chain.chain import Chain

MOST_SEARCHED = 16
"""Solutions that a search looks for where no other way is known."""
AIM_EXACT, AIM_WITHIN = 1e-5, 1.0
"""Shares of the tolerances, or of the defaults if smaller; exact is 1e-10 m and 1e-9 rad."""
_MODES = {k.NOTHING: "position", k.AXIS_ONLY: "position_axis", k.ROTATION: "pose"}
_SUCCESS = IkStatus.SUCCESS
_SINGULAR = (
    "; singular, infinitely many solutions: of these one is given, with what is free at the seed"
)
_contiguous, _zeros, _FLOAT = np.ascontiguousarray, np.zeros, np.float64  # looked up once


class AllSolutions:
    """The solver for every solution of one chain, for one point of its tool.

    Forms are recognised when first asked for, and kept.

    Attributes:
        solver: The search for the same point.
    """

    def __init__(self, chain: Chain, solver: IkSolver, tool: Array | None = None) -> None:
        """Prepare for the point at tool (4, 4), tip <- point, of a chain; None is the tip."""
        self._chain, self.solver, self._tool = chain, solver, tool
        self._home = chain.M if tool is None else chain.M @ tool
        self._n = solver.n
        self._constants, self._middle = solver.model.constants, solver.model.middle
        self._forms: dict[bytes, ClosedForm | None] = {}
        self._known: dict[Any, tuple[ClosedForm, Array, Array] | None] = {}
        self._general: General6R | None = None

    def quick(self, T: Any, seed: Any, key: Any, one: bool) -> IkResult | None:
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
        out = _zeros(form.size)
        try:
            target = _contiguous(T, _FLOAT)
            start = self._middle if seed is None else _contiguous(seed, _FLOAT)
            if one:
                found, singular = solve_nearest(
                    self._constants, opt, exact, form.plan, target, start, out
                )
            else:
                found, singular = solve_all(self._constants, exact, form.plan, target, start, out)
        except (TypeError, ValueError):
            return None
        if found <= 0:
            return None
        return IkResult(_SUCCESS, out, self._n, None, _SINGULAR if singular else "")

    def known(self, key: Any) -> tuple[ClosedForm, Array, Array] | None:
        """Return the closed form for some options, its options for a descent, and for the form.

        None if there is none, or if the nearest solution is not what is asked for.
        """
        opt = self.solver.options(key)
        form = self._form(opt)
        known = None
        if form is not None and opt[k.CENTRED] == 0.0:
            descent = opt.copy()
            if not self.solver.is_quick(key):
                descent[k.STARTS] = 0.0  # with weights, the nearest may not be a descent away
            known = form, descent, _aiming(opt, AIM_EXACT)
        with suppress(TypeError):  # a list or an array: right, but it cannot be a key
            remember(self._known, key, known)
        return known

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
        """Solve for one target, with all checks, as ``IkSolver.solve``; None is all solutions."""
        if max_solutions is not None:
            check_count(max_solutions)
        solver, opt = self.solver, self.solver.options(key)
        target = rigid_transform(T, "target")
        start = self._middle if seed is None else solver.start(seed)
        u, _, v = np.linalg.svd(target[:3, :3])  # a rotation of few digits has no exact solution
        target = pose(u @ v, target[:3, 3])
        # What is centred is not among the branches where joints are free.
        centred = max_solutions == 1 and opt[k.CENTRED] != 0.0
        form = None if centred else self._form(opt)
        many = max_solutions != 1 or not (centred or solver.is_quick(key))
        if form is None and many and opt[k.WHAT] == k.ROTATION and self._is_bound(opt):
            form = self._by_branches(target, start, max_solutions is None, deadline)
        if form is not None:
            for aim in (AIM_EXACT, AIM_WITHIN) if many else (AIM_EXACT,):
                aiming, out = _aiming(opt, aim), np.zeros(form.size)
                found, singular = solve_all(self._constants, aiming, form.plan, target, start, out)
                if found <= 0:
                    continue
                if whole_turns:
                    out = with_whole_turns(solver.model, opt, start, out)
                out = solver.model.in_order(opt, start, out, max_solutions or int(out[FOUND]))
                return IkResult(_SUCCESS, out, solver.n, None, _SINGULAR if singular else "")
        count = max_solutions or (MOST_SEARCHED if form is None else 1)
        return solver.solve(T, seed, key, allow_approximate, count, deadline, out, whole_turns)

    def _form(self, opt: Array) -> ClosedForm | None:
        """Return the closed form for a question; None if there is none."""
        if not self._is_bound(opt):
            return None
        question = opt[[k.WHAT, k.TOOL, k.TOOL + 1, k.TOOL + 2]].tobytes()
        if question not in self._forms:
            mode, axis, chain = _MODES[int(opt[k.WHAT])], opt[k.TOOL : k.TOOL + 3], self._chain
            form = recognise(chain.S, self._home, chain.prismatic, mode, axis)
            self._forms[question] = form
        return self._forms[question]

    def _is_bound(self, opt: Array) -> bool:
        """Return whether all that a form knows is asked for, and each joint moves on its own."""
        count = 6 if opt[k.WHAT] == k.ROTATION else 3
        bound = bool((opt[k.BOUNDS : k.BOUNDS + count] > 0.0).all())
        return bound and self._chain.gearing is None

    def _by_branches(
        self, T: Array, seed: Array, sampled: bool, deadline: float
    ) -> ClosedForm | None:
        """Return all solutions of six turning joints, or many of seven, as those of a form."""
        chain = self._chain
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
    """Return options that ask for solutions so near to the target."""
    aiming = opt.copy()
    aiming[k.AIM] = aim
    return aiming
