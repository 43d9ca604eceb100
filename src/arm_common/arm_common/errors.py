# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_common/test/yaml/test_document.py
"""Input errors: the problem, its location and the remedy; numbers and texts in messages."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence

# Control characters, ends of lines, and bytes of paths that are not UTF-8: no ROS message, page or
# terminal takes them.
CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


MAX_SENTENCE = 2000  # characters of an error, about; texts of files and messages may be in it


class ExplainedError(Exception):
    """The base of all errors that people read: one sentence, `file:line: key: problem; remedy`.

    Control characters are escaped. A subclass adds its name and its data, never another text.

    Attributes:
        problem: what is wrong, without a full stop.
        remedy: what to do about it ("" if the problem makes it obvious).
        file: the file or other source, such as the name of a parameter; "" if none.
        line: line number in that file, counted from 1, or None if unknown (given as None or 0).
        key: path of the key in the file, such as ``joints[2].limits.lower``; "" if none.
    """

    end = ""  # of the sentence; who shows it adds the full stop of the others

    def __init__(
        self,
        problem: str,
        *,
        remedy: str = "",
        file: str = "",
        line: int | None = None,
        key: str = "",
    ) -> None:
        self.problem = elided(problem.removesuffix(self.end))
        self.remedy = elided(remedy.removesuffix(self.end))
        self.file = file
        self.line = line or None
        self.key = key
        place = file if self.line is None else f"{file or 'line'}:{line}"
        text = f"{place}: {self.message}" if place else self.message
        super().__init__(f"{sentence(text)}{self.end}")

    @property
    def message(self) -> str:
        """The text without file, line and full stop: `key: problem; remedy`."""
        text = f"{self.key}: {self.problem}" if self.key else self.problem
        return f"{text}; {self.remedy}" if self.remedy else text


class InputError(ExplainedError, ValueError):
    """Input that cannot be used."""


def joined(text: str) -> str:
    r"""Return text in which each surrogate pair, as JSON has (``\ud83d\ude00``), is one character.

    Every reader of files and messages passes its texts through: a lone surrogate cannot be sent,
    printed or stored.

    Raises:
        InputError: There is a lone surrogate.
    """
    if text.isascii():
        return text
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError as error:
        code = int.from_bytes(error.object[error.start : error.start + 2], "little")
        problem = f"\\u{code:04x} is half a character"
        raise InputError(problem, remedy="write the character itself") from None


def sentence(text: str) -> str:
    """Return the text of an error: control characters escaped, and bounded, as it is logged."""
    return elided(escaped(elided(text, MAX_SENTENCE)), MAX_SENTENCE)


def escaped(text: str) -> str:
    """Return text on one line, control characters escaped."""
    return CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def is_utf8(text: str) -> bool:
    """Return whether UTF-8 can encode a text; not every name of a file, nor escape in one, can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_LARGEST = 1e15  # above, digits before the point would be invented


def number_text(value: float, digits: int = 6, decimals: int = 6) -> str:
    """Return a number for people: rounded, without exponent, trailing zeros or -0.

    Args:
        value: the number.
        digits: at most so many significant digits.
        decimals: at most so many digits behind the point, so that rounding errors become 0.
    """
    rounded = f"{float(value):.{digits}g}"
    if not abs(value) < _LARGEST:
        return rounded
    text = f"{float(rounded):.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def exact_text(value: float) -> str:
    """Return the shortest text of a number that reads back as the same double."""
    return repr(value + 0.0).removesuffix(".0")


def finite_number(text: str) -> float:
    """Return the number that a text is; raise InputError if it is none, or not finite."""
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{text.strip()!r} is not a number") from None
    if not math.isfinite(value):
        raise InputError(f"{text.strip()} is not finite")
    return value


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> list[str]:
    """Return rows as lines with aligned columns: to the right, but some to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ["<" if i in left else ">" for i in range(len(widths))]
    return [
        "  ".join(f"{c:{s}{w}}" for c, s, w in zip(row, sides, widths, strict=True)).rstrip()
        for row in rows
    ]


def one_line(text: str, max_length: int = 1000) -> str:
    """Return text for a message: on one line, control characters escaped, long text elided."""
    text = elided(text, max_length)
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def elided(text: str, max_length: int = 1000) -> str:
    """Return text without its middle if it is longer than about `max_length` characters."""
    if len(text) <= max_length:
        return text
    return f"{text[: max_length * 3 // 4]} ... {text[-max_length // 4 :]}"


class NotBuiltError(ImportError):
    """A compiled module is missing or stale; the text says how to build it."""
