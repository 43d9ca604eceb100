# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Rows as Markdown tables, and the place for them in a document."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Sequence
from pathlib import Path

BEGIN, END = "<!-- begin: {} -->", "<!-- end: {} -->"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, the first column to the left, the others to the right."""
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = [
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"| {' | '.join(cells)} |"

    rule = [("-" * w if k == 0 else "-" * (w - 1) + ":") for k, w in enumerate(widths)]
    return "\n".join([line(head), line(rule), *map(line, rows)])


def add_write(parser: argparse.ArgumentParser) -> None:
    """Add the option for the document that shows the results."""
    text = "update the section of this document"
    parser.add_argument("--write", type=Path, metavar="FILE", help=text)


def write(file: Path | None, section: str, text: str) -> None:
    """Put text between the markers of a section in a document, if there is one."""
    if file is None:
        return
    begin, end = BEGIN.format(section), END.format(section)
    document = file.read_text()
    if document.count(begin) != 1 or document.count(end) != 1:
        raise SystemExit(f"{file}: expected one line {begin!r} and one line {end!r}")
    before, rest = document.split(begin)
    _, after = rest.split(end)
    file.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}")
    print(f"written to {file}")


def machine() -> str:
    """Return the processor of this machine, and how busy it is now."""
    return f"{processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end."


def processor() -> str:
    """Return the name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def above_zero(text: str) -> float:
    """Return a number of the command line that must be above 0."""
    value = float(text)
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def us(value: float) -> str:
    """Return a time [us] as people read it."""
    return f"{value:.1f}" if value < 100.0 else f"{value:,.0f}"


def percent(part: int, whole: int) -> str:
    """Return a share; 100 % only if it is all."""
    share = 100.0 * part / whole
    if part == whole:
        return "100 %"
    return f"{min(share, 99.99):.2f} %" if share > 99.0 else f"{share:.1f} %"
