# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/closed_form/test_formulas.py
"""An arm as turns about, and slides along, the z axis of frames with constant links between them.

T_0 = J_1 L_1 J_2 L_2 ... J_n L_n. T_0 is the pose of the tool without the transforms before the
first joint and behind the last one. An arm that is read from its tip has the inverse of T_0 on the
left and its joints in reverse order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import sympy as sp
from arm_kinematics.ik.closed_form import TOLERANCE

from arm_studio.symbolic.arm import Motion, Product, SymbolicArm, inverse_of, turn

_EXACT = 1e-9
_QUARTER = math.pi / 2
# What turns the z axis of a frame to another axis about which a joint turns.
_TO_AXIS = {"z": [], "x": [turn("y", sp.pi / 2)], "y": [turn("x", -sp.pi / 2)]}


class LocalJoint(NamedTuple):
    """A joint that turns by sense * (q + shift), or slides by sense * q."""

    q: sp.Symbol
    slides: bool
    sense: int
    shift: sp.Expr  # [rad]

    @property
    def number(self) -> str:
        """The number of the joint in the arm, from 1."""
        return self.q.name.removeprefix("q_")

    @property
    def cosine(self) -> sp.Expr:
        """The cosine of the angle."""
        return sp.cos(self.q + self.shift)

    @property
    def sine(self) -> sp.Expr:
        """The sine of the angle."""
        return self.sense * sp.sin(self.q + self.shift)

    @property
    def rotation(self) -> sp.Matrix:
        """The rotation (3, 3) by a turn."""
        c, s = self.cosine, self.sine
        return sp.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])

    def motion(self, back: bool = False) -> Motion:
        """Return the motion of the joint, or the one that undoes it."""
        sense = -self.sense if back else self.sense
        amount = sense * self.q if self.slides else sense * (self.q + self.shift)
        return Motion(not self.slides, "z", sp.expand(amount))

    def moved(self, x: sp.Matrix, back: bool = False) -> sp.Matrix:
        """Return where a point (3, 1) goes, or where it comes from."""
        if self.slides:
            return x + sp.Matrix([0, 0, (-self.sense if back else self.sense) * self.q])
        return (self.rotation.T if back else self.rotation) * x


class Link:
    """A constant transform between two joints.

    Attributes:
        R, t: Its rotation (3, 3) and translation (3, 1).
    """

    def __init__(self, motions: Sequence[Motion], frames: LocalFrames) -> None:
        self.motions = tuple(motions)
        matrix = Product(motions).matrix.applyfunc(frames.cleaned)
        self.R, self.t = matrix[:3, :3], matrix[:3, 3]

    def moved(self, x: sp.Matrix, back: bool = False) -> sp.Matrix:
        """Return a point (3, 1) of the frame behind in the one before, or vice versa."""
        return self.R.T * (x - self.t) if back else self.R * x + self.t


class LocalFrames:
    """The joints and links of an arm without dependent rows.

    Args:
        arm: The formulas of the arm.
        length: The size of the arm, in the unit of the formulas.
        is_reversed: Read it from its tip.
        places_only: Only the position of the tool is given.
        tolerance: Angles [rad], and lengths as a fraction of that of the arm, that count as 0.

    Attributes:
        length: The size of the arm, in the unit of the formulas.
        joints: In the order of the reading.
        links: The link behind each joint.
        before, after: Constant transforms (4, 4): T_0 = inverse(before) T inverse(after).
    """

    def __init__(
        self,
        arm: SymbolicArm,
        length: float,
        is_reversed: bool = False,
        places_only: bool = False,
        tolerance: float = _EXACT,
    ) -> None:
        self._values: Mapping[sp.Symbol, float] = arm.values
        self.length, self._tolerance = length, tolerance
        self._shifts = dict.fromkeys(arm.joints.values(), sp.Integer(0))
        joints, parts = self._split([self._snapped(m) for m in arm.motions], arm)
        self._take_offsets(joints, parts)
        count = len(parts[-1]) - len(arm.tool_motions)
        before, last, after = parts[0], parts[-1][:count], parts[-1][count:]
        if places_only:
            last, after = parts[-1], []
        elif is_reversed or not all(x in (-1, 0, 1) for x in Link(last, self).R):
            last, after = [], parts[-1]
        self.before, self.after = Product(before).matrix, Product(after).matrix
        if is_reversed:
            joints = joints[::-1]
            parts = [[], *(inverse_of(part) for part in parts[-2:0:-1]), []]
        self.joints = [
            LocalJoint(q, slides, -1 if is_reversed else 1, self._shifts[q])
            for q, slides in joints
        ]
        self.links = [Link(part, self) for part in (*parts[1:-1], last)]

    def number(self, expression: sp.Expr) -> float:
        """Return the value of a constant expression."""
        return float(sp.sympify(expression).xreplace(dict(self._values)))

    def is_constant(self, expression: sp.Expr) -> bool:
        """Return True if an expression has neither joints nor the target in it."""
        return bool(expression.free_symbols <= set(self._values))

    def cleaned(self, expression: sp.Expr) -> sp.Expr:
        """Return a constant expression, as a whole number if it is one up to the tolerance."""
        if expression.is_Integer:
            return expression
        value = self.number(expression)
        if abs(value) < self._tolerance:
            return sp.Integer(0)
        is_angle = not expression.free_symbols or bool(expression.atoms(sp.sin, sp.cos))
        if is_angle and abs(abs(value) - 1.0) < self._tolerance**2:
            return sp.Integer(round(value))
        return expression

    def turn_over(self, index: int) -> None:
        """Reverse the axis of a joint, so that it points as the one before."""
        half = turn("x", sp.pi)
        self.links[index - 1] = Link([*self.links[index - 1].motions, half], self)
        self.links[index] = Link([half, *self.links[index].motions], self)
        joint = self.joints[index]
        self.joints[index] = joint._replace(sense=-joint.sense)

    def motions(self, count: int) -> list[Motion]:
        """Return the motions of the first joints and of the links behind them."""
        pairs = zip(self.joints[:count], self.links, strict=False)
        return [m for joint, link in pairs for m in (joint.motion(), *link.motions)]

    def _snapped(self, motion: Motion) -> Motion:
        """Return a motion; a constant one as none, or as quarter turns, up to the tolerance."""
        if not self.is_constant(motion.amount) or motion.amount.is_number:
            return motion
        value = self.number(motion.amount)
        if not motion.turns:
            is_zero = abs(value) < self._tolerance * self.length
            return motion._replace(amount=sp.Integer(0)) if is_zero else motion
        quarters = round(value / _QUARTER)
        if abs(value - quarters * _QUARTER) < self._tolerance:
            return motion._replace(amount=quarters * sp.pi / 2)
        return motion

    def _split(
        self, motions: Iterable[Motion], arm: SymbolicArm
    ) -> tuple[list[tuple[sp.Symbol, bool]], list[list[Motion]]]:
        """Return the joints, and the constant motions before, between and behind them."""
        joints, parts = [], [list[Motion]()]
        for motion in motions:
            moving = [q for q in arm.joints.values() if q in motion.amount.free_symbols]
            if not moving:
                parts[-1].append(motion)
                continue
            joints.append((moving[0], not motion.turns))
            to_axis = _TO_AXIS[motion.axis]
            parts[-1] += to_axis
            parts.append(inverse_of(to_axis))
        return joints, parts

    def _take_offsets(
        self, joints: Sequence[tuple[sp.Symbol, bool]], parts: list[list[Motion]]
    ) -> None:
        """Move turns about a joint's own axis, but quarter turns, from the links to the joint."""
        for i, (q, slides) in enumerate(joints):
            if not slides:
                parts[i + 1] = self._taken(q, parts[i + 1])
                parts[i] = self._taken(q, parts[i][::-1])[::-1]

    def _taken(self, q: sp.Symbol, motions: list[Motion]) -> list[Motion]:
        kept: list[Motion] = []
        for k, motion in enumerate(motions):
            if motion.axis != "z":
                return kept + motions[k:]
            if motion.turns and motion.amount.free_symbols:
                self._shifts[q] += motion.amount
            else:
                kept.append(motion)
        return kept


def meeting(one: Link, frames: LocalFrames) -> tuple[sp.Expr, sp.Expr] | None:
    """Return where the z axes before and behind a link meet, along both; None if nowhere."""
    t, d = one.t, one.R[:, 2]
    k = max((0, 1), key=lambda i: abs(frames.number(d[i])))
    if d[k] == 0:
        return None
    along = frames.cleaned(sp.simplify(-t[k] / d[k]))
    apart = frames.number(t[1 - k] + along * d[1 - k])
    if abs(apart) > TOLERANCE * frames.length:
        return None
    return frames.cleaned(sp.expand(t[2] + along * d[2])), along
