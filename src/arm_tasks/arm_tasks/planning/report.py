# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Text tables of a plan, a run or a feasibility check: one line for each step of the task."""

from __future__ import annotations

import math
from collections.abc import Sequence

from arm_tasks.planning.plan import StepReport

_RUN_HEAD = ("step", "parts", "time", "turns", "off by", "tilted by")


def parts_by_step(reports: Sequence[StepReport]) -> list[list[StepReport]]:
    """Return the parts of each step of the task; they share the name before ": "."""
    result: list[list[StepReport]] = []
    for report in reports:
        if result and ": " in report.name and step_name(result[-1]) == step_name([report]):
            result[-1].append(report)
        else:
            result.append([report])
    return result


def step_name(parts: Sequence[StepReport]) -> str:
    """Return the name of a step from its parts."""
    return parts[0].name.split(": ", 1)[0]


def run_table(reports: Sequence[StepReport], seconds: Sequence[float] = ()) -> str:
    """Return the steps of a plan or a run with their sums, and below the refusal if there is one.

    Args:
        reports: Of all parts, in order.
        seconds: Measured times in the same order; the estimate is used for those not given.
    """
    times = dict(enumerate(report.duration for report in reports))
    times.update(enumerate(seconds))
    measured = {id(report): times[i] for i, report in enumerate(reports)}

    def cells(name: str, parts: Sequence[StepReport], turns: str) -> list[str]:
        off = max((part.position_error for part in parts), default=0.0)
        tilt = max((part.orientation_error for part in parts), default=0.0)
        time = sum(measured[id(part)] for part in parts)
        errors = [f"{off * 1e3:.2f} mm", f"{math.degrees(tilt):.1f} deg"]
        return [name, str(len(parts)), f"{time:.1f} s", turns, *errors]

    steps = parts_by_step(reports)
    turned = [math.fsum(part.turns for part in parts) for parts in steps]
    rows = [
        cells(step_name(parts), parts, f"{turns:+.2f}" if turns else "")
        for parts, turns in zip(steps, turned, strict=True)
    ]
    total = cells("all", reports, f"{sum(map(abs, turned)):.2f}")
    lines = aligned([_RUN_HEAD, *rows, total])
    refusals = [f"{step_name([part])}: {part.message}" for part in reports if not part.feasible]
    return "\n".join([*lines[:-1], lines[1], lines[-1], *refusals])


def aligned(rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> list[str]:
    """Return rows of cells as lines of equal columns, a rule below the first one.

    Args:
        rows: The heading and the rows.
        left: Columns that are aligned to the left.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for i, width in enumerate(widths) if rows[0][i]))
    return lines
