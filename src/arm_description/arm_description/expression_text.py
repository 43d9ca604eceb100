# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""From the text of an expression to its syntax tree, with all that is not arithmetic kept out.

Only letters, digits and the signs of arithmetic reach the parser, in a text of bounded length, and
every number is decimal: 010, 1_000 and 0x10 mean different things to different readers.
"""

from __future__ import annotations

import ast
import re
import unicodedata

from .errors import DescriptionError

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
    """Parse one expression of bounded size.

    Args:
        text: the expression.

    Raises:
        DescriptionError: it holds something that is not arithmetic, or is too long.
    """
    text = text.strip()
    if len(text) > MAX_LENGTH:
        raise DescriptionError(
            f"the expression is longer than {MAX_LENGTH} characters",
            remedy="split it into constants",
        )
    _refuse_foreign(text)
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise DescriptionError(
            f"{text!r} is not a number or an expression", remedy="write for example 0.105 or l1/2"
        ) from None
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise DescriptionError("the expression is too long", remedy="split it into constants")
    return tree.body


def _refuse_foreign(text: str) -> None:
    if text.lower().lstrip("+-.") in ("nan", "inf", "infinity"):
        raise DescriptionError(f"{text} is not finite", remedy="write a finite number")
    if _CLOCK.fullmatch(text):
        raise DescriptionError(
            f"{text!r} is a time of day, not a number", remedy="write one decimal number"
        )
    if _COMMA.fullmatch(text):
        raise DescriptionError(
            f"a comma is not allowed in a number: {text!r}",
            remedy=f"write {text.replace(',', '.')} with a point",
        )
    plain = unicodedata.normalize("NFKC", text)
    if plain != text:
        raise DescriptionError(f"{text!r} looks like {plain!r}", remedy="write that")
    for character in text:
        if not (character.isalnum() or character in _SIGNS):
            raise _foreign(character, text)
    for word in _WORD.finditer(text):
        if word["numeral"]:
            _check_numeral(word[0])
        elif "." in word[0]:  # Python would warn of a numeral in it, as in l1.5and
            raise _foreign(word[0], text)


def _foreign(what: str, text: str) -> DescriptionError:
    return DescriptionError(
        f"{what!r} is not allowed in an expression: {text!r}",
        remedy="use numbers, constants, functions, + - * / ** and parentheses",
    )


def _check_numeral(numeral: str) -> None:
    if _DECIMAL.fullmatch(numeral):
        return
    plain = numeral.replace("_", "").lstrip("0") or "0"
    decimal = plain.isascii() and plain.isdecimal()
    remedy = f"write {plain}" if decimal else "write a decimal number without a unit"
    raise DescriptionError(f"{numeral!r} is not a decimal number", remedy=remedy)
