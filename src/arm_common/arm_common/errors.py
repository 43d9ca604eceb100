# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Errors about input: what is wrong, where, and what to do about it."""

from __future__ import annotations


class InputError(ValueError):
    """Input that cannot be used, explained in one sentence.

    Attributes:
        problem: what is wrong, without a final point.
        remedy: what to do about it ("" where the problem says it already).
        file: the file (or other source, such as a parameter's name) it is in, "" if none.
        line: line number in that file, counted from 1, or None if unknown.
        key: path of the key in the file, such as ``joints[2].limits.lower``, "" if none.
    """

    def __init__(
        self,
        problem: str,
        *,
        remedy: str = "",
        file: str = "",
        line: int | None = None,
        key: str = "",
    ) -> None:
        self.problem = problem
        self.remedy = remedy
        self.file = file
        self.line = line
        self.key = key
        place = file if line is None else f"{file or 'line'}:{line}"
        where = ": ".join(part for part in (place, key) if part)
        sentence = f"{where}: {problem}" if where else problem
        super().__init__(f"{sentence}; {remedy}" if remedy else sentence)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        """Keep the data when the error crosses a process (pickle)."""
        return (_rebuild, (self.problem, self.remedy, self.file, self.line, self.key))


def one_line(text: str, most: int = 1000) -> str:
    """Text of a file as it can stand in a sentence: on one line, the middle of much left out."""
    if len(text) > most:
        text = f"{text[: most * 3 // 4]} ... {text[-most // 4 :]}"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _rebuild(problem: str, remedy: str, file: str, line: int | None, key: str) -> InputError:
    return InputError(problem, remedy=remedy, file=file, line=line, key=key)
