# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/closed_form/test_formulas.py
"""The steps so far of an inverse, and the ways to solve an equation for a joint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from arm_studio.closed_form.formulas import InverseStep, NoFormulasError, PlusMinus
from arm_studio.symbolic.local_frames import LocalFrames, LocalJoint

Linear = tuple[sp.Expr, sp.Expr, sp.Expr]  # k, a, b of k + a phi_1 + b phi_2
_SIGN = sp.Symbol("sigma", real=True)
_LONG_EQUATION = 45  # operations
_SHORT_ROOT = 8  # operations below a root that need no symbol


class Worksheet:
    """The steps so far, and the ways to solve an equation for a joint.

    Args:
        frames: The joints and links.
        taken: Symbols that the steps must not use for something else.

    Attributes:
        steps: The steps.
        sums: The sums of joints that a step finds, by their symbol.
    """

    def __init__(self, frames: LocalFrames, taken: Sequence[sp.Symbol]) -> None:
        self.frames, self.steps = frames, list[InverseStep]()
        self.sums: dict[sp.Symbol, sp.Expr] = {}
        self._parts: dict[sp.Expr, sp.Symbol] = {}
        self._taken = {symbol.name for symbol in taken}

    def symbol(self, name: str) -> sp.Symbol:
        """Return a symbol that is not in use, called like this if possible."""
        while name in self._taken:
            base, _, index = name.partition("_")
            name = f"{base}k_{index}"
        self._taken.add(name)
        return sp.Symbol(name, real=True)

    def define(self, name: str, expression: sp.Expr, text: str = "") -> sp.Expr:
        """Return a symbol for an expression, or the expression if it is short."""
        if expression.is_Atom or (-expression).is_Atom:
            return expression
        if expression not in self._parts:
            self._parts[expression] = self.symbol(name)
            self.steps.append(InverseStep(self._parts[expression], expression, text))
        return self._parts[expression]

    def add(self, joint: LocalJoint, expression: sp.Expr, text: str, **more: Any) -> None:
        """Append the step for a joint."""
        free = more.get("free", ())
        if any(self.frames.is_constant(f) and f != 0 for f in free):
            more["free"] = ()
        more["joint"] = joint.number
        if joint.q in self.sums:
            more["equation"] = (joint.q, self.sums[joint.q])
        self.steps.append(InverseStep(joint.q, expression, text, **more))

    def constant(self, expression: sp.Expr) -> sp.Expr:
        """Return an expression without constant parts that vanish for the arm's numbers."""
        expression = sp.expand(expression)
        if self.frames.is_constant(expression):
            return self.frames.cleaned(expression)
        return expression

    def swing(
        self, joint: LocalJoint, start: sp.Matrix, end: sp.Matrix, text: str, **more: Any
    ) -> None:
        """Append the turn about z that brings the direction of start (x, y) to that of end."""
        fx, fy, gx, gy = (self.constant(v[i]) for v in (start, end) for i in (0, 1))
        if fx == fy == 0:
            raise NoFormulasError(f"the point is on the axis of {joint.q}")
        if joint.sense < 0:
            fy, gy = -fy, -gy
        if 0 in (fx, fy, gx, gy):
            sine, cosine = sp.expand(fx * gy - fy * gx), sp.expand(fx * gx + fy * gy)
            scale = self._positive_factor(sine, cosine)
            angle = sp.atan2(sp.expand(sine / scale), sp.expand(cosine / scale))
        else:
            angle = sp.atan2(gy, gx) - sp.atan2(fy, fx)
        if self.frames.is_constant(fx) and self.frames.is_constant(fy):
            more["free"] = ()
        more.setdefault("free", (gx, gy))
        self.add(joint, angle - joint.shift, text, **more)

    def _positive_factor(self, *expressions: sp.Expr) -> sp.Expr:
        """Return a positive constant that expressions have in common."""
        common = sp.Integer(0)
        for expression in expressions:
            common = sp.gcd(common, expression)
        factors = [f for f in sp.Mul.make_args(common) if self.frames.is_constant(f)]
        factor = sp.Mul(*factors)
        return factor if self.frames.number(factor) > 0.0 else -factor

    def turn(self, joint: LocalJoint, sides: Linear, text: str, **more: Any) -> None:
        """Append the solutions of a cos u + b sin u = r for the angle u; ``sides`` is r, a, b."""
        sign = sp.Symbol(f"sigma_{joint.number}", real=True)
        root = more.pop("root", None)
        r, a, b = self._reduced(joint, sides)
        if a == 0 or b == 0:
            angle, exceptions = self._one_function(joint, (r, a, b), text, root)
        else:
            angle, exceptions = self._both_functions(joint, (r, a, b), text)
        angle = angle.xreplace({_SIGN: sign})
        if isinstance(angle, PlusMinus):
            angle = PlusMinus.of(angle.args[1], sign, angle.args[0] - joint.shift)
        else:
            angle = angle - joint.shift
        self.add(joint, angle, text, **{**exceptions, **more})

    def _reduced(self, joint: LocalJoint, sides: Linear) -> Linear:
        """Return r, a, b without the constant factor of a and b, in the joint's own sense."""
        r, a, b = (self.constant(x) for x in sides)
        b = joint.sense * b
        if a == b == 0:
            raise NoFormulasError(f"{joint.q} is not in its equation")
        scale = sp.factor_terms(sp.gcd(a, b))
        scale = sp.Mul(*(f for f in sp.Mul.make_args(scale) if self.frames.is_constant(f)))
        if b.could_extract_minus_sign() and a != 0:
            scale = -scale
        return r / scale, sp.cancel(a / scale), sp.cancel(b / scale)

    def _both_functions(
        self, joint: LocalJoint, sides: Linear, text: str
    ) -> tuple[sp.Expr, dict[str, Any]]:
        """Return the angle if both a and b are there."""
        r, a, b = sides
        number = joint.number
        a, b = self.define(f"A_{number}", a, text), self.define(f"B_{number}", b, text)
        if r == 0:
            both = sp.atan2(PlusMinus.of(-a, _SIGN), PlusMinus.of(b, _SIGN))
            return both, {"free": (a, b)}
        r = self.define(f"K_{number}", self.tidied(r), text)
        reach = a**2 + b**2 - r**2
        free = () if self.frames.is_constant(r) else (a, b, r)
        if a.could_extract_minus_sign():
            other = PlusMinus.of(sp.sqrt(reach), _SIGN)
            negative = r.could_extract_minus_sign()
            half = -sp.atan2(-r, other) if negative else sp.atan2(r, other)
            angle = sp.atan2(-a, b) + half
        else:
            angle = PlusMinus.of(sp.atan2(sp.sqrt(reach), r), _SIGN, sp.atan2(b, a))
        return angle, {"free": free, "reach": reach}

    def _one_function(
        self, joint: LocalJoint, sides: Linear, text: str, root: sp.Expr | None
    ) -> tuple[sp.Expr, dict[str, Any]]:
        """Return the angle of a cos u = r, or of b sin u = r; ``root`` is of 1 - (r/a)^2."""
        r, a, b = sides
        size = a if b == 0 else b
        free = () if self.frames.is_constant(size) else (size, r)
        if r == 0:
            middle = sp.Integer(0) if b == 0 else sp.pi / 2
            return PlusMinus.of(sp.pi / 2, _SIGN, middle), {"free": free}
        ratio = self.define(f"D_{joint.number}", self.tidied(r / size), text)
        reach = 1 - ratio**2 if root is None else None
        other = sp.sqrt(1 - ratio**2) if root is None else root
        if b == 0:
            angle = PlusMinus.of(sp.atan2(other, ratio), _SIGN)
        else:
            angle = sp.atan2(ratio, PlusMinus.of(other, _SIGN))
        return angle, {"free": free, "reach": reach}

    def slide(self, joint: LocalJoint, sides: Linear, text: str, **more: Any) -> None:
        """Append the solutions of a u + b u^2 = r for the displacement u; ``sides`` is r, a, b."""
        r, a, b = (self.constant(x) for x in sides)
        a = joint.sense * a
        if a == b == 0:
            raise NoFormulasError(f"{joint.q} is not in its equation")
        if b == 0:
            return self.add(joint, self.tidied(r / a), text, **more)
        middle = self.tidied(-a / b / 2)
        rest = self.tidied(r / b + middle**2)
        if rest.count_ops() > _SHORT_ROOT:
            rest = self.define(f"K_{joint.number}", rest, text)
        sign = sp.Symbol(f"sigma_{joint.number}", real=True)
        root = PlusMinus.of(sp.sqrt(rest), sign, middle)
        return self.add(joint, root, text, reach=None if rest.is_nonnegative else rest, **more)

    def equation(
        self, joint: LocalJoint, coefficients: Linear, r: sp.Expr, text: str, **more: Any
    ) -> None:
        """Append the solutions for the motion u of a joint of k + a phi_1 + b phi_2 = r.

        The functions phi are cos u and sin u, or u and u^2 of a slide; ``coefficients`` are k, a
        and b.
        """
        k, a, b = coefficients
        if joint.slides:
            shown = a * joint.sense * joint.q + b * joint.q**2, self.tidied(r - k)
        else:
            shown = self.tidied(k + a * joint.cosine + b * joint.sine), r
        if sum(side.count_ops() for side in shown) <= _LONG_EQUATION:
            more["equation"] = shown
        solve = self.slide if joint.slides else self.turn
        solve(joint, (sp.expand(r - k), a, b), text, **more)

    def tidied(self, expression: sp.Expr) -> sp.Expr:
        """Return the shorter of an expression as a sum and over one denominator."""
        return min(
            (expression, sp.expand(expression), sp.together(sp.expand(expression))),
            key=lambda e: e.count_ops(),
        )
