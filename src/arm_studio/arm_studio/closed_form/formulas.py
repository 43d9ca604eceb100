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
    """A plan of the solver leaves a joint free for every target; the solver then iterates."""


class PlusMinus(sp.Function):  # type: ignore[misc]
    """The sum first plus or minus second; the third argument is the symbol of the sign."""

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
    """One step, which solves for a joint or an intermediate symbol.

    Attributes:
        symbol: The unknown that it solves for.
        expression: Its value, or the polynomial to solve if there is an ``unknown``.
        text: The explanation.
        free: If all of them are 0, the joint may take any position.
        reach: If it is negative, the target is out of reach.
        otherwise: A sentence and the value where all of ``free`` are 0, if it is determined.
        unknown: The variable of the polynomial.
        joint: The number of the joint; empty for an intermediate symbol.
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
        """The symbols that the step uses."""
        parts = [self.expression, *self.free, self.reach, self.otherwise and self.otherwise[1]]
        return {s for part in parts if part is not None for s in part.free_symbols}

    @cached_property
    def signs(self) -> tuple[sp.Symbol, ...]:
        """The symbols of the signs that the step introduces."""
        return tuple(sorted({f.args[2] for f in self.expression.atoms(PlusMinus)}, key=str))


@dataclass(frozen=True)
class InverseTarget:
    """The pose of the target without the constant transforms at both ends of the arm.

    Attributes:
        before, after: Constant transforms (4, 4).
        is_reversed: True if the target is the inverse of the remaining transform.
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

    def target_values(self, T: Array) -> Array:
        """Return the target (..., 4, 4) for poses (..., 4, 4) of the tool."""
        first, last = self._ends
        poses = first @ T @ last
        return np.asarray(np.linalg.inv(poses) if self.target.is_reversed else poses)

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
        Values are NaN out of reach.
        """
        poses = self.target_values(T)
        start = {joint: seed[:, [i]] for i, joint in enumerate(joints)}
        values: dict[Any, Array] = {}
        for i in range(3):
            values[self.target.p[i]] = poses[:, i, 3, None]
            for j in range(3):
                values[self.target.R[i, j]] = poses[:, i, j, None]
        for step in self.steps:
            for sign in step.signs:
                values = _with_both_signs(sign, values)
            if step.unknown is not None:
                every = sp.Poly(step.expression, step.unknown).all_coeffs()
                coefficients = [self._number(coefficient)(values) for coefficient in every]
                values = _with_roots(step.symbol, coefficients, values)
                continue
            shape = next(iter(values.values())).shape
            value = np.broadcast_to(self._number(step.expression)(values), shape)
            if step.free:
                other = (
                    self._number(self.sums.get(step.symbol, step.symbol))(start)
                    if step.otherwise is None
                    else self._number(step.otherwise[1])(values)
                )
                value = np.where(self._vanish(step.free, values), other, value)
            values[step.symbol] = value
        return values

    def _vanish(self, free: Sequence[sp.Expr], values: Mapping[Any, Array]) -> Array:
        """Return a mask that is True where all expressions are 0."""
        sizes = [np.abs(self._number(f)(values)) for f in free]
        return np.max(np.broadcast_arrays(*sizes), axis=0) < _VANISHED

    def _number(self, formula: sp.Expr) -> Callable[[Mapping[Any, Array]], Any]:
        """Return a function that evaluates a formula for values of the symbols."""
        if formula not in self._functions:
            self._functions[formula] = self._function(formula)
        return self._functions[formula]

    def _function(self, expression: sp.Expr) -> Callable[[Mapping[Any, Array]], Any]:
        expression = sp.sympify(signed(sp.sympify(expression)).xreplace(self._values))
        symbols = sorted(expression.free_symbols, key=str)
        function = sp.lambdify(symbols, expression, [{"sqrt": _root}, "numpy"])
        return lambda values: function(*(values[s] for s in symbols))


def _root(x: Any) -> Any:
    x = np.asarray(x, dtype=float)
    with np.errstate(invalid="ignore"):
        return np.sqrt(np.where((x < 0.0) & (x > -_ROUNDING), 0.0, x))


def _with_both_signs(sign: sp.Symbol, values: Mapping[Any, Array]) -> dict[Any, Array]:
    """Return the values twice, once for each sign."""
    doubled = {s: np.concatenate((x, x), axis=1) for s, x in values.items()}
    m, count = next(iter(doubled.values())).shape
    doubled[sign] = np.broadcast_to(np.repeat((1.0, -1.0), count // 2), (m, count))
    return doubled


def _with_roots(
    symbol: sp.Symbol, coefficients: Sequence[Any], values: Mapping[Any, Array]
) -> dict[Any, Array]:
    """Return the values for each real root of polynomials, leading coefficient first."""
    shape = next(iter(values.values())).shape
    every = np.stack([np.broadcast_to(c, shape) for c in coefficients], axis=-1)
    degree = len(coefficients) - 1
    roots = np.full((*shape, degree), np.nan)
    for at in np.ndindex(*shape):
        if not np.isfinite(every[at]).all():
            continue
        p = np.poly1d(every[at])
        candidates = np.roots(p)
        real = candidates[
            np.abs(candidates.imag) < _REAL * np.maximum(np.abs(candidates), 1.0)
        ].real
        for _ in range(_NEWTON_STEPS):
            slope = np.polyder(p)(real)
            real = real - np.divide(p(real), slope, out=np.zeros_like(real), where=slope != 0.0)
        roots[at][: len(real)] = real
    repeated = {s: np.repeat(x, degree, axis=1) for s, x in values.items()}
    return {**repeated, symbol: roots.reshape(shape[0], -1)}
