# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The steps of an inverse as formulas that can be printed and evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from arm_common.transforms import Array
from sympy.printing.precedence import PRECEDENCE

_ROUNDING = 1e-12
_VANISHED = 1e-9
_NEWTON_STEPS = 3
_REAL = 1e-6  # imaginary part up to which a root counts as real


class NoFormulasError(Exception):
    """A plan of the solver leaves a joint free for every target, which it then finds otherwise."""


class PlusMinus(sp.Function):  # type: ignore[misc]
    """A sum with both signs: first, second, and the symbol that stands for the sign."""

    nargs = 3

    @classmethod
    def of(cls, second: sp.Expr, sign: sp.Symbol, first: sp.Expr | None = None) -> sp.Expr:
        """Return first, or 0, with both signs of second."""
        return cls(sp.Integer(0) if first is None else first, second, sign)

    def _parts(self) -> tuple[sp.Expr, str, sp.Expr]:
        first, second, _ = self.args
        negative = second.could_extract_minus_sign()
        return first, "mp" if negative else "pm", -second if negative else second

    def _latex(self, printer: Any, exp: Any = None) -> str:
        first, sign, second = self._parts()
        shown = printer._print(second)
        shown = rf"\left({shown}\right)" if second.is_Add else shown
        return f"{printer._print(first) if first != 0 else ''} \\{sign} {shown}".strip()

    def _mathml_presentation(self, printer: Any) -> Any:
        first, sign, second = self._parts()
        row = printer.dom.createElement("mrow")
        if first != 0:
            row.appendChild(printer._print(first))
        operator = printer.dom.createElement("mo")
        operator.appendChild(printer.dom.createTextNode("\u2213" if sign == "mp" else "\u00b1"))
        row.appendChild(operator)
        row.appendChild(printer.parenthesize(second, PRECEDENCE["Add"] + 1))
        return row


def signed(expression: sp.Expr) -> sp.Expr:
    """Return an expression with its signs as symbols, which are 1 or -1."""
    return expression.replace(PlusMinus, lambda first, second, sign: first + sign * second)


@dataclass(frozen=True)
class InverseStep:
    """One step: a joint, or a symbol for a part of what follows.

    Attributes:
        symbol: What it finds.
        expression: Its value; the polynomial that is 0 if there is an ``unknown``.
        text: Why.
        free: If all of them are 0, the joint may have any position.
        reach: If it is negative, the target is out of reach.
        otherwise: A sentence, and the value where all of ``free`` are 0, if it is not free there.
        unknown: The variable of the polynomial.
        joint: The number of the joint; empty for a part of what follows.
        equation: The two sides of the equation that it solves.
    """

    symbol: sp.Symbol
    expression: sp.Expr
    text: str = ""
    free: tuple[sp.Expr, ...] = ()
    reach: sp.Expr | None = None
    otherwise: tuple[str, sp.Expr] | None = None
    unknown: sp.Symbol | None = None
    joint: str = ""
    equation: tuple[sp.Expr, sp.Expr] | None = None

    @property
    def symbols(self) -> set[sp.Symbol]:
        """The symbols that it uses."""
        parts = [self.expression, *self.free, self.reach, self.otherwise and self.otherwise[1]]
        return {s for part in parts if part is not None for s in part.free_symbols}

    @cached_property
    def signs(self) -> tuple[sp.Symbol, ...]:
        """The symbols of the signs that it chooses."""
        return tuple({f.args[2] for f in self.expression.atoms(PlusMinus)})


@dataclass(frozen=True)
class InverseTarget:
    """The pose of the target without the constant transforms at both ends of the arm.

    Attributes:
        before, after: Constant transforms (4, 4).
        is_reversed: The inverse of what remains is the target.
        R, p: Symbols of its rotation (3, 3) and position (3, 1).
    """

    before: sp.Matrix
    after: sp.Matrix
    is_reversed: bool
    R: sp.Matrix
    p: sp.Matrix


class InverseFormulas:
    """The inverse of an arm as a list of steps.

    Attributes:
        target: What its symbols stand for.
        steps: In the order in which they are solved.
        sums: The sums of joints that a step finds, by their symbol.
    """

    def __init__(
        self,
        target: InverseTarget,
        steps: Sequence[InverseStep],
        sums: Mapping[sp.Symbol, sp.Expr],
        values: Mapping[sp.Symbol, float],
    ) -> None:
        self.sums = sums
        self.target, self.steps, self._values = target, tuple(steps), dict(values)
        self._functions: dict[sp.Expr, Callable[[Mapping[Any, Array]], Any]] = {}

    def given(self, T: Array) -> Array:
        """Return the numbers of the target for poses (..., 4, 4) of the tool."""
        first, last = self._ends
        found = first @ T @ last
        return np.asarray(np.linalg.inv(found) if self.target.is_reversed else found)

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        """The inverse of the constant transforms."""
        first, last = (
            np.linalg.inv(np.array(sp.Matrix(matrix).subs(self._values), dtype=float))
            for matrix in (self.target.before, self.target.after)
        )
        return first, last

    def evaluate(self, T: Array, seed: Array, joints: Sequence[sp.Symbol]) -> dict[Any, Array]:
        """Return the value of each symbol (m, b) for poses (m, 4, 4) and all b choices of signs.

        A free joint stays at its position in seed (m, n), whose columns are those of ``joints``.
        What is out of reach is NaN.
        """
        found = self.given(T)
        start = {joint: seed[:, [i]] for i, joint in enumerate(joints)}
        known: dict[Any, Array] = {}
        for i in range(3):
            known[self.target.p[i]] = found[:, i, 3, None]
            for j in range(3):
                known[self.target.R[i, j]] = found[:, i, j, None]
        for step in self.steps:
            for sign in step.signs:
                known = _with_both_signs(sign, known)
            if step.unknown is not None:
                every = sp.Poly(step.expression, step.unknown).all_coeffs()
                values = [self._number(coefficient)(known) for coefficient in every]
                known = _with_roots(step.symbol, values, known)
                continue
            shape = next(iter(known.values())).shape
            value = np.broadcast_to(self._number(step.expression)(known), shape)
            if step.free:
                other = (
                    self._number(self.sums.get(step.symbol, step.symbol))(start)
                    if step.otherwise is None
                    else self._number(step.otherwise[1])(known)
                )
                value = np.where(self._vanish(step.free, known), other, value)
            known[step.symbol] = value
        return known

    def _vanish(self, free: Sequence[sp.Expr], known: Mapping[Any, Array]) -> Array:
        """Return where all expressions are 0."""
        sizes = [np.abs(self._number(f)(known)) for f in free]
        return np.max(np.broadcast_arrays(*sizes), axis=0) < _VANISHED

    def _number(self, formula: sp.Expr) -> Callable[[Mapping[Any, Array]], Any]:
        """Return a function of the values of the symbols."""
        if formula not in self._functions:
            self._functions[formula] = self._function(formula)
        return self._functions[formula]

    def _function(self, expression: sp.Expr) -> Callable[[Mapping[Any, Array]], Any]:
        expression = sp.sympify(signed(sp.sympify(expression)).xreplace(self._values))
        symbols = sorted(expression.free_symbols, key=str)
        function = sp.lambdify(symbols, expression, [{"sqrt": _root}, "numpy"])
        return lambda known: function(*(known[s] for s in symbols))


def _root(x: Any) -> Any:
    x = np.asarray(x, dtype=float)
    with np.errstate(invalid="ignore"):
        return np.sqrt(np.where((x < 0.0) & (x > -_ROUNDING), 0.0, x))


def _with_both_signs(sign: sp.Symbol, known: Mapping[Any, Array]) -> dict[Any, Array]:
    """Return values twice, for either sign."""
    found = {s: np.concatenate((x, x), axis=1) for s, x in known.items()}
    m, count = next(iter(found.values())).shape
    found[sign] = np.broadcast_to(np.repeat((1.0, -1.0), count // 2), (m, count))
    return found


def _with_roots(
    symbol: sp.Symbol, coefficients: Sequence[Any], known: Mapping[Any, Array]
) -> dict[Any, Array]:
    """Return values with the real roots of polynomials, leading coefficient first."""
    shape = next(iter(known.values())).shape
    every = np.stack([np.broadcast_to(c, shape) for c in coefficients], axis=-1)
    degree = len(coefficients) - 1
    roots = np.full((*shape, degree), np.nan)
    for at in np.ndindex(*shape):
        if not np.isfinite(every[at]).all():
            continue
        p = np.poly1d(every[at])
        values = np.roots(p)
        real = values[np.abs(values.imag) < _REAL * np.maximum(np.abs(values), 1.0)].real
        for _ in range(_NEWTON_STEPS):
            slope = np.polyder(p)(real)
            real = real - np.divide(p(real), slope, out=np.zeros_like(real), where=slope != 0.0)
        roots[at][: len(real)] = real
    found = {s: np.repeat(x, degree, axis=1) for s, x in known.items()}
    return {**found, symbol: roots.reshape(shape[0], -1)}
