# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/closed_form/test_formulas.py
"""The steps for joints that make up a rotation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import sympy as sp

from arm_studio.closed_form.formulas import InverseTarget
from arm_studio.closed_form.quartic import write_quartic
from arm_studio.closed_form.worksheet import Linear, Worksheet
from arm_studio.symbolic.arm import Product
from arm_studio.symbolic.local_frames import LocalFrames, LocalJoint

_LONG = 30  # operations of an entry of a rotation that is written in stages


class TurnSteps:
    """Writes the steps for up to three turns, whose product is the remaining rotation.

    Args:
        frames: The joints and links.
        target: The target pose.
        sheet: The steps are appended to it.
    """

    def __init__(self, frames: LocalFrames, target: InverseTarget, sheet: Worksheet) -> None:
        self._frames, self._target, self._sheet = frames, target, sheet
        self._remaining: dict[tuple[int, int], sp.Expr] = {}
        self._stages: dict[str, sp.Expr] = {}
        self._undone = 0  # joints
        self._text = ""
        self._together = LocalJoint(sp.Symbol("phi"), False, 1, sp.Integer(0))
        self._between = sp.eye(3)  # constant turns between parallel axes

    def wrist(self, first: int, count: int) -> None:
        """Append the last joints of an arm; the joints before them are known."""
        self._undone = first
        self._text = self._remains(first)
        links = [sp.eye(3), *(link.R for link in self._frames.links[first:-1])]
        self._turns(self._frames.joints[first:], links[:count])

    def all_parallel(self, first: int, parallel: int, after: int) -> None:
        """Append the total angle of the parallel axes and the joints behind them."""
        self._undone = first
        self._text = self._remains(first)
        last = first + parallel - 1
        phi = self._sheet.symbol("phi")
        self._together = self._together._replace(q=phi)
        group = self._frames.joints[first : last + 1]
        self._sheet.sums[phi] = sum((j.sense * (j.q + j.shift) for j in group), sp.Integer(0))
        self._between = sp.eye(3)
        for link in self._frames.links[first:last]:
            self._between = self._between * link.R
        behind = [link.R for link in self._frames.links[last:-1]]
        links = [self._between, *behind]
        if after:
            links[:2] = [sp.eye(3), self._between * behind[0]]
        self._turns([self._together, *self._frames.joints[last + 1 :]], links)

    def _remains(self, first: int) -> str:
        names = listed([str(joint.q) for joint in self._frames.joints[:first]])
        return f"Entries of the rotation that is left for the joints behind {names}:"

    def rotation_of_parallel(self) -> sp.Matrix:
        """Return the rotation (3, 3) by all parallel axes together."""
        return self._together.rotation * self._between

    def last_parallel(self, first: int, last: int) -> None:
        """Append the last parallel joint; the others and their sum are known."""
        *preceding, joint = self._frames.joints[first : last + 1]
        rest = self._together.q - sum(j.sense * (j.q + j.shift) for j in preceding)
        text = f"It is what remains of {self._together.q}."
        self._sheet.add(joint, sp.expand(joint.sense * rest - joint.shift), text)

    def both_ends(self, on: tuple[Linear, Linear], last: int, height: sp.Expr) -> None:
        """Append the joint before parallel axes and the first of two behind that do not meet.

        Args:
            on: The heights along the parallel axes of a point of the last axis, and of its
                direction, by the joint before them.
            last: Index of the last parallel joint.
            height: Of the parallel axes together.
        """
        one, five = self._frames.joints[0], self._frames.joints[last + 1]
        link, behind = self._frames.links[last], self._frames.links[last + 1]
        row = link.R[2, :]
        point, direction = behind.t, behind.R[:, 2]
        rows = []
        for x, start, coefficients in (
            (point, height + link.t[2], on[0]),
            (direction, sp.Integer(0), on[1]),
        ):
            k = start + row[2] * x[2]
            a, b = row[0] * x[0] + row[1] * x[1], row[1] * x[0] - row[0] * x[1]
            rows.append(((k, a, b), coefficients))
        text = (
            "The parallel axes change neither the coordinate of a point of the last axis along "
            "them nor the angle of that axis with them: two equations, in both of which the "
            "joints before and behind them appear."
        )
        write_quartic(self._sheet, five, one, rows, text)

    def _entry(self, i: int, j: int) -> sp.Expr:
        """Return a symbol for an entry of the remaining rotation; indices start at 0."""
        if (i, j) not in self._remaining:
            seen = self._target.R * self._frames.links[-1].R.T
            value = sp.expand((self._done[:, i].T * seen[:, j])[0])
            if value.count_ops() > _LONG:
                value = self._staged(seen[:, j], j)[i]
            self._remaining[i, j] = self._sheet.define(f"r_{i + 1}{j + 1}", value, self._text)
        return self._remaining[i, j]

    @cached_property
    def _done(self) -> sp.Matrix:
        """The rotation by the known joints."""
        return Product(self._frames.motions(self._undone)).R

    def _staged(self, column: sp.Matrix, j: int) -> sp.Matrix:
        """Return a column of the remaining rotation, named behind each joint but the last."""
        for k in range(self._undone):
            joint, link = self._frames.joints[k], self._frames.links[k]
            if not joint.slides:
                column = joint.moved(column, back=True)
            column = (link.R.T * column).applyfunc(self._sheet.tidied)
            if k < self._undone - 1:
                names = [f"{'uv'[k]}_{i + 1}{j + 1}" for i in range(3)]
                column = self._named_once(names, column)
        return column

    def _named_once(self, names: Sequence[str], column: sp.Matrix) -> sp.Matrix:
        for name, value in zip(names, column, strict=True):
            if name not in self._stages:
                self._stages[name] = self._sheet.define(name, value, self._text)
        return sp.Matrix([self._stages[name] for name in names])

    def _column(self, j: int, rows: int = 2) -> sp.Matrix:
        return sp.Matrix([self._entry(i, j) for i in range(rows)])

    def _turns(self, joints: Sequence[LocalJoint], links: Sequence[sp.Matrix]) -> None:
        """Append turns; a link is the constant rotation before each of them."""
        if len(joints) == 1:
            text = "The rotation that remains is one about this axis."
            self._sheet.swing(joints[0], links[0][:, 0], self._column(0), text)
        elif len(joints) == 2:
            self._two(joints, links[1])
        elif len(joints) == 3:
            self._three(joints, links[1], links[2])

    def _two(self, joints: Sequence[LocalJoint], A: sp.Matrix) -> None:
        first, second = joints
        last_row = sp.Matrix([self._entry(2, 0), self._entry(2, 1)])
        text = f"The third row of what remains does not depend on {first.q}."
        self._sheet.swing(second, last_row, A[2, :2].T, text)
        text = f"The third column does not depend on {second.q}."
        self._sheet.swing(first, A[:2, 2], self._column(2), text)

    def _three(self, joints: Sequence[LocalJoint], A: sp.Matrix, B: sp.Matrix) -> None:
        first, middle, last = joints
        a = A[2, 0] * B[0, 2] + A[2, 1] * B[1, 2]
        b = A[2, 1] * B[0, 2] - A[2, 0] * B[1, 2]
        column = sp.Matrix([self._entry(0, 2), self._entry(1, 2)])
        corner = self._entry(2, 2)
        is_square = A[2, 2] == 0 and B[2, 2] == 0 and 0 in (a, b)
        text = f"{corner}, the cosine between the two outer axes, depends on {middle.q} alone."
        more = {"root": sp.sqrt(column.dot(column))} if is_square else {}
        if not any(step.symbol == middle.q for step in self._sheet.steps):
            self._sheet.equation(middle, (A[2, 2] * B[2, 2], a, b), corner, text, **more)
        inner = (A * middle.rotation * B).applyfunc(sp.expand)
        text = f"The third column does not depend on {last.q}."
        self._sheet.swing(first, inner[:2, 2], column, text)
        row = sp.Matrix([self._entry(2, 0), self._entry(2, 1)])
        text = f"The third row does not depend on {first.q}."
        otherwise = self._aligned(first, last, inner)
        free = tuple(row)
        self._sheet.swing(last, row, inner[2, :2].T, text, free=free, otherwise=otherwise)

    def _aligned(
        self, first: LocalJoint, last: LocalJoint, inner: sp.Matrix
    ) -> tuple[str, sp.Expr]:
        """Return the last joint where the outer axes are aligned and the first one is chosen."""
        whole = first.rotation * inner
        column = self._column(0, 3)
        sine, cosine = whole[:, 1].dot(column), whole[:, 0].dot(column)
        text = (
            "the outer axes of the three are aligned, and only the sum or the difference of "
            f"their turns is determined; with {first.q} chosen,"
        )
        return text, sp.atan2(last.sense * sine, cosine) - last.shift


def listed(names: Sequence[str]) -> str:
    """Return names as a list in words."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
