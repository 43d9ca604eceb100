# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Lines of a text file that hold numbers: read, counted, and named in errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from ..errors import DescriptionError

MAX_BYTES = 50_000_000


def read_lines(path: Path) -> list[str]:
    """Read a UTF-8 text.

    Raises:
        DescriptionError: it cannot be read, is too large, or is no text.
    """
    name = str(path)
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_BYTES else b""
    except OSError as error:
        raise DescriptionError(
            f"cannot be read ({error.strerror})", remedy="check the path", file=name
        ) from None
    if size > MAX_BYTES:
        raise DescriptionError("is larger than 50 MB", remedy="is it the right file?", file=name)
    try:
        return data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DescriptionError(
            "is not UTF-8 text", remedy="save it as UTF-8", file=name, line=line
        ) from None


def filled(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Give number and text of each line that is neither empty nor a comment (#)."""
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.strip()


def numbers(cells: list[str], file: str, line: int) -> list[float]:
    """Read the cells of one line as finite numbers.

    Raises:
        DescriptionError: one is none.
    """
    return [_number(cell.strip(), file, line) for cell in cells]


def _number(text: str, file: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        raise DescriptionError(
            f"{text!r} is not a number", remedy="write for example 1.5", file=file, line=line
        ) from None
    if not math.isfinite(value):
        raise DescriptionError(
            f"{text} is not finite", remedy="write a finite number", file=file, line=line
        )
    return value
