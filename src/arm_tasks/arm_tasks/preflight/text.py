# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A preflight as text: a line for each step of the task, what is wrong, what would help."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from arm_tasks.preflight.check import Preflight

_HEAD = ("step", "time", "tilted by", "to limit", "clear by", "speed", "")


def text(found: Preflight) -> str:
    """Return the report for a terminal."""
    steps = found.as_dict()["steps"]
    groups = groupby(steps, lambda step: step["name"].split(": ", 1)[0])
    rows = [_HEAD, *(_row(found, name, list(parts)) for name, parts in groups)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    lines = [_line(row, widths) for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths[:-1]))
    notes = [f"Warning  {warning}" for warning in found.plan.warnings]
    advice = [f"Help     {remedy.text}" for remedy in found.remedies]
    verdict = f"{'Fine' if found.plan.feasible else 'Refused'}: {found.plan.message}"
    return "\n".join([*lines, "", *notes, *advice, verdict])


def _row(found: Preflight, name: str, parts: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    near = min((p["clearance"] for p in parts if p["clearance"] is not None), default=None)
    tightest = min(parts, key=_margin)
    margin = tightest["limit_margin"]
    return (
        name,
        f"{sum(p['duration'] for p in parts):.1f} s",
        f"{math.degrees(max(p['orientation_error'] for p in parts)):.1f} deg",
        "" if margin is None else f"{_quantity(found, tightest['limit_joint'], margin)}",
        "" if near is None else f"{1e3 * max(near, 0.0):.1f} mm",
        f"{100.0 * max(p['speed'] for p in parts):.0f} %",
        "fine" if all(p["feasible"] for p in parts) else "REFUSED",
    )


def _margin(part: dict[str, Any]) -> float:
    return math.inf if part["limit_margin"] is None else float(part["limit_margin"])


def _quantity(found: Preflight, joint: str, value: float) -> str:
    sliding = joint in found.sliding
    return f"{1e3 * value:.1f} mm" if sliding else f"{math.degrees(value):.1f} deg"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    pairs = enumerate(zip(cells, widths, strict=True))
    last = len(cells) - 1
    return "  ".join(c.ljust(w) if i in (0, last) else c.rjust(w) for i, (c, w) in pairs).rstrip()
