# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic over named constants, as written in a robot file: ``l1 + l10``, ``-h1*cos(tilt)``.

Nothing is executed: only letters, digits and arithmetic signs, in a text of bounded length, reach
Python's parser, and only the node types listed below are evaluated. Numbers are decimal, since
readers disagree about 010, 1_000 and 0x10. All arithmetic is on floats, so no expression can take
long or need much memory.
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
# Characters that no expression can contain; the JSON schema uses them, too.
FOREIGN = "!\"#$%&':;<=>?@[\\]^`{|}~"
_SIGNS = frozenset(" _.+-*/(),")
_DASHES = {ord(dash): "-" for dash in "\u2010\u2012\u2013\u2212"}  # as books print a minus
_NUMERAL = r"\.?\d(?:[eE][+-]?(?=\d)|[\w.])*"
_WORD = re.compile(rf"(?P<numeral>{_NUMERAL})|[\w.]+")
_DECIMAL = re.compile(r"((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_CLOCK = re.compile(r"\d+(:\d+)+")
_COMMA = re.compile(r"[+-]?\d*,\d*")


def parse_expression(text: str) -> ast.expr:
    """Parse one expression; raise an InputError if it is not arithmetic or too long."""
    text = text.strip()
    if len(text) > MAX_LENGTH:
        problem = f"the expression is longer than {MAX_LENGTH} characters"
        raise InputError(problem, remedy="split it into constants")
    _reject_foreign(text)
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(
            f"{text!r} is not a number or an expression", remedy="write for example 0.105 or l1/2"
        ) from None
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise InputError("the expression is too long", remedy="split it into constants")
    return tree.body


def _reject_foreign(text: str) -> None:
    if text.lower().lstrip("+-.") in ("nan", "inf", "infinity"):
        raise InputError(f"{text} is not finite", remedy="write a finite number")
    if _CLOCK.fullmatch(text):
        problem = f"{text!r} is a time of day, not a number"
        raise InputError(problem, remedy="write one decimal number")
    if _COMMA.fullmatch(text):
        remedy = f"write {text.replace(',', '.')} with a decimal point"
        raise InputError(f"a comma is not allowed in a number: {text!r}", remedy=remedy)
    plain = unicodedata.normalize("NFKC", text.translate(_DASHES))
    if plain != text:
        raise InputError(f"{text!r} looks like {plain!r}", remedy="write that")
    for character in text:
        if not (character.isalnum() or character in _SIGNS):
            raise _foreign(character, text)
    for word in _WORD.finditer(text):
        if word["numeral"]:
            _check_numeral(word[0])
        elif "." in word[0]:  # Python would warn about a numeral inside it, as in l1.5and
            raise _foreign(word[0], text)


def _foreign(part: str, text: str) -> InputError:
    return InputError(
        f"{part!r} is not allowed in an expression: {text!r}",
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
_BINARY_FUNCTIONS = ("hypot", "min", "max", "atan2")  # the others take one argument
_MAX_SHOWN = 10  # names of a circular definition
FUNCTIONS = (*_PLAIN, *_OF_ANGLE, *_TO_ANGLE, "rad", "deg")
_PI = ("pi", "PI")
RESERVED = frozenset((*FUNCTIONS, *_PI, "q"))


def constant_name_problem(name: str) -> str:
    """Return why a name cannot be that of a constant, "" if it can."""
    if not name.isidentifier() or keyword.iskeyword(name):
        return f"{name!r} is not a name: use letters, digits and _, and begin with a letter"
    if unicodedata.normalize("NFKC", name) != name:
        return f"{name!r} looks like {unicodedata.normalize('NFKC', name)!r}, write that"
    if name in RESERVED:
        return f"{name!r} is reserved: it is a predefined function or constant"
    return ""


class Expressions:
    """Evaluates expressions over constants in the angle unit of one file.

    ``sin``, ``cos`` and ``tan`` take, and ``asin`` .. ``atan2`` return, angles in the file's unit.
    ``rad(x)`` and ``deg(x)`` convert x from radians or degrees to the file's unit. In a file in
    degrees ``pi`` is accepted only inside ``rad(...)``: elsewhere it would be a number of radians
    read as degrees.

    Args:
        constants: numbers or expressions by name, in the file's units.
        radian: the file's angle unit in radians (1 for rad, pi/180 for deg).
        noun: word for a constant in error messages.
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
        """Return the value of a constant in the file's units.

        Raises:
            InputError: it refers to itself or cannot be computed; the key of the error is the
                name of the invalid constant.
        """
        path = [
            name
        ]  # each needed by the one before; a loop, as a long chain would exhaust the stack
        while path and name not in self._values:
            last, missing = path[-1], self._resolved(path[-1])
            if not missing:
                path.remove(last)
            elif missing in path:
                circle = [*path[path.index(missing) :], missing]
                if len(circle) > _MAX_SHOWN:
                    circle[_MAX_SHOWN // 2 : -_MAX_SHOWN // 2] = ["..."]
                raise InputError(
                    f"{self._noun}s are circular ({' -> '.join(circle)})",
                    remedy="give one of them as a number",
                    key=missing,
                )
            else:
                path.append(missing)
        return self._values[name]

    def _resolved(self, name: str) -> str:
        """Evaluate a constant and return "", or return a constant that must be evaluated first."""
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
        """Return the value of an expression in the file's units, always finite.

        Raises:
            InputError: it is not a valid expression, or its value is not finite.
        """
        return self._finite(parse_expression(text), text)

    def function(self, text: str, variable: str) -> Callable[[float], float]:
        """Return an expression in one variable and the constants as a function of the variable.

        The function raises InputError where `evaluate` would.

        Raises:
            InputError: a constant has the name of the variable, or the text is not an expression.
        """
        if variable in self._texts:
            problem = f"the constant {variable!r} has the name of the variable"
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
        if name in _PI:
            if self._radian != 1.0 and not in_rad:
                raise InputError(
                    "pi is an angle in radians, but this file's angles are in deg",
                    remedy="write 180 for pi, or rad(...) around the expression",
                )
            return math.pi
        if name == "q":
            raise InputError("q is implied", remedy="write only the offset (-90 for q - 90)")
        if not self._texts:
            problem = f"{name!r} is not a number, and there are no {self._noun}s here"
            raise InputError(problem, remedy="write a number or a formula, such as 3*sqrt(2)")
        if name not in self._texts:
            problem = f"{name!r} is not a {self._noun} of this file"
            raise InputError(problem, remedy=did_you_mean(name, self._texts))
        return self.constant(name)

    def _call(self, function: str, args: list[ast.expr], in_rad: bool) -> float:
        if function not in FUNCTIONS:
            remedy = "use one of " + ", ".join(FUNCTIONS)
            raise InputError(f"there is no function {function!r}", remedy=remedy)
        arity = 2 if function in _BINARY_FUNCTIONS else 1
        if len(args) != arity:
            raise InputError(f"{function} takes {arity} value(s), not {len(args)}")
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
