# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Expressions that are linear in some variables, such as ``-(shoulder + elbow) + 90``."""

from __future__ import annotations

import ast
from collections.abc import Collection

from arm_common.errors import InputError
from arm_common.yaml.expressions import RESERVED, Expressions, parse_expression

from arm_description.model.constraints import LinearExpression


def variables_of(text: str, variables: Collection[str]) -> tuple[str, ...]:
    """Return the variables that an expression names, in order of their first occurrence.

    Raises:
        InputError: it is not a number or an expression.
    """
    return tuple(dict.fromkeys(_names(parse_expression(text), variables)))


def linear_expressions(
    expressions: Expressions, text: str, variables: Collection[str], outermost: str = ""
) -> tuple[LinearExpression, ...]:
    """Return an expression as linear in some variables.

    Args:
        expressions: evaluator over the constants of the file.
        text: the expression.
        variables: names of the variables.
        outermost: "min" or "max" if the expression may be the least or greatest of several; one
            within another is one with all of their arguments.

    Returns:
        One expression, or the arguments of the outermost function.

    Raises:
        InputError: it is not an expression, or not linear in the variables.
    """
    parts = [parse_expression(text)]
    flat: list[ast.expr] = []
    while parts:
        match parts.pop(0):
            case ast.Call(func=ast.Name(id=function), args=[a, b], keywords=[]) if (
                function == outermost
            ):
                parts[:0] = [a, b]
            case node:
                flat.append(node)
    return tuple(_Linear(expressions, text, variables).of(node) for node in flat)


def unknown_name(expressions: Expressions, text: str, variables: Collection[str]) -> str:
    """Return the first name in an expression that is nothing known, "" if all are known.

    Raises:
        InputError: it is not a number or an expression.
    """
    known = {*variables, *expressions.names, *RESERVED}
    return next((name for name in _names(parse_expression(text)) if name not in known), "")


def _names(node: ast.expr, variables: Collection[str] | None = None) -> list[str]:
    """Return the names in an expression in their order, all of them or some."""
    found = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    found.sort(key=lambda name: name.col_offset)
    return [n.id for n in found if variables is None or n.id in variables]


class _Linear:
    """Linear form of the nodes of one text."""

    def __init__(self, expressions: Expressions, text: str, variables: Collection[str]) -> None:
        self._expressions, self._text, self._variables = expressions, text, variables

    def of(self, node: ast.expr) -> LinearExpression:
        if not _names(node, self._variables):
            return LinearExpression(self._expressions.evaluate(ast.unparse(node)))
        match node:
            case ast.Name(id=name):
                return LinearExpression(0.0, ((name, 1.0),))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.of(operand).times(-1.0)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.of(operand)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self.of(left).plus(self.of(right))
            case ast.BinOp(op=ast.Sub(), left=left, right=right):
                return self.of(left).plus(self.of(right), -1.0)
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                one, other = self.of(left), self.of(right)
                if not one.factors:
                    return other.times(one.constant)
                if not other.factors:
                    return one.times(other.constant)
            case ast.BinOp(op=ast.Div(), left=left, right=right):
                divisor = self.of(right)
                if not divisor.factors:
                    return self._divided(self.of(left), divisor.constant)
        raise InputError(
            f"{self._text!r} is not linear in {', '.join(_names(node, self._variables))}",
            remedy="write a sum of joints times numbers, such as 0.5*shoulder - elbow + 10",
        )

    def _divided(self, expression: LinearExpression, number: float) -> LinearExpression:
        if number == 0.0:
            raise InputError(f"{self._text!r} divides by zero", remedy="divide by another number")
        factors = tuple((name, factor / number) for name, factor in expression.factors)
        return LinearExpression(expression.constant / number, factors)
