# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Lines of trajectory files in text: their numbers, columns and units; errors name the line."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arm_common.files.access import FileAccess, read_text
from arm_common.suggestions import did_you_mean

from arm_description.errors import DescriptionError
from arm_description.model.units import ANGLES, LENGTHS, SI, Units

_UNITS = re.compile(r"\s*#\s*units\s*:\s*(.*)", re.IGNORECASE)
_SEPARATOR = re.compile(r"sep=.", re.IGNORECASE)  # spreadsheets write it above the header
_HEADING = re.compile(r"(?P<name>.*?)\s*(?:\[(?P<unit>\w*)\])?")
MAX_BYTES = 50_000_000


@dataclass(frozen=True)
class Line:
    """One line of a file."""

    file: str
    number: int
    text: str

    def error(self, problem: str, remedy: str) -> DescriptionError:
        """Return an error that names the line."""
        return DescriptionError(problem, remedy=remedy, file=self.file, line=self.number)

    def value(self, text: str) -> float:
        """Parse a finite number."""
        try:
            value = float(text)
        except ValueError:
            raise self.error(
                f"{text.strip()!r} is not a number", "write for example 1.5"
            ) from None
        if not math.isfinite(value):
            raise self.error(f"{text.strip()} is not finite", "write a finite number")
        return value


def read_lines(path: Path, files: FileAccess) -> list[Line]:
    """Read all lines of a file."""
    texts = read_text(path, MAX_BYTES, DescriptionError, files).splitlines()
    return [Line(str(path), number, text) for number, text in enumerate(texts, start=1)]


def csv_lines(path: Path, files: FileAccess) -> list[Line]:
    """Return the lines of a CSV file; other separators, and decimal commas, are replaced."""
    lines = read_lines(path, files)
    if lines and _SEPARATOR.fullmatch(lines[0].text):
        lines[0] = replace(lines[0], text="")
    header = next(data_lines(lines), Line(str(path), 1, ",")).text.strip(" ")
    separator = "" if "," in header else next((c for c in ";\t| " if c in header), "")
    if not separator:
        return lines
    data = {line.number for line in data_lines(lines)}
    return [
        replace(line, text=_with_commas(line.text, separator)) if line.number in data else line
        for line in lines
    ]


def _with_commas(text: str, separator: str) -> str:
    cells = next(csv.reader([text.strip(" ")], delimiter=separator, skipinitialspace=True), [])
    return ",".join(cell.replace(",", ".") for cell in cells)


def data_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Return the lines that are neither empty nor a comment (#)."""
    return (line for line in lines if line.text.strip() and not line.text.lstrip().startswith("#"))


def cells_of(line: Line) -> list[str]:
    """Return the cells of a line with commas; one at its end has no cell behind it."""
    text = line.text.strip().removesuffix(",")
    return next(csv.reader([text], skipinitialspace=True), []) or [""]


def without_columns(lines: list[Line], names: Sequence[str]) -> list[Line]:
    """Return the lines of a CSV file without the columns of these names, whatever is in them.

    Raises:
        DescriptionError: the header lacks one of the names, or a line has more or fewer cells.
    """
    header = next(data_lines(lines), None)
    if header is None or not names:
        return lines
    columns = [heading(cell)[0] for cell in cells_of(header)]
    for name in names:
        if name not in columns:
            raise header.error(f"there is no column {name!r}", did_you_mean(name, columns))
    kept = [i for i, column in enumerate(columns) if column not in names]
    numbers = {line.number for line in data_lines(lines)}
    return [_only(line, kept, len(columns)) if line.number in numbers else line for line in lines]


def _only(line: Line, kept: Sequence[int], count: int) -> Line:
    """Return a line with these of its cells; raise DescriptionError unless it has `count`."""
    cells = next(csv.reader([line.text.strip()], skipinitialspace=True), [])
    if len(cells) > count and not cells[-1]:
        cells.pop()
    if len(cells) != count:
        raise line.error(f"has {len(cells)} columns, the header has {count}", "write as many")
    return replace(line, text=",".join(cells[i] for i in kept))


def heading(cell: str) -> tuple[str, str]:
    """Return name and unit of a column; the unit may be ""."""
    match = _HEADING.fullmatch(cell.strip())
    return (cell, "") if match is None else (match["name"], match["unit"] or "")


def default_units(lines: list[Line]) -> Units:
    """Return the units of the first comment that specifies them."""
    for line in lines:
        match = _UNITS.fullmatch(line.text)
        if match:
            units = SI
            for word in re.split(r"[\s,]+", match[1].strip()):
                if word not in (*ANGLES, *LENGTHS):
                    remedy = did_you_mean(word, (*ANGLES, *LENGTHS))
                    raise line.error(f"there is no unit {word!r}", remedy)
                units = units.using(word)
            return units
    return SI
