# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Texts of a robot file as SymPy expressions in metres and radians.

A constant of the file becomes a symbol with its name. The value of the symbol is in SI units, that
of the constant is in the units of the file; the expression contains the factor, which cancels in
sums of lengths and of angles. A number that is not 0, a multiple of a quarter turn, or an
expression that has no simple form, gets a symbol such as a_2 (of row 2), so that formulas stay
readable.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Any

import sympy as sp
from arm_common.errors import InputError
from arm_common.yaml.expressions import parse_expression
from arm_description.model.units import Units

_ROUNDING = 1e-12  # relative
_MAX_SIZE = 12  # operations of an expression that is shown instead of a symbol
_LENGTH, _ANGLE = "prismatic", "revolute"


class FormulaReader:
    """Turns the cells of one file into expressions, and collects the symbols that they use.

    Args:
        units: units of the file.
        constants: values of its constants, in these units.
        texts: its cells as written, by key such as ``joints.elbow.d``.

    Attributes:
        values: SI value of each symbol, in the order in which they appear.
        meanings: what each symbol stands for: a constant of the file, or a cell.
    """

    def __init__(
        self, units: Units, constants: Mapping[str, float], texts: Mapping[str, str]
    ) -> None:
        self._units, self._constants, self._texts = units, constants, texts
        self.values: dict[sp.Symbol, float] = {}
        self.meanings: dict[sp.Symbol, str] = {}
        self._kinds: dict[str, str] = {}  # of the constants in use

    def length(self, key: str, name: str, value: float) -> sp.Expr:
        """Return the expression of a cell [m]; ``name`` is the symbol for it if it is a number."""
        return self._expression(key, name, value, _LENGTH)

    def angle(self, key: str, name: str, value: float) -> sp.Expr:
        """Return the expression of a cell [rad]; quarter turns stay numbers."""
        quarters = value / (math.pi / 2.0)
        if abs(quarters - round(quarters)) < _ROUNDING:
            return sp.Integer(round(quarters)) * sp.pi / 2
        return self._expression(key, name, value, _ANGLE)

    def _expression(self, key: str, name: str, value: float, kind: str) -> sp.Expr:
        if value == 0.0:
            return sp.Integer(0)
        found = self._from_text(self._texts.get(key, ""), value, kind)
        if found is not None:
            return found
        symbol = sp.Symbol(name, real=True)
        self.values[symbol], self.meanings[symbol] = value, key
        return symbol

    def _from_text(self, text: str, value: float, kind: str) -> sp.Expr | None:
        """Return the expression of a text, None if it has no constants or no simple form."""
        try:
            tree = parse_expression(text)
            names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            if not names & set(self._constants):
                return None
            expression = sp.expand(self._scale(kind) * self._value(tree, kind))
        except (InputError, KeyError, TypeError):
            return None
        symbols = {s: self._constant_value(s.name) for s in expression.free_symbols}
        found = float(expression.subs(symbols))
        if abs(found - value) > _ROUNDING * abs(value) or expression.count_ops() > _MAX_SIZE:
            return None
        for symbol in sorted(symbols, key=str):
            self.values[symbol] = symbols[symbol]
            self.meanings[symbol] = f"constants.{symbol.name}"
        return expression

    def _scale(self, kind: str) -> sp.Expr:
        """Return what one unit of the file is in metres or radians, exactly."""
        unit = self._units.unit(kind)
        if kind == _ANGLE:
            return sp.pi / 180 if unit == "deg" else sp.Integer(1)
        return sp.nsimplify(self._units.metres(1.0), rational=True)

    def _constant_value(self, name: str) -> float:
        return float(self._scale(self._kinds[name])) * self._constants[name]

    def _value(self, node: Any, kind: str) -> sp.Expr:
        """Return a part of an expression in the units of the file."""
        match node:
            case ast.Constant(value=number):
                return sp.Rational(str(number))
            case ast.Name(id="pi"):
                return sp.pi
            case ast.Name(id=name):
                self._constants[name]  # a KeyError if it is none
                own = self._kinds.setdefault(name, kind)
                return sp.Symbol(name, real=True) / self._scale(own)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand, kind)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._value(operand, kind)
            case ast.BinOp(op=op, left=left, right=right):
                return _OPERATIONS[type(op)](self._value(left, kind), self._value(right, kind))
            case ast.Call(func=ast.Name(id="sin" | "cos" as name), args=[argument]):
                angle = sp.expand(self._value(argument, _ANGLE) * self._scale(_ANGLE))
                return sp.sin(angle) if name == "sin" else sp.cos(angle)
        raise KeyError(ast.unparse(node))


_OPERATIONS: dict[type[ast.operator], Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}
