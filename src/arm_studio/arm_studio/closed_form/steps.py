# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/closed_form/test_formulas.py
"""The steps that solve an arm with a closed form, in the frames of its table.

They follow the plan that the solver uses (ik/closed_form.py and cpp/closed_form): which joints
place a point, which turn, and from which equation the first one is found.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
from arm_kinematics.kernels.layout import BOTH, Family, Records

from arm_studio.closed_form.formulas import (
    InverseFormulas,
    InverseStep,
    InverseTarget,
    NoFormulasError,
)
from arm_studio.closed_form.placing import ORIGIN, Path, PlaceSteps, Z, path
from arm_studio.closed_form.turning import TurnSteps, listed
from arm_studio.closed_form.worksheet import Worksheet
from arm_studio.symbolic.arm import SymbolicArm
from arm_studio.symbolic.local_frames import LocalFrames, meeting


class ClosedFormSteps:
    """Writes the steps of one plan.

    Args:
        plan: The plan of the solver.
        frames: The joints and links in the plan's order.
        target: The target pose.
    """

    def __init__(
        self, plan: Records, frames: LocalFrames, target: InverseTarget, sheet: Worksheet
    ) -> None:
        self._plan, self._frames, self._target, self._sheet = plan, frames, target, sheet
        self._joints, self._links = frames.joints, frames.links
        self._before, self._parallel, self._after = (
            int(plan[name]) for name in ("before", "parallel", "after")
        )
        self._places = PlaceSteps(plan, frames, sheet)
        self._turns = TurnSteps(frames, target, sheet)

    def write(self) -> None:
        """Append all steps to the sheet."""
        if self._plan["family"] == Family.PLACE_THEN_TURN:
            behind, goal = self._centre(self._before)
            self._places.place(0, self._before, behind, goal)
            self._turns.wrist(self._before, self._after)
        else:
            self._turn_then_place()

    # The point that does not depend on the last joints.

    def _centre(self, first: int) -> tuple[sp.Matrix, sp.Matrix]:
        """Return where the axes from joint ``first`` on meet: before them, and as a goal."""
        n = len(self._joints)
        height, last = sp.Integer(0), sp.Integer(0)
        for i in range(first, n - 1):
            met = meeting(self._links[i], self._frames)
            if met is None:
                raise NoFormulasError("the last axes do not meet")
            height, last = (met[0] if i == first else height), met[1]
        point = sp.Matrix([0, 0, height])
        behind = point if first == 0 else self._links[first - 1].moved(point)
        end = self._links[-1]
        if first == n:
            behind = end.t
            return behind, self._named(self._target.p, "the tool")
        offset = end.R.T * (sp.Matrix([0, 0, last]) - end.t)
        goal = self._target.p + self._target.R * offset
        what = (
            "the point where the last axes meet" if n - first > 1 else "a point of the last axis"
        )
        return behind, self._named(goal, what)

    def _named(self, x: sp.Matrix, what: str, index: str = "0") -> sp.Matrix:
        """Return a point with symbols for its coordinates where these are long."""
        text = f"The coordinates of {what}:"
        return sp.Matrix(
            [
                self._sheet.define(f"{name}_{index}", sp.expand(entry), text)
                for name, entry in zip("xyz", x, strict=True)
            ]
        )

    # Arms with parallel axes.

    def _turn_then_place(self) -> None:
        first, last = self._before, self._before + self._parallel - 1
        for i in range(first + 1, last + 1):
            if self._frames.number(self._links[i - 1].R[2, 2]) < 0.0:
                self._frames.turn_over(i)
        is_apart = self._plan["first"] == BOTH if self._before else self._is_apart()
        if self._after and not is_apart:
            behind, goal = self._centre(last + 1)
        else:
            behind, goal = ORIGIN, self._last_axis()
        if self._before:
            self._joint_before(behind, goal, last)
        self._turns.all_parallel(first, self._parallel, self._after)
        if is_apart:
            behind, goal = self._links[last].t, self._axis_before_last()
        if self._before:
            goal = self._places.seen_behind(0, goal, "xy")
        self._plane(first, last, behind, goal)

    def _is_apart(self) -> bool:
        """Return True if two joints behind the parallel ones have axes that do not meet."""
        return self._after == 2 and meeting(self._links[-2], self._frames) is None

    def _last_axis(self) -> sp.Matrix:
        """Return a point of the last axis."""
        end = self._links[-1]
        goal = self._target.p - self._target.R * end.R.T * end.t
        return self._named(goal, "a point of the last axis")

    def _axis_before_last(self) -> sp.Matrix:
        """Return a point of the axis before the last one; the last joint is known."""
        *_, before, last = self._joints
        point = last.moved(self._links[-2].moved(ORIGIN, back=True), back=True)
        point = self._links[-1].moved(point, back=True)
        goal = self._target.p + self._target.R * point
        return self._named(goal, f"a point of the axis of {before.q}", before.number)

    def _joint_before(self, behind: sp.Matrix, goal: sp.Matrix, last: int) -> None:
        """Append the joint before the parallel axes."""
        joint, link = self._joints[0], self._links[0]
        before = path(joint, goal, back=True).seen_through(link, back=True)
        height = sum((self._links[i].t[2] for i in range(1, last)), sp.Integer(0))
        names = listed([str(j.q) for j in self._joints[1 : last + 1]])
        if self._plan["first"] == BOTH:
            axis = self._target.R * self._links[-1].R.T * Z
            seen = path(joint, axis, back=True) if not joint.slides else Path(axis, ORIGIN, ORIGIN)
            direction = Path(*(link.R.T * v for v in seen))
            self._turns.both_ends((before.along(Z), direction.along(Z)), last, height)
        elif self._after == 0 and not joint.slides:
            axis = self._target.R * self._links[-1].R.T * Z
            text = f"It turns the direction of the axes of {names} to where it is."
            self._sheet.swing(joint, link.R * Z, axis, text)
        else:
            text = f"{names} do not change the coordinate along their axes."
            more = (
                {} if joint.slides or self._after == 2 else {"otherwise": self._by_direction(last)}
            )
            coefficients = before.along(Z)
            self._sheet.equation(joint, coefficients, height + behind[2], text, **more)

    def _by_direction(self, last: int) -> tuple[str, sp.Expr]:
        """Return the first joint from the last axis' direction, for a point on its own axis."""
        joint, link = self._joints[0], self._links[0]
        axis = self._target.R * self._links[-1].R.T * Z
        seen = Path(*(link.R.T * v for v in path(joint, axis, back=True)))
        aside = Worksheet(self._frames, [])
        aside.equation(joint, seen.along(Z), self._links[last].R[2, 2], "")
        *parts, step = aside.steps
        value = step.expression
        for part in reversed(parts):
            value = value.xreplace({part.symbol: part.expression})
        return "the direction of the last axis decides:", value

    def _plane(self, first: int, last: int, behind: sp.Matrix, goal: sp.Matrix) -> None:
        """Append the parallel joints; the sum of their angles is known."""
        turned = self._turns.rotation_of_parallel() * behind
        inner = ORIGIN
        if any(behind[:2, 0]):
            flat = sp.Matrix([goal[0] - turned[0], goal[1] - turned[1], 0])
            axis = self._joints[last].q
            text = f"A point of the axis of {axis}, seen in the same way:"
            names = (f"{name}_{axis.name.removeprefix('q_')}" for name in "xy")
            shown = [
                self._sheet.define(name, sp.expand(x), text)
                for name, x in zip(names, flat, strict=False)
            ]
            goal = sp.Matrix([*shown, 0])
        start = self._links[last - 1].moved(inner)
        if self._parallel == 2:
            self._places.last_of_place(first, start, goal)
        else:
            self._places.by_distance(first, start, goal)
        self._turns.last_parallel(first, last)


def inverse_formulas(arm: SymbolicArm, plan: Records, tolerance: float) -> InverseFormulas:
    """Return the formulas for an arm with a plan.

    Args:
        arm: The formulas of the arm.
        plan: How the solver finds the branches.
        tolerance: Angles [rad], and lengths as a fraction of the arm's, that count as 0.

    Raises:
        NoFormulasError: A step leaves its joint free for every target.
    """
    is_reversed = bool(plan["reversed"])
    places_only = not is_reversed and not plan["after"] and not plan["parallel"]
    length = float(plan["length"]) * arm.metre
    frames = LocalFrames(arm, length, is_reversed, places_only, tolerance)
    sheet = Worksheet(frames, [*arm.values, *arm.joints.values()])
    R = sp.Matrix(3, 3, lambda i, j: sheet.symbol(f"{'noa'[j]}_{'xyz'[i]}"))
    p = sp.Matrix([sheet.symbol(f"p_{axis}") for axis in "xyz"])
    target = InverseTarget(frames.before, frames.after, is_reversed, R, p)
    ClosedFormSteps(plan, frames, target, sheet).write()
    return InverseFormulas(target, _ordered(sheet.steps), sheet.sums, arm.values)


def _ordered(steps: Sequence[InverseStep]) -> list[InverseStep]:
    """Return the steps with each part before the first joint that needs it, if there is one."""
    parts = {step.symbol: step for step in steps if not step.joint}
    ordered: list[InverseStep] = []
    for step in steps:
        if not step.joint:
            continue
        needed = set(step.symbols)
        for symbol in reversed(parts):
            if symbol in needed:
                needed |= parts[symbol].symbols
        ordered += [parts.pop(symbol) for symbol in list(parts) if symbol in needed]
        ordered.append(step)
    return ordered
