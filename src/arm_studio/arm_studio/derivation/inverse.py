# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/derivation/test_document.py
"""Each branch of a closed form, step by step with its numbers.

The steps are those of `ik/closed_form`: e1 e2 ... en = Q with Q = T inverse(M), or its inverse if
the arm is read from its tip. Every step is computed again from the geometry, and compared with
the joint positions that the solver found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from arm_common.transforms import Array, inverse, so3_exp
from arm_kinematics.chain.chain import Chain
from arm_kinematics.ik.closed_form import ClosedForm, recognise
from arm_kinematics.kernels.layout import BOTH, Family, Records

from arm_studio.derivation.document import DerivationPage
from arm_studio.derivation.forward import rounded
from arm_studio.derivation.notation import number_text

_ZERO = 1e-9
_PLACING = 3  # joints that place a point


class InverseStep(NamedTuple):
    """One step: what it finds, why, its equation, and its value."""

    joint: int  # in the order of the plan; -1 for all parallel axes together
    text: str
    equation: tuple[Any, ...]  # parts of a formula, with = between them
    value: float  # [rad or m]


def _found(joint: int, text: str, symbol: sp.Symbol, value: float) -> InverseStep:
    """Return a step whose equation is the value itself."""
    return InverseStep(joint, text, (symbol, sp.Float(value)), value)


class BranchSteps:
    """The steps of one branch.

    Args:
        plan: The geometry, see cpp/closed_form/plan.hpp.
        Q: e1 e2 ... en (4, 4), in the order of the plan.
        x: Joint positions (n,) of the branch in that order.
        symbols: Symbols of the joints in that order.
    """

    def __init__(self, plan: Records, Q: Array, x: Array, symbols: list[sp.Symbol]) -> None:
        self._plan, self._Q, self._x, self._symbols = plan, Q, x, symbols
        self._before, self._parallel, self._after = (
            int(plan[name]) for name in ("before", "parallel", "after")
        )

    def steps(self) -> Iterator[InverseStep]:
        """Yield the steps in the order in which they are solved."""
        if self._plan["family"] == Family.PLACE_THEN_TURN:
            c = self._plan["centre"]
            yield from self._place(0, self._before, c, _moved(self._Q, c))
            turning = range(self._before, self._before + self._after)  # others are kept
            yield from self._turns(turning, self._undone(self._before)[:3, :3])
            return
        if self._before:
            yield self._joint_before()
        yield from self._parallel_turn()
        first, last = self._before, self._before + self._parallel - 1
        c = self._plan["centre"]
        moved = c
        for joint in range(last + 1, len(self._x)):
            moved = _moved(self._e(joint, -self._x[joint]), moved)
        target = _moved(self._undone(self._before), moved)
        yield from self._place(first, self._parallel - 1, c, target)
        sense = [float(self._plan["joints"]["sense"][j]) for j in range(first, last + 1)]
        total = sum(s * self._x[first + i] for i, s in enumerate(sense))
        rest = total - sum(s * self._x[first + i] for i, s in enumerate(sense[:-1]))
        parts = sum(
            (int(s) * self._symbols[first + i] for i, s in enumerate(sense)), sp.Integer(0)
        )
        text = "The turns about the parallel axes add up to theirs together."
        yield InverseStep(last, text, (parts, sp.Float(total)), sense[-1] * rest)

    def _joint_before(self) -> InverseStep:
        """Return the step for the joint before parallel axes."""
        h = self._plan["normal_0"]
        c, w, o = self._plan["meet"], self._axis(0), self._origin(0)
        q = self._symbols[0]
        target = _moved(self._Q, c)
        if self._plan["first"] == BOTH:
            return self._both_ends(h)
        if self._slides(0):
            # h is not across the slide, otherwise the form would not have been recognised.
            text = "Across the parallel axes nothing but the slide moves the tool."
            r = float(h @ (target - c))
            return InverseStep(0, text, (float(h @ w) * q, sp.Float(r)), r / float(h @ w))
        if self._after == 0:
            y = self._Q[:3, :3] @ h
            angle, text = _angle(w, h, y), "It turns the direction of the parallel axes,"
            return _found(0, f"{text} {_v(h)}, to {_v(y)}.", q, angle)
        arm, wanted = target - o, float(h @ (c - o))
        text = (
            "h is the direction of the parallel axes: they leave the distance along it as it is, "
            f"so h . inverse(e1) (Q c - o) = h . (c - o), with Q c = {_v(target)}."
        )
        if self._after == 1:
            axis = self._axis(len(self._x) - 1)
            seen = self._Q[:3, :3] @ axis
            reach, tilt = np.cross(w, arm), np.cross(w, seen)
            if reach @ reach < self._plan["length"] ** 2 * (tilt @ tilt):
                arm, wanted = seen, float(h @ axis)
                text = (
                    "The angle of the last axis with h, the direction of the parallel axes, stays "
                    f"as it is: h . inverse(R1) {_v(seen)} = {number_text(wanted)}."
                )
        level = float((h @ w) * (w @ arm))
        a, b = float(h @ arm) - level, float(h @ np.cross(arm, w))
        return self._equation(0, text, a, b, wanted - level)

    def _both_ends(self, h: Array) -> InverseStep:
        """Return the same step if the two axes behind the parallel ones do not meet."""
        five, p = self._before + self._parallel, self._origin(len(self._x) - 1)
        text = (
            f"h is the direction of the parallel axes, p = {_v(p)} a point of the last axis. "
            "h . inverse(e1) Q p = h . e5 p, and the angle of the last axis with h, give a "
            "quartic for this joint and the first one behind the parallel axes; with its root for "
            "that:"
        )
        on = _path(self._plan, 0, _moved(self._Q, p), -1.0)
        k, a, b = (float(h @ part) for part in on)
        wanted = float(h @ _moved(self._e(five, self._x[five]), p))
        return self._equation(0, text, a, b, wanted - k)

    def _parallel_turn(self) -> Iterator[InverseStep]:
        """Yield the turn of all parallel axes together and the joints behind them."""
        first = self._before
        h = self._plan["normal_0"]
        total = sum(
            self._plan["joints"]["sense"][j] * self._x[j]
            for j in range(first, first + self._parallel)
        )
        R = self._undone(self._before)[:3, :3]
        joints = list(range(first + self._parallel, len(self._x)))
        yield from self._turns([-1, *joints], R, h, float(total))

    def _turns(
        self, joints: Any, R: Array, h: Array | None = None, total: float = 0.0
    ) -> Iterator[InverseStep]:
        """Yield the steps for one to three turns whose product is R."""
        joints = list(joints)
        if not joints:
            return
        axes = [np.asarray(h) if j < 0 else self._axis(j) for j in joints]
        values = [total if j < 0 else float(self._x[j]) for j in joints]
        names = [sp.Symbol("q_h") if j < 0 else self._symbols[j] for j in joints]
        w = axes[0]

        def found(k: int, text: str, angle: float) -> InverseStep:
            return _found(joints[k], text, names[k], angle)

        if len(joints) == 1:
            angle = _whole_turn(w, R)
            yield found(0, "The rotation that is left is one about this axis.", angle)
            return
        if len(joints) == 2:
            back, there = R.T @ w, R @ axes[1]
            angle = _angle(axes[1], back, w)
            yield found(1, f"It turns {_v(back)} to the axis before, {_v(w)}.", angle)
            angle = _angle(w, axes[1], there)
            yield found(0, f"It turns the last axis, {_v(axes[1])}, to {_v(there)}.", angle)
            return
        w5, w6 = axes[1], axes[2]
        there = R @ w6
        polar = float(np.clip(w @ there, -1.0, 1.0))
        a = float(w @ w6 - (w @ w5) * (w5 @ w6))
        b = float(w @ np.cross(w5, w6))
        text = (
            f"The angle of the last axis with the first of the three depends on the middle joint "
            f"alone: w4 . R5 w6 = w4 . R w6 = {number_text(polar)}."
        )
        yield self._equation(joints[1], text, a, b, polar - float((w @ w5) * (w5 @ w6)), names[1])
        middle = so3_exp(w5 * values[1])
        if np.linalg.norm(np.cross(w, there)) < 1e-7:
            yield found(0, "The outer axes are aligned: it may have any position.", values[0])
        else:
            angle = _angle(w, middle @ w6, there)
            yield found(0, f"It turns {_v(middle @ w6)} to R w6 = {_v(there)}.", angle)
        back = R.T @ so3_exp(w * values[0]) @ w5
        angle = _angle(w6, back, w5)
        yield found(2, f"It turns {_v(back)} to {_v(w5)}.", angle)

    def _place(self, at: int, count: int, c: Array, target: Array) -> Iterator[InverseStep]:
        """Yield the steps for 0 to 3 joints from ``at`` on that bring the point c to target."""
        if count == 3:
            yield from self._by_three(c, target)
            return
        if count == 2:
            on = _path(self._plan, at + 1, c, 1.0)
            which = int(self._plan["invariant"])
            k, a, b = _invariant(self._plan, which, at, at + 1, on)
            fixed = np.array([target, np.zeros(3), np.zeros(3)])
            wanted = _invariant(self._plan, which, at, at, fixed)[0]
            text = f"{self._kept(which, at)} The point goes from {_v(c)} to {_v(target)}."
            yield self._equation(at + 1, text, a, b, wanted - k)
            c = _moved(self._e(at + 1, self._x[at + 1]), c)
        if count:
            yield self._swing(at, c, target)

    def _by_three(self, c: Array, target: Array) -> Iterator[InverseStep]:
        plan, lead, follow = self._plan, 0, 2
        on = [_path(plan, 0, target, -1.0), _path(plan, 2, c, 1.0)]
        if plan["first"] == BOTH:
            yield from self._quartic(on)
        else:
            if plan["first"] != 0.0:
                lead, follow, on = 2, 0, on[::-1]
            which = int(plan["invariant"])
            k, a, b = _invariant(plan, which, 1, lead, on[0])
            wanted = _invariant(plan, which, 1, follow, on[1])[0]
            text = f"{self._kept(which, 1)} The point goes from {_v(c)} to {_v(target)}."
            yield self._equation(lead, text, a, b, wanted - k)
            f0, f1 = self._phi(lead)
            k1, a1, b1 = _invariant(plan, 1 - which, 1, lead, on[0])
            k2, a2, b2 = _invariant(plan, 1 - which, 1, follow, on[1])
            rest = k1 + a1 * f0 + b1 * f1 - k2
            yield self._equation(follow, self._kept(1 - which, 1), a2, b2, rest)
        y = _moved(self._e(2, self._x[2]), c)
        z = _moved(self._e(0, -self._x[0]), target)
        yield self._swing(1, y, z)

    def _quartic(self, on: list[Any]) -> Iterator[InverseStep]:
        """Yield the two outer joints of three, which are the roots of a quartic together."""
        for joint, other in ((2, 0), (0, 2)):
            f0, f1 = self._phi(other)
            rows = []
            for which in (0, 1):
                k, a, b = _invariant(self._plan, which, 1, joint, on[joint // 2])
                m, d, e = _invariant(self._plan, which, 1, other, on[other // 2])
                rows.append((a, b, m + d * f0 + e * f1 - k))
            text = (
                "Both invariants of the middle joint, in which the first and the third joint "
                "appear together, give a quartic; with its root for the other joint:"
            )
            best = max(rows, key=lambda row: math.hypot(row[0], row[1]))
            yield self._equation(joint, text, *best)

    def _phi(self, joint: int) -> tuple[float, float]:
        q = float(self._x[joint])
        return (q, q * q) if self._slides(joint) else (math.cos(q), math.sin(q))

    def _kept(self, which: int, middle: int) -> str:
        """Return a sentence on what the joint between does not change."""
        name = self._symbols[middle]
        if which == 0 or self._slides(middle):
            return f"{name} leaves a coordinate of the point as it is."
        return f"{name} leaves the distance of the point from its pivot as it is."

    def _swing(self, joint: int, x: Array, y: Array) -> InverseStep:
        w, q = self._axis(joint), self._symbols[joint]
        if self._slides(joint):
            value = float(w @ (y - x))
            return _found(joint, f"It shifts {_v(x)} to {_v(y)}.", q, value)
        a, b = x - self._origin(joint), y - self._origin(joint)
        if np.linalg.norm(np.cross(w, a)) < _ZERO:
            value = float(self._x[joint])
            text = "The point is on its axis: it may have any position."
            return _found(joint, text, q, value)
        value = _angle(w, a, b)
        return _found(joint, f"It turns {_v(x)} to {_v(y)}.", q, value)

    def _equation(
        self, joint: int, text: str, a: float, b: float, r: float, symbol: Any = None
    ) -> InverseStep:
        """Return the step for a cos q + b sin q = r, or a q + b q^2 = r of a slide."""
        q = self._symbols[joint] if symbol is None else symbol
        if joint >= 0 and self._slides(joint):
            roots = _slide_roots(a, b, r)
            left = sp.Float(a) * q + sp.Float(b) * q**2
        else:
            size = math.hypot(a, b)
            left = _term(a) * sp.cos(q) + _term(b) * sp.sin(q)
            if size < _ZERO:
                roots = [float(self._x[joint])]
            else:
                half = math.acos(min(max(r / size, -1.0), 1.0))
                middle = math.atan2(b, a)
                roots = [middle + half, middle - half]
        value = min(roots, key=lambda root: abs(_wrapped(root - float(self._x[joint]))))
        shown = " or ".join(dict.fromkeys(number_text(_wrapped(root)) for root in roots))
        return InverseStep(joint, f"{text} Its solutions are {shown}.", (left, sp.Float(r)), value)

    def _axis(self, joint: int) -> Array:
        return np.array(self._plan["joints"]["direction"][joint])

    def _origin(self, joint: int) -> Array:
        return np.array(self._plan["joints"]["point"][joint])

    def _slides(self, joint: int) -> bool:
        return bool(self._plan["joints"]["slides"][joint])

    def _e(self, joint: int, q: float) -> Array:
        """Return exp([S] q) (4, 4) of a joint."""
        T, w, o = np.eye(4), self._axis(joint), self._origin(joint)
        if self._slides(joint):
            T[:3, 3] = q * w
        else:
            T[:3, :3] = so3_exp(w * q)
            T[:3, 3] = o - T[:3, :3] @ o
        return T

    def _undone(self, joints: int) -> Array:
        """Return Q without the first joints (4, 4)."""
        Q = self._Q
        for joint in range(joints):
            Q = self._e(joint, -self._x[joint]) @ Q
        return Q


def _term(value: float) -> sp.Expr:
    whole = round(value)
    return sp.Integer(whole) if abs(value - whole) < _ZERO and abs(whole) <= 1 else sp.Float(value)


def _slide_roots(a: float, b: float, r: float) -> list[float]:
    if abs(b) < _ZERO:
        return [r / a]
    root = math.sqrt(max(a * a + 4.0 * b * r, 0.0))
    return [(-a + root) / (2.0 * b), (-a - root) / (2.0 * b)]


def _moved(T: Array, x: Array) -> Array:
    return np.asarray(T[:3, :3] @ x + T[:3, 3])


def _path(plan: Records, joint: int, point: Array, sense: float) -> Array:
    """Return rows o, C, D of the path o + (C, D) . phi(q) of a point moved by a joint, or back."""
    w, origin = plan["joints"]["direction"][joint], plan["joints"]["point"][joint]
    if plan["joints"]["slides"][joint]:
        return np.array([point, sense * w, np.zeros(3)])
    foot = origin + w @ (point - origin) * w
    return np.array([foot, point - foot, sense * np.cross(w, point - foot)])


def _invariant(
    plan: Records, which: int, middle: int, joint: int, on: Array
) -> tuple[float, float, float]:
    """Return k, a, b of the invariant k + (a, b) . phi(q) of joint ``middle`` along a path."""
    o, C, D = on[0] - plan["pivot"], on[1], on[2]
    if which == 0 or plan["joints"]["slides"][middle]:
        n = plan[f"normal_{which}"]
        return n @ o, n @ C, n @ D
    if plan["joints"]["slides"][joint]:
        return o @ o, 2.0 * o @ C, 1.0
    return o @ o + C @ C, 2.0 * o @ C, 2.0 * o @ D


def _angle(w: Array, x: Array, y: Array) -> float:
    """Return the angle about w from x to y."""
    return math.atan2(float(w @ np.cross(x, y)), float(x @ y - (w @ x) * (w @ y)))


def _whole_turn(w: Array, R: Array) -> float:
    """Return the angle of a rotation about w."""
    sine = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return math.atan2(float(w @ sine), 0.5 * (float(np.trace(R)) - 1.0))


def _wrapped(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)


def _v(x: Array) -> str:
    """Return a vector as a text."""
    return "(" + ", ".join(number_text(float(value) + 0.0) for value in x) + ")"


def closed_form_of(chain: Chain) -> tuple[ClosedForm | None, str]:
    """Return the closed form of a chain, None if it has none, and its mode.

    Up to three joints place the tool, which has more branches than a full pose; otherwise the
    mode is the full pose.
    """
    if chain.gearing is not None:
        return None, "pose"
    if chain.n <= _PLACING:
        form = recognise(chain.S, chain.M, chain.prismatic, "position")
        if form is not None and form.plan["kept"] == 0.0:
            return form, "position"
    return recognise(chain.S, chain.M, chain.prismatic), "pose"


def branch_steps(chain: Chain, form: ClosedForm, T: Array, q: Array) -> list[InverseStep]:
    """Return the steps that lead to the branch q (n,) of a target T (4, 4)."""
    reverse = bool(form.plan["reversed"])
    Q = T @ inverse(chain.M)
    order = range(chain.n)[::-1] if reverse else range(chain.n)
    symbols = [sp.Symbol(f"q_{i + 1}", real=True) for i in order]
    x = np.array([q[i] for i in order])
    return list(BranchSteps(form.plan, inverse(Q) if reverse else Q, x, symbols).steps())


def write_inverse(page: DerivationPage, chain: Chain, q: Array) -> None:
    """Append the inverse at the pose of a posture q (n,) to a page."""
    page.heading("Inverse kinematics")
    form, mode = closed_form_of(chain)
    if form is None:
        page.say(
            "This arm has no closed form that is known here: its inverse is found by elimination "
            "(six turning joints) or by iteration from a seed, see docs/kinematics.md."
        )
        return
    T = chain.fk(q)
    branches = chain.all_solutions(T, q, mode).every_q
    turned = bool(form.plan["reversed"])
    sought = "pose" if mode == "pose" else "position"
    page.say(
        f"The geometry allows a closed form: {form.name}. Sought are all postures for the "
        f"{sought} of the tool in T of the example. exp([S_1] q_1) ... exp([S_n] q_n) = Q with "
        "Q = T inverse(M)" + ("; the arm is read from its tip, by inverse(Q)." if turned else ".")
    )
    page.show(sp.Symbol("Q"), rounded(T @ inverse(chain.M)))
    page.say(f"Within the limits there are {len(branches)}, here with their error:")
    rows = slice(None) if mode == "pose" else np.s_[:, 3]
    head = ("branch", *chain.joint_names, "error of fk")
    page.table(
        head,
        [
            (str(i), *(float(v) for v in b), f"{np.abs(chain.fk(b) - T)[rows].max():.1e}")
            for i, b in enumerate(branches, start=1)
        ],
    )
    for i, branch in enumerate(branches, start=1):
        page.heading(f"Branch {i}", 3)
        for number, step in enumerate(branch_steps(chain, form, T, branch), start=1):
            page.say(f"{number}. {step.text}")
            page.show(*step.equation)
            if step.joint >= 0 and not step.equation[0].is_Symbol:
                at = chain.n - 1 - step.joint if turned else step.joint
                page.show(sp.Symbol(f"q_{at + 1}"), sp.Float(branch[at]))
