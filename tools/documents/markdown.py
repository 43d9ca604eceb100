# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Helpers that format Markdown."""

from collections.abc import Iterable, Sequence

MADE = "<!-- Made by tools/documents/write.py; a test fails when it is out of date. -->"


def page(title: str, *parts: str) -> str:
    """Return the text of a page."""
    return "\n\n".join([MADE, f"# {title}", *(part.strip("\n") for part in parts)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; "" if it has no rows."""
    lines = [_row(head), "|" + "---|" * len(head), *map(_row, rows)]
    return "\n".join(lines) if len(lines) > 2 else ""


def code(text: object) -> str:
    """Return text as code; "" for empty text."""
    return f"`{text}`" if str(text) else ""


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
