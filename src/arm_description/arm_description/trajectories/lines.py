# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/trajectories/test_files.py
"""Lines of trajectory files in text: their numbers, columns and units; errors name the line."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arm_common.errors import InputError, finite_number
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
            return finite_number(text)
        except InputError as error:
            raise self.error(error.problem, "write for example 1.5") from None


def read_lines(path: Path, files: FileAccess) -> list[Line]:
    """Read all lines of a file."""
    texts = read_text(path, MAX_BYTES, DescriptionError, files).splitlines()
    return [Line(str(path), number, text) for number, text in enumerate(texts, start=1)]


def data_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Return the lines that are neither empty nor a comment (#)."""
    return (line for line in lines if line.text.strip() and not line.text.lstrip().startswith("#"))


@dataclass(frozen=True)
class CsvTable:
    """The columns and rows of a CSV file with any separator and decimal point or comma."""

    header: Line
    headings: Sequence[tuple[str, str]]  # name and unit of each column; the unit may be ""
    rows: Sequence[tuple[Line, Sequence[str]]]  # the other lines, and the cells of each
    units: Units  # of columns without a unit

    @classmethod
    def read(cls, path: Path, files: FileAccess, without: Sequence[str] = ()) -> CsvTable:
        """Read a file without the columns of some names, whatever is in them.

        Raises:
            DescriptionError: the header lacks one of the names, a line has more or fewer cells, or
                there is no such unit.
        """
        lines = read_lines(path, files)
        data = list(data_lines(lines[bool(lines and _SEPARATOR.fullmatch(lines[0].text)) :]))
        header = data[0] if data else Line(str(path), 1, "")
        separator = next((c for c in ",;\t| " if c in header.text.strip(" ")), ",")
        headings = list(map(_heading, trimmed(_cells(header, separator))))
        rows = [(line, _cells(line, separator)) for line in data[1:]]
        if without and data:
            names = [name for name, _ in headings]
            for name in without:
                if name not in names:
                    raise header.error(f"there is no column {name!r}", did_you_mean(name, names))
            kept = [i for i, name in enumerate(names) if name not in without]
            rows = [(line, _only(line, cells, kept, len(names))) for line, cells in rows]
            headings = [headings[i] for i in kept]
        return cls(header, headings, rows, _default_units(lines))


def _cells(line: Line, separator: str) -> list[str]:
    reader = csv.reader([line.text.strip(" ")], delimiter=separator, skipinitialspace=True)
    return [c if separator == "," else c.replace(",", ".") for c in next(reader, [])]


def trimmed(cells: Sequence[str]) -> Sequence[str]:
    """Return the cells of a line without an empty one behind the last separator."""
    return cells[:-1] if len(cells) > 1 and not cells[-1].strip() else cells or [""]


def _only(line: Line, cells: Sequence[str], kept: Sequence[int], count: int) -> list[str]:
    """Return these cells of a line; raise DescriptionError unless it has `count`."""
    cells = trimmed(cells) if len(cells) > count else cells
    if len(cells) != count:
        raise line.error(f"has {len(cells)} columns, the header has {count}", "write as many")
    return [cells[i] for i in kept]


def _heading(cell: str) -> tuple[str, str]:
    match = _HEADING.fullmatch(cell.strip())
    return (cell, "") if match is None else (match["name"], match["unit"] or "")


def _default_units(lines: list[Line]) -> Units:
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
