# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/panels/test_matrices.py
"""Tables of numbers, and hints below them, as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from arm_common.transforms import Array
from arm_description.model.units import Units

DIGITS = 4  # of cosines


def wide_box(html: str) -> str:
    """Return HTML in a box as wide as the sidebar, in which what is wider scrolls."""
    return (
        '<div style="padding:.2em .8em;font-size:.75em;overflow-x:auto;white-space:nowrap;'
        f'box-sizing:border-box;width:0;min-width:100%">{html}</div>'
    )


def hint_html(text: str) -> str:
    """Return a hint as HTML."""
    return f'<div style="padding:.1em .8em;font-size:.75em;opacity:.6">{escape(text)}</div>'


def matrix_html(title: str, rows: Sequence[Sequence[str]], key: str) -> str:
    """Return a matrix as HTML; `key` marks it for tests."""
    style = (
        "border-left:1px solid;border-right:1px solid;border-radius:6px;padding:0 .4em;"
        "font-variant-numeric:tabular-nums;text-align:right;border-spacing:.7em 0"
    )
    table = f'<table data-arm="{escape(key)}" style="{style}">{rows_html(rows)}</table>'
    return wide_box(f'<div style="opacity:.7">{escape(title)}</div>{table}')


def rows_html(rows: Sequence[Sequence[str]]) -> str:
    """Return the rows of a table as HTML."""
    return "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows
    )


def pose_rows(T: Array, units: Units) -> list[list[str]]:
    """Return the texts of a pose (4, 4) [m], with the position in the unit of a file."""
    rows = [[cosine(value) for value in row[:3]] for row in T]
    for row, value in zip(rows, T[:3, 3], strict=False):
        row.append(units.number(float(value), "prismatic", digits=7))
    rows[3].append("1")
    return rows


def cosine(value: float) -> str:
    """Return a number about as large as 1."""
    return f"{round(float(value), DIGITS) + 0.0:g}" if math.isfinite(value) else "–"
