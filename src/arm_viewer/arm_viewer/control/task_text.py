# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A task's state and report as escaped HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

STATES = {0: "idle", 1: "checking", 2: "running", 3: "pausing", 4: "paused", 5: "stopping"}
_STYLE = "padding:.25em .8em;font-size:.8125em"


def line(text: str) -> str:
    """Return one line of text."""
    return f'<div data-arm="report" style="{_STYLE}">{escape(text)}</div>'


def state(message: Any) -> str:
    """Return a TaskState as a line and a progress bar."""
    name = STATES.get(message.state, str(message.state))
    share = 0.0
    if message.steps_total:
        share = min(1.0, (message.step + message.progress) / message.steps_total)
    bar = (
        '<div style="background:#8883;height:.4em;border-radius:.2em">'
        f'<div style="background:#d97706;height:100%;width:{100.0 * share:.1f}%"></div></div>'
    )
    title = f"{message.task}: {name}" if message.task else name
    return (
        f'<div data-arm="task-state" style="{_STYLE}"><b>{escape(title)}</b><br>'
        f"{escape(message.message)}{bar}</div>"
    )


def report(message: str, steps: Sequence[Any]) -> str:
    """Return a report: one sentence, and a row for each step."""
    rows = "".join(
        f'<tr title="{escape(step.message)}"><td>{"✓" if step.feasible else "✗"}</td>'
        f"<td>{escape(step.name)}</td>"
        f'<td style="text-align:right">{step.duration:.1f} s</td></tr>'
        for step in steps
    )
    return (
        f'<div data-arm="report" style="{_STYLE};max-height:14em;overflow:auto">'
        f'{escape(message)}<table style="width:100%">{rows}</table></div>'
    )
