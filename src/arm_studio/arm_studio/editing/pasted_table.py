# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read what people paste into the table: cells of a spreadsheet, or the text of a printed table.

Printed tables mark the variable of a row (``q1``, ``theta_1*``, ``d3*``), have degree signs,
decimal commas and fractions of pi, and may begin with the names of their columns.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arm_common.errors import InputError
from arm_description.model.units import UNITS, Units
from arm_description.robot_file.editor import ENDS, NUMBERS
from arm_description.robot_file.robot_keys import MAX_ROWS

ANGLE_COLUMNS = ("theta", "alpha")
VARIABLE_KINDS = {"theta": "revolute", "d": "prismatic"}  # by the column of the variable
MAX_PASTED = 20_000  # characters
IGNORED = ""  # a column that is not entered
# As they are written in the first line of a table.
HEADINGS: Mapping[str, str] = {
    **{name: "theta" for name in ("theta", "θ", "q")},
    **{name: "alpha" for name in ("alpha", "α")},
    **{name: "a" for name in ("a", "r")},
    "d": "d",
    **{name: IGNORED for name in ("i", "n", "#", "no", "link", "row")},
    **{name: "name" for name in ("name", "joint")},
    "type": "type",
    **{name: "lower" for name in ("lower", "min", "from")},
    **{name: "upper" for name in ("upper", "max", "to")},
}
_MARK = "†"  # in place of the star of a variable
_SIGNS = (  # of books, of LaTeX and of spreadsheets
    (r"[°º˚]|\^?\{?\\circ\}?|\\degree", "°"),
    (r"[‐‑‒–—−﹣]", "-"),
    (r"[·×∗⋅]|\\cdot", "*"),
    (r"[⁄÷]", "/"),
    (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"(\1)/(\2)"),
    (r"\\\\|\\hline|\$", ""),
    (r"\\([a-zA-Z]+) *", r"\1"),
    (r"\^?\{\*\}|\^\*", "*"),
    (r"_\{([\w+-]*)\}|_(?=\d)", r"\1"),
    ("π", "pi"),
    ("ϑ", "θ"),
    (r"\b(theta|θ|q|d)_?(\d+)\*", rf"\1\2{_MARK}"),
)
_GLUE = ((r"\s+°", "°"), (r"\s*([/*])\s*", r"\1"), (r"\s*\+\s+", "+"), (r"(?<=\S) - (?=\S)", "-"))
_VARIABLE = {
    "theta": rf"\(?(?:theta|θ|q)\d*{_MARK}?\)?",
    "d": rf"\(?(?:q\d*{_MARK}?|d\d*{_MARK})\)?",
}
_PLAIN_D = re.compile(r"d\d+")


@dataclass(frozen=True)
class PastedRow:
    """One row: what is entered, by column."""

    kind: str  # "revolute" or "prismatic" by the marked variable; "" without one
    texts: Mapping[str, str]


def read_block(text: str, columns: Sequence[str], units: Units) -> list[PastedRow]:
    """Return the rows of a text.

    Args:
        text: lines of cells, between which are tabs, semicolons, bars, commas or spaces.
        columns: those of the table from the first cell on, unless the text has headings.
        units: of the file.

    Raises:
        InputError: its lines have different numbers of cells, or do not fit.
    """
    if len(text) > MAX_PASTED:
        raise InputError(f"{len(text)} characters are too many", remedy="copy only the table")
    lines = _cells(cleaned(text))
    if not lines:
        raise InputError("The text has no cells")
    if len(set(map(len, lines))) > 1:
        number = next(n for n, line in enumerate(lines, 1) if len(line) != len(lines[0]))
        raise InputError(
            f"line {number} has {len(lines[number - 1])} cells, but line 1 has {len(lines[0])}",
            remedy="copy whole rows",
        )
    headings = _headings(lines[0])
    if headings:
        return _rows(lines[1:], headings, units)
    lines = _without_numbers(lines)
    if columns[0] in ("name", "type") and len(lines[0]) <= 4 and _is_value(lines[0][0]):
        columns = columns[columns.index("theta") :] if "theta" in columns else columns
    if len(lines[0]) > len(columns):
        raise InputError(
            f"{len(lines[0])} columns do not fit into the {len(columns)} from here on",
            remedy="paste into a cell further left",
        )
    return _rows(lines, columns[: len(lines[0])], units)


def entry(text: str, column: str, units: Units) -> tuple[str, bool]:
    """Return the entry for one cell, and True if the cell has the mark of the variable."""
    text = cleaned(text).strip()
    is_angle = column in ANGLE_COLUMNS
    is_marked = False
    if pattern := _VARIABLE.get(column):
        if match := re.fullmatch(rf"{pattern}\s*(?:\+?\s*(.*))", text):
            text, is_marked = match[1] or "0", True
        elif match := re.fullmatch(rf"(.+?)\s*\+\s*{pattern}", text):
            text, is_marked = match[1], True
    if column not in (*NUMBERS, *ENDS):
        return text, False
    text = re.sub(r"(?<=\d)\s*pi\b", "*pi", text)
    if "(" not in text:  # else a comma may be between arguments
        text = re.sub(r"(?<!\d),(?=\d)", "0.", re.sub(r"(?<=\d),(?=\d)", ".", text))
    return (_angle(text, units) if is_angle or "°" in text else _length(text, units)), is_marked


def cleaned(text: str) -> str:
    """Return a text with its signs replaced by those of expressions, and without runs of blanks.

    The patterns for blanks take a time that grows with the square of the length of a run.
    """
    for pattern, sign in _SIGNS[:4]:
        text = re.sub(pattern, sign, text)
    text = unicodedata.normalize("NFKC", text).replace("\r", "\n")
    for pattern, sign in _SIGNS:
        text = re.sub(pattern, sign, text)
    return re.sub(r"[^\S\t\n]+", " ", text)


def _cells(text: str) -> list[list[str]]:
    """Return the cells of each line that is not empty."""
    lines = [line.strip(" ") for line in text.split("\n") if line.strip()]
    for separator in "\t;|&":
        if any(separator in line for line in lines):
            edges = "" if separator == "\t" else f" {separator}"
            return [[c.strip() for c in line.strip(edges).split(separator)] for line in lines]
    if lines and (
        all(re.search(r",\s", line) for line in lines)
        or all(line.count(",") > 1 and not re.search(r"\s", line) for line in lines)
    ):
        return [[cell.strip() for cell in line.strip(" ,").split(",")] for line in lines]
    for pattern, sign in _GLUE:
        lines = [re.sub(pattern, sign, line) for line in lines]
    return [line.split() for line in lines]


def _headings(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the columns named by the first line; empty if it is a row of numbers."""
    names = [_heading(cell) for cell in cells]
    columns = [name for name in names if name in NUMBERS]
    if len(columns) < 2 or any(_is_value(cell) and cell.strip() for cell in cells):
        return ()
    return tuple(name or IGNORED for name in names)


def _heading(cell: str) -> str | None:
    word = re.sub(r"\([^()]*\)|\[[^][]*\]|[\s_{}^]", "", cell.lower())
    stem = re.sub(r"(?<=.)[ijkn]?([-+]1)?$", "", word)
    return HEADINGS.get(word, HEADINGS.get(stem))


def _is_value(cell: str) -> bool:
    """Return True if a cell is a value, not a name."""
    return re.search(rf"\d|pi\b|{_MARK}", cell) is not None


def _without_numbers(lines: list[list[str]]) -> list[list[str]]:
    """Return the lines without their numbers 1, 2, .. before the four of a row."""
    numbers = [str(number) for number in range(1, len(lines) + 1)]
    if len(lines[0]) == 5 and [line[0].rstrip(".") for line in lines] == numbers:
        return [line[1:] for line in lines]
    return lines


def _rows(lines: list[list[str]], columns: Sequence[str], units: Units) -> list[PastedRow]:
    if len(lines) > MAX_ROWS:
        raise InputError(f"{len(lines)} rows are too many", remedy=f"give at most {MAX_ROWS}")
    return [
        _row(dict(zip(columns, line, strict=True)), number, units)
        for number, line in enumerate(lines, 1)
    ]


def _row(cells: dict[str, str], number: int, units: Units) -> PastedRow:
    cells = {column: cell for column, cell in cells.items() if column and cell.strip(" -")}
    texts, marked = {}, set()
    for column, cell in cells.items():
        texts[column], is_marked = entry(cell, column, units)
        marked |= {column} if is_marked else set()
    is_plain = "theta" in cells and not marked and "type" not in cells
    if is_plain and _PLAIN_D.fullmatch(cells.get("d", "").strip()):  # beside a fixed angle
        texts["d"], marked = "0", {"d"}
    if len(marked) > 1:
        raise InputError(
            f"row {number} marks theta and d as variables", remedy="a joint turns or slides"
        )
    return PastedRow(VARIABLE_KINDS.get("".join(marked), ""), texts)


def _angle(text: str, units: Units) -> str:
    """Return an angle that may have degree signs or fractions of pi, in the unit of the file."""
    if "°" in text:
        text = text.replace("°", "")
        return text if units.angle == "deg" else f"deg({text})"
    if units.angle != "deg" or not re.search(r"\bpi\b", text) or re.search(r"\brad\(", text):
        return text
    if not re.fullmatch(r"(?:[\d.\s+\-*/()]|pi)+", text):
        return f"rad({text})"
    try:
        return f"{UNITS['deg'].written(units.using('rad').evaluate(text, 'revolute')):.10g}"
    except InputError:
        return text  # the reader of the file says what is wrong


def _length(text: str, units: Units) -> str:
    """Return a length that may have its unit, in that of the file."""
    named, number = units.named(text, "prismatic")
    if named == units:
        return number
    try:
        return f"{units.written(named.evaluate(number, 'prismatic'), 'prismatic'):.10g}"
    except InputError:
        return text
