# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A plan or a run as a short table: one line for each step of the task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from arm_tasks.planning.plan import TaskPlan


class Reported(Protocol):
    """What is needed of a step's report; StepReport of this package and of arm_interfaces."""

    @property
    def name(self) -> str:
        """The step's name, with what part of it this is after ": "."""
        ...

    @property
    def feasible(self) -> bool:
        """True if it can be done."""
        ...

    @property
    def position_error(self) -> float:
        """Largest distance [m]."""
        ...

    @property
    def orientation_error(self) -> float:
        """Largest angle [rad]."""
        ...

    @property
    def duration(self) -> float:
        """Estimated [s]."""
        ...

    @property
    def message(self) -> str:
        """Fine, or why not."""
        ...


@dataclass(frozen=True)
class ReportRow:
    """One step of the task with all its parts.

    Attributes:
        name: The step's name.
        parts: Motions, gripper commands and waits in it.
        seconds: Time of all of them [s].
        turns: Turns of the nut, on or off; None if that is not known.
        position_error: Largest residual [m].
        orientation_error: Largest residual [rad].
        refusal: Why it cannot be done, or "".
    """

    name: str
    parts: int
    seconds: float
    turns: float | None
    position_error: float
    orientation_error: float
    refusal: str = ""


def rows(
    reports: Sequence[Reported],
    seconds: Sequence[float] = (),
    turns: Sequence[float] | None = None,
) -> list[ReportRow]:
    """Put the parts of each step together.

    Args:
        reports: Of all parts, in order; parts of one step share what stands before ": ".
        seconds: Measured times in the same order; for those not given the estimate is taken.
        turns: Of each part, if they are known.

    Returns:
        One row for each step.
    """
    result: list[ReportRow] = []
    for i, report in enumerate(reports):
        name = report.name.split(": ", 1)[0]
        time = seconds[i] if i < len(seconds) else report.duration
        turned = None if turns is None or i >= len(turns) else turns[i]
        refusal = "" if report.feasible else report.message
        row = ReportRow(
            name, 1, time, turned, report.position_error, report.orientation_error, refusal
        )
        same = result and result[-1].name == name and ": " in report.name
        if same:
            result[-1] = _joined(result[-1], row)
        else:
            result.append(row)
    return result


def plan_rows(plan: TaskPlan, seconds: Sequence[float] = ()) -> list[ReportRow]:
    """Return the rows of a plan; seconds are measured times of its steps, from the first on."""
    return rows(plan.reports, seconds, [step.turns for step in plan.steps])


def table(lines: Sequence[ReportRow]) -> str:
    """Return the rows as text, with a line of sums at the end."""
    known = any(row.turns is not None for row in lines)
    header = ["step", "parts", "time", *(["turns"] if known else []), "off by", "tilted by"]
    body = [_cells(row, known) for row in lines]
    body.append(_cells(_total(lines), known))
    widths = [max(len(line[i]) for line in [header, *body]) for i in range(len(header))]
    rule = "  ".join("-" * width for width in widths)
    texts = [_aligned(line, widths) for line in [header, *body]]
    refusals = [f"{row.name}: {row.refusal}" for row in lines if row.refusal]
    return "\n".join([texts[0], rule, *texts[1:-1], rule, texts[-1], *refusals])


def _joined(a: ReportRow, b: ReportRow) -> ReportRow:
    turns = None if a.turns is None and b.turns is None else (a.turns or 0.0) + (b.turns or 0.0)
    return ReportRow(
        a.name,
        a.parts + b.parts,
        a.seconds + b.seconds,
        turns,
        max(a.position_error, b.position_error),
        max(a.orientation_error, b.orientation_error),
        a.refusal or b.refusal,
    )


def _total(lines: Sequence[ReportRow]) -> ReportRow:
    total = ReportRow("all", 0, 0.0, None, 0.0, 0.0)
    for row in lines:
        total = _joined(total, row)
    turned = [abs(row.turns) for row in lines if row.turns is not None]
    turns = math.fsum(turned) if turned else None
    errors = total.position_error, total.orientation_error
    return ReportRow("all", total.parts, total.seconds, turns, *errors)


def _cells(row: ReportRow, turns: bool) -> list[str]:
    turned = "" if not row.turns else f"{row.turns:+.2f}"
    if row.name == "all" and row.turns is not None:
        turned = f"{row.turns:.2f}"
    return [
        row.name,
        str(row.parts),
        f"{row.seconds:.1f} s",
        *([turned] if turns else []),
        f"{row.position_error * 1e3:.2f} mm",
        f"{math.degrees(row.orientation_error):.1f} deg",
    ]


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.ljust(width) if i == 0 else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()
