# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/closed_form/test_formulas.py
"""The steps for the joints that position a point.

A joint in the middle keeps two quantities of a point: if it turns, the coordinate along its axis
and the distance from it; if it slides, two coordinates across it. Equal on both sides of the
joint, they are equations of the joints at either side alone (Pieper, "The kinematics of
manipulators under computer control", Stanford 1968).
"""

from __future__ import annotations

from typing import NamedTuple

import sympy as sp
from arm_kinematics.kernels.layout import BOTH, Records

from arm_studio.closed_form.quartic import write_quartic
from arm_studio.closed_form.worksheet import Worksheet
from arm_studio.symbolic.local_frames import Link, LocalFrames, LocalJoint, meeting

ORIGIN = sp.zeros(3, 1)
Z = sp.Matrix([0, 0, 1])
_LONG = 6  # operations above which a coordinate gets a symbol


class Path(NamedTuple):
    """The path o + C phi_1 + D phi_2 of a point moved by u; phi is (cos u, sin u) or (u, u^2)."""

    o: sp.Matrix
    C: sp.Matrix
    D: sp.Matrix

    def along(self, n: sp.Matrix) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
        """Return the component along n as k, a, b in k + a phi_1 + b phi_2."""
        k, a, b = (sp.expand(n.dot(x)) for x in self)
        return k, a, b

    def seen_through(self, link: Link, back: bool = False) -> Path:
        """Return a path of the frame behind a link in the one before, or vice versa."""
        R = link.R.T if back else link.R
        return Path(link.moved(self.o, back), R * self.C, R * self.D)


def path(joint: LocalJoint, x: sp.Matrix, back: bool = False) -> Path:
    """Return the path of a point moved by a joint, or by its inverse."""
    sense = -1 if back else 1
    if joint.slides:
        return Path(x, sp.Matrix([0, 0, sense]), ORIGIN)
    turned = sp.Matrix([-x[1], x[0], 0])
    return Path(sp.Matrix([0, 0, x[2]]), sp.Matrix([x[0], x[1], 0]), sense * turned)


def squared(on: Path, centre: sp.Matrix, slides: bool) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return the squared distance from a point as k, a, b in k + a phi_1 + b phi_2."""
    o = on.o - centre
    k, a = o.dot(o), 2 * o.dot(on.C)
    if slides:
        return sp.expand(k), sp.expand(a), sp.Integer(1)
    return sp.expand(k + on.C.dot(on.C)), sp.expand(a), sp.expand(2 * o.dot(on.D))


def _across(d: sp.Matrix, slides: bool) -> sp.Matrix:
    """Return a direction normal to z in which the joint along d moves points."""
    if slides:
        return sp.Matrix([d[0], d[1], 0])
    if d[0] == 0 and d[1] == 0:
        return sp.Matrix([1, 0, 0])
    return sp.Matrix([-d[1], d[0], 0])


def _flat(on: Path) -> Path:
    """Return the path projected along the z axis."""
    o, C, D = (sp.Matrix([v[0], v[1], 0]) for v in on)
    return Path(o, C, D)


class PlaceSteps:
    """Writes the steps for the joints that position a point.

    Args:
        plan: The plan of the solver.
        frames: The joints and links in the plan's order.
        sheet: The steps are appended to it.
    """

    def __init__(self, plan: Records, frames: LocalFrames, sheet: Worksheet) -> None:
        self._plan, self._frames, self._sheet = plan, frames, sheet
        self._joints, self._links = frames.joints, frames.links

    def seen_behind(self, at: int, point: sp.Matrix, axes: str = "xyz") -> sp.Matrix:
        """Return a point in the frame behind a known joint and its link."""
        joint, link = self._joints[at], self._links[at]
        seen = link.moved(joint.moved(point, back=True), back=True)
        shown = ", ".join(map(str, point))
        text = f"The point ({shown}), seen from behind joint {joint.number}:"
        return sp.Matrix(
            [
                self._sheet.define(f"{name}_{joint.number}", sp.expand(x), text)
                if name in axes
                else x
                for name, x in zip("xyz", seen, strict=True)
            ]
        )

    def place(self, at: int, count: int, behind: sp.Matrix, goal: sp.Matrix) -> None:
        """Append the steps for joints from ``at`` on; ``behind`` is the point behind the last."""
        if count == 1:
            self.last_of_place(at, behind, goal)
        elif count == 2:
            self._by_two(at, behind, goal)
        elif count == 3:
            self._by_three(behind, goal)

    def last_of_place(self, at: int, start: sp.Matrix, end: sp.Matrix) -> None:
        """Append the last joint, which moves a point from start to end."""
        joint = self._joints[at]
        if joint.slides:
            value = joint.sense * (end[2] - start[2])
            text = f"{joint.q} shifts the point to its place."
            self._sheet.add(joint, sp.expand(value), text)
        else:
            text = f"{joint.q} turns the point to ({end[0]}, {end[1]})."
            self._sheet.swing(joint, start, end, text)

    def _by_two(self, at: int, behind: sp.Matrix, goal: sp.Matrix) -> None:
        one, two, link = self._joints[at], self._joints[at + 1], self._links[at]
        if one.slides:
            n = _across(link.R[:, 2], two.slides)
            text = f"The slide of {one.q} does not change a coordinate across it."
            self._sheet.equation(two, self._behind(at, behind).along(n), n.dot(goal), text)
        elif self._plan["invariant"] == 0:
            text = f"{one.q} does not change the coordinate along its axis."
            self._sheet.equation(two, self._behind(at, behind).along(Z), goal[2], text)
        else:
            self.by_distance(at, behind, goal)
            return
        self.last_of_place(at, self._moved(at + 1, behind), goal)

    def _moved(self, at: int, x: sp.Matrix) -> sp.Matrix:
        """Return a point moved by a known joint and the link before it."""
        point = self._links[at - 1].moved(self._joints[at].moved(x)).applyfunc(sp.expand)
        number = self._joints[at].number
        text = f"Where {self._joints[at].q} brings the point, seen from before it:"
        return sp.Matrix(
            [
                self._sheet.define(f"{name}_{number}", entry, text)
                if entry.count_ops() > _LONG
                else entry
                for name, entry in zip("uvw", point, strict=True)
            ]
        )

    def _behind(self, at: int, x: sp.Matrix) -> Path:
        """Return the path of a point moved by the next joint, in the frame of this one."""
        return path(self._joints[at + 1], x).seen_through(self._links[at])

    def by_distance(self, at: int, behind: sp.Matrix, goal: sp.Matrix) -> None:
        """Append two joints; the distance from the axis of the first gives the second."""
        one, two = self._joints[at], self._joints[at + 1]
        text = f"{one.q} does not change the distance from its axis (law of cosines)."
        coefficients = squared(_flat(self._behind(at, behind)), ORIGIN, two.slides)
        self._sheet.equation(two, coefficients, goal[0] ** 2 + goal[1] ** 2, text)
        self.last_of_place(at, self._moved(at + 1, behind), goal)

    def _by_three(self, behind: sp.Matrix, goal: sp.Matrix) -> None:
        plan = self._plan
        if self._joints[1].slides:
            self._around_slide(behind, goal)
        elif plan["first"] == BOTH:
            self._both(behind, goal)
        elif plan["first"] == 0.0:
            self._first_alone(behind, goal)
        else:
            self._third_alone(behind, goal)

    def _paths(self, behind: sp.Matrix, goal: sp.Matrix) -> tuple[Path, Path]:
        """Return the paths of the point behind and before the middle joint."""
        one, _, three = self._joints[:3]
        before = path(one, goal, back=True).seen_through(self._links[0], back=True)
        return before, path(three, behind).seen_through(self._links[1])

    def _first_alone(self, behind: sp.Matrix, goal: sp.Matrix) -> None:
        """Append joint 1, the only unknown of an equation, then joints 3 and 2."""
        one, two, three = self._joints[:3]
        before, after = self._paths(behind, goal)
        by_height = self._plan["invariant"] == 0
        if by_height:
            text = f"{two.q} and {three.q} do not change the coordinate along the axis of {two.q}."
            self._sheet.equation(one, before.along(Z), after.along(Z)[0], text)
        else:
            met = meeting(self._links[1], self._frames)
            centre = sp.Matrix([0, 0, met[0] if met else 0])
            text = f"{two.q} and {three.q} do not change the distance from where their axes meet."
            wanted = self._square_behind(three, behind, centre)[0]
            self._sheet.equation(one, self._square_before(one, goal, centre), wanted, text)
        seen = self.seen_behind(0, goal, "xy" if by_height else "xyz")
        if by_height:
            text = f"{two.q} does not change the distance from its axis."
            coefficients = squared(_flat(after), ORIGIN, three.slides)
            self._sheet.equation(three, coefficients, seen[0] ** 2 + seen[1] ** 2, text)
        else:
            text = f"{two.q} does not change the coordinate along its axis."
            self._sheet.equation(three, after.along(Z), seen[2], text)
        self._middle(behind, seen)

    def _square_before(
        self, one: LocalJoint, goal: sp.Matrix, centre: sp.Matrix
    ) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
        """Return the squared distance of the point from one on the second axis, as k, a, b."""
        return squared(path(one, goal, back=True), self._links[0].moved(centre), one.slides)

    def _square_behind(
        self, three: LocalJoint, behind: sp.Matrix, centre: sp.Matrix
    ) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
        """Return the same for the joint behind the second axis."""
        return squared(path(three, behind), self._links[1].moved(centre, back=True), three.slides)

    def _third_alone(self, behind: sp.Matrix, goal: sp.Matrix) -> None:
        """Append joint 3, the only unknown of an equation, then joints 1 and 2."""
        one, two, three = self._joints[:3]
        before, after = self._paths(behind, goal)
        link = self._links[0]
        if self._plan["invariant"] == 0:
            text = f"{one.q} and {two.q} do not change the coordinate along their axes."
            self._sheet.equation(three, after.along(Z), before.along(Z)[0], text)
            point = self._moved(2, behind)
            if not one.slides:
                self.by_distance(0, point, goal)
                return
            text = f"{two.q} does not change the distance from its axis."
            coefficients = squared(_flat(before), ORIGIN, True)
            self._sheet.equation(one, coefficients, point[0] ** 2 + point[1] ** 2, text)
        else:
            met = meeting(link, self._frames)
            centre = sp.Matrix([0, 0, met[1] if met else 0])
            text = f"{one.q} and {two.q} do not change the distance from where their axes meet."
            wanted = self._square_before(one, goal, centre)[0]
            self._sheet.equation(three, self._square_behind(three, behind, centre), wanted, text)
            point = self._moved(2, behind)
            text = f"{two.q} does not change the coordinate along its axis."
            self._sheet.equation(one, before.along(Z), point[2], text)
        self._middle(behind, self.seen_behind(0, goal, "xy"))

    def _around_slide(self, behind: sp.Matrix, goal: sp.Matrix) -> None:
        """Append three joints with a slide in the middle, by the coordinates across it."""
        one, two, three = self._joints[:3]
        before, after = self._paths(behind, goal)
        first = self._plan["first"]
        outer = self._links[1].R[:, 2] if first == 0.0 else self._links[0].R.T[:, 2]
        if first == BOTH:
            outer = self._links[0].R.T * Z
        other = three if first == 0.0 else one
        n = sp.Matrix([outer[0], outer[1], 0])
        if first == BOTH or other.slides:
            n = _across(outer, False)
        m = sp.Matrix([-n[1], n[0], 0])
        text = f"The slide of {two.q} does not change the coordinates across it."
        if first == BOTH:
            rows = [(before.along(v), after.along(v)) for v in (n, m)]
            write_quartic(self._sheet, one, three, rows, text)
        elif first == 0.0:
            self._sheet.equation(one, before.along(n), after.along(n)[0], text)
            seen = self.seen_behind(0, goal, "xyz")
            self._sheet.equation(three, after.along(m), m.dot(seen), text)
        else:
            self._sheet.equation(three, after.along(n), before.along(n)[0], text)
            point = self._moved(2, behind)
            self._sheet.equation(one, before.along(m), m.dot(point), text)
        self._middle(behind, self.seen_behind(0, goal, "z"))

    def _both(self, behind: sp.Matrix, goal: sp.Matrix) -> None:
        """Append joints 1 and 3, the unknowns of both equations, then joint 2."""
        one, two, three = self._joints[:3]
        before, after = self._paths(behind, goal)
        rows = [
            (before.along(Z), after.along(Z)),
            (
                self._square_before(one, goal, ORIGIN),
                self._square_behind(three, behind, ORIGIN),
            ),
        ]
        text = (
            f"{two.q} changes neither the coordinate along its axis nor the distance from a point "
            "on it: two equations, in both of which the joints before and behind it appear."
        )
        write_quartic(self._sheet, one, three, rows, text)
        self._middle(behind, self.seen_behind(0, goal, "xy"))

    def _middle(self, behind: sp.Matrix, seen: sp.Matrix) -> None:
        """Append joint 2; the others are known."""
        point = self._moved(2, behind)
        self.last_of_place(1, point, seen)
