# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic over named constants, as written in a robot file: ``l1 + l10``, ``-h1*cos(tilt)``.

Nothing is executed. Only letters, digits and the signs of arithmetic reach the parser, in a text
of bounded length, and only the listed kinds of nodes are evaluated. Every number is decimal, since
010, 1_000 and 0x10 mean different things to different readers. All arithmetic is on floats: no
expression can take long or need much memory.
"""

from __future__ import annotations

import ast
import keyword
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from arm_common.errors import InputError
from arm_common.suggestions import did_you_mean

MAX_LENGTH = 300
MAX_NODES = 200
# What no expression can hold, for the JSON schema too.
FOREIGN = "!\"#$%&':;<=>?@[\\]^`{|}~"
_SIGNS = frozenset(" _.+-*/(),")
_NUMERAL = r"\.?\d(?:[eE][+-]?(?=\d)|[\w.])*"
_WORD = re.compile(rf"(?P<numeral>{_NUMERAL})|[\w.]+")
_DECIMAL = re.compile(r"((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_CLOCK = re.compile(r"\d+(:\d+)+")
_COMMA = re.compile(r"[+-]?\d*,\d*")


def parse_expression(text: str) -> ast.expr:
    """Parse one expression; an InputError says what is not arithmetic, or that it is too long."""
    text = text.strip()
    if len(text) > MAX_LENGTH:
        problem = f"the expression is longer than {MAX_LENGTH} characters"
        raise InputError(problem, remedy="split it into constants")
    _refuse_foreign(text)
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(
            f"{text!r} is not a number or an expression", remedy="write for example 0.105 or l1/2"
        ) from None
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise InputError("the expression is too long", remedy="split it into constants")
    return tree.body


def _refuse_foreign(text: str) -> None:
    if text.lower().lstrip("+-.") in ("nan", "inf", "infinity"):
        raise InputError(f"{text} is not finite", remedy="write a finite number")
    if _CLOCK.fullmatch(text):
        problem = f"{text!r} is a time of day, not a number"
        raise InputError(problem, remedy="write one decimal number")
    if _COMMA.fullmatch(text):
        remedy = f"write {text.replace(',', '.')} with a point"
        raise InputError(f"a comma is not allowed in a number: {text!r}", remedy=remedy)
    plain = unicodedata.normalize("NFKC", text)
    if plain != text:
        raise InputError(f"{text!r} looks like {plain!r}", remedy="write that")
    for character in text:
        if not (character.isalnum() or character in _SIGNS):
            raise _foreign(character, text)
    for word in _WORD.finditer(text):
        if word["numeral"]:
            _check_numeral(word[0])
        elif "." in word[0]:  # Python would warn of a numeral in it, as in l1.5and
            raise _foreign(word[0], text)


def _foreign(what: str, text: str) -> InputError:
    return InputError(
        f"{what!r} is not allowed in an expression: {text!r}",
        remedy="use numbers, constants, functions, + - * / ** and parentheses",
    )


def _check_numeral(numeral: str) -> None:
    if _DECIMAL.fullmatch(numeral):
        return
    plain = numeral.replace("_", "").lstrip("0") or "0"
    decimal = plain.isascii() and plain.isdecimal()
    remedy = f"write {plain}" if decimal else "write a decimal number without a unit"
    raise InputError(f"{numeral!r} is not a decimal number", remedy=remedy)


_BINARY: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[float], float]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_Functions: TypeAlias = Mapping[str, Callable[..., float]]
_PLAIN: _Functions = {"sqrt": math.sqrt, "abs": abs, "hypot": math.hypot, "min": min, "max": max}
_OF_ANGLE: _Functions = {"sin": math.sin, "cos": math.cos, "tan": math.tan}
_TO_ANGLE: _Functions = {
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "atan2": math.atan2,
}
_OF_TWO = ("hypot", "min", "max", "atan2")  # the others take one value
MOST_SHOWN = 10
FUNCTIONS = (*_PLAIN, *_OF_ANGLE, *_TO_ANGLE, "rad", "deg")
RESERVED = frozenset((*FUNCTIONS, "pi", "q"))


def constant_name_problem(name: str) -> str:
    """Say why a name cannot be a constant's, or "" if it can."""
    if not name.isidentifier() or keyword.iskeyword(name):
        return f"{name!r} is not a name: use letters, digits and _, and begin with a letter"
    if unicodedata.normalize("NFKC", name) != name:
        return f"{name!r} looks like {unicodedata.normalize('NFKC', name)!r}, write that"
    if name in RESERVED:
        return f"{name!r} is taken: it is already a function or constant of the expressions"
    return ""


class Expressions:
    """Evaluates expressions over constants in one file's angle unit.

    ``sin``, ``cos`` and ``tan`` take, and ``asin`` .. ``atan2`` give, angles in the file's unit.
    ``rad(x)`` and ``deg(x)`` say that x is in radians or degrees and give it in the file's unit.
    In a file in degrees ``pi`` is accepted only inside ``rad(...)``: anywhere else it would be a
    number of radians taken for degrees.

    Args:
        constants: values by name, already numbers or still expressions, in the file's units.
        radian: one unit of angle of the file in radians (1 for rad, pi/180 for deg).
        noun: what errors call such a value.
    """

    def __init__(
        self,
        constants: Mapping[str, str] | None = None,
        radian: float = 1.0,
        noun: str = "constant",
    ) -> None:
        self._noun = noun
        self._texts = dict(constants or {})
        self._values: dict[str, float] = {}
        self._radian = radian

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the constants."""
        return tuple(self._texts)

    @property
    def values(self) -> Mapping[str, float]:
        """Values of all constants in the file's units, read-only."""
        return MappingProxyType({name: self.constant(name) for name in self._texts})

    def constant(self, name: str) -> float:
        """Value of a constant in the file's units.

        Raises:
            InputError: it refers to itself or cannot be computed; the error's key is the
                name of the constant that is wrong.
        """
        path = [name]  # each needed by the one before; no recursion, as it may be long
        while path and name not in self._values:
            last, missing = path[-1], self._resolved(path[-1])
            if not missing:
                path.remove(last)
            elif missing in path:
                circle = [*path[path.index(missing) :], missing]
                if len(circle) > MOST_SHOWN:
                    circle[MOST_SHOWN // 2 : -MOST_SHOWN // 2] = ["..."]
                raise InputError(
                    f"{self._noun}s are circular ({' -> '.join(circle)})",
                    remedy="give one of them as a number",
                    key=missing,
                )
            else:
                path.append(missing)
        return self._values[name]

    def _resolved(self, name: str) -> str:
        """Evaluate a constant, or return another that has to be evaluated before it."""
        try:
            tree = parse_expression(self._texts[name])
            for other in (node.id for node in ast.walk(tree) if isinstance(node, ast.Name)):
                if other in self._texts and other not in self._values:
                    return other
            self._values[name] = self._finite(tree, self._texts[name])
        except InputError as error:
            raise InputError(error.problem, remedy=error.remedy, key=name) from None
        return ""

    def evaluate(self, text: str) -> float:
        """Value of an expression in the file's units, always finite.

        Raises:
            InputError: it is no expression of the kinds allowed, or its value is not finite.
        """
        return self._finite(parse_expression(text), text)

    def function(self, text: str, variable: str) -> Callable[[float], float]:
        """Return an expression of a variable, beside the constants, as a function of its value.

        The function raises InputError where `evaluate` would.

        Raises:
            InputError: a constant has the variable's name, or the text is no expression.
        """
        if variable in self._texts:
            problem = f"the constant {variable!r} is the variable here"
            raise InputError(problem, remedy="rename the constant")
        tree = parse_expression(text)
        inner = Expressions({**self._texts, variable: "0"}, self._radian, self._noun)
        inner._values = {name: self.constant(name) for name in self._texts}

        def at(value: float) -> float:
            inner._values[variable] = value
            return inner._finite(tree, text)

        return at

    def _finite(self, tree: ast.expr, text: str) -> float:
        try:
            value = self._value(tree, in_rad=False)
        except ZeroDivisionError:
            raise InputError(f"{text!r} divides by zero") from None
        except (ValueError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{text!r} has no finite real value") from None
        if not math.isfinite(value):
            raise InputError(f"{text!r} is not finite", remedy="write a finite number")
        return value

    def _value(self, node: ast.expr, in_rad: bool) -> float:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return float(number)
            case ast.Name(id=name):
                return self._named(name, in_rad)
            case ast.UnaryOp(op=unary, operand=operand) if type(unary) in _UNARY:
                return _UNARY[type(unary)](self._value(operand, in_rad))
            case ast.BinOp(op=binary, left=left, right=right) if type(binary) in _BINARY:
                a, b = self._value(left, in_rad), self._value(right, in_rad)
                return _BINARY[type(binary)](a, b)
            case ast.Call(func=ast.Name(id=function), args=args, keywords=[]):
                return self._call(function, args, in_rad)
        raise InputError(
            f"{ast.unparse(node)!r} is not allowed in an expression",
            remedy="use numbers, constants, + - * / **, parentheses and " + ", ".join(FUNCTIONS),
        )

    def _named(self, name: str, in_rad: bool) -> float:
        if name == "pi":
            if self._radian != 1.0 and not in_rad:
                raise InputError(
                    "pi is an angle in radians, but this file's angles are in deg",
                    remedy="write 180 for pi, or rad(...) around the expression",
                )
            return math.pi
        if name == "q":
            raise InputError("q is implied", remedy="write the offset alone (q - 90 becomes -90)")
        if name not in self._texts:
            problem = f"{name!r} is not a {self._noun} of this file"
            raise InputError(problem, remedy=did_you_mean(name, self._texts))
        return self.constant(name)

    def _call(self, function: str, args: list[ast.expr], in_rad: bool) -> float:
        if function not in FUNCTIONS:
            remedy = "use one of " + ", ".join(FUNCTIONS)
            raise InputError(f"there is no function {function!r}", remedy=remedy)
        wanted = 2 if function in _OF_TWO else 1
        if len(args) != wanted:
            raise InputError(f"{function} takes {wanted} value(s), not {len(args)}")
        values = [self._value(arg, in_rad or function == "rad") for arg in args]
        if function == "rad":
            return values[0] / self._radian
        if function == "deg":
            return values[0] if self._radian != 1.0 else math.radians(values[0])
        if function in _OF_ANGLE:
            return _OF_ANGLE[function](values[0] * self._radian)
        if function in _TO_ANGLE:
            return _TO_ANGLE[function](*values) / self._radian
        return float(_PLAIN[function](*values))
