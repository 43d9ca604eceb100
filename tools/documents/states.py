# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Generates the page of the states of driver and task engine from their tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import count, groupby
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from arm_common.control.transition_table import TransitionTable
from arm_hardware.control.transitions import CONTROL, ControlEvent, ControlState
from arm_tasks.execution.run_states import RUN, RunEvent, RunState
from pip_ros.paths import REPOSITORY

from .markdown import page, table
from .state_diagram import state_diagram

Table = TransitionTable[Any, Any, Any]

FOLDER = REPOSITORY / "docs"
GOES_ON = ("running", "pausing", "paused")
INTRODUCTION = """\
The code follows the tables of this page, and tests try each pair of event and state on it. A cell
has the state that follows (*—* if it stays) and a letter for what is done. A number says why the
event is refused."""
DRIVER = """\
The table is in [`transitions.py`](../src/arm_hardware/arm_hardware/control/transitions.py).
`arm_hardware/status` reports MOVING for *armed* with a goal, UNKNOWN for *arming* and for
*disarmed* with unknown positions, and FAULT for both states with a fault."""
TASK = """\
The table is in [`run_states.py`](../src/arm_tasks/arm_tasks/execution/run_states.py). In brackets
is what users see, if it differs. *Held* is a pause until the simulated world sees the arm again;
*aborting* follows if a client or another node is lost. The picture omits how a run ends."""


@dataclass
class _Notes:
    """Texts below a table, each with a mark in it."""

    marks: Iterator[str]
    given: dict[str, str] = field(default_factory=dict)  # mark of each text

    def mark(self, text: str) -> str:
        if text not in self.given:
            self.given[text] = next(self.marks)
        return self.given[text]

    def __str__(self) -> str:
        return "<br>\n".join(f"**{mark}** {text}" for text, mark in self.given.items())


def state_files() -> dict[Path, str]:
    """Return the page and its pictures, by path."""
    pictures = {
        "driver": _picture(CONTROL, list(ControlState)),
        "task": _picture(RUN, [s for s in RunState if s.shown in GOES_ON]),
    }
    text = page(
        "States",
        INTRODUCTION,
        "## Driver",
        DRIVER,
        "![States of the driver](images/states_driver.svg)",
        *_tables(CONTROL, ControlState, ControlEvent, lambda state: state.value),
        "## Task",
        TASK,
        "![States of a task](images/states_task.svg)",
        *_tables(RUN, RunState, RunEvent, lambda state: state.shown),
    )
    images = {FOLDER / "images" / f"states_{name}.svg": svg for name, svg in pictures.items()}
    return {FOLDER / "states.md": text} | images


def _picture(made: Table, states: list[Any]) -> str:
    return state_diagram(
        [state.value for state in states],
        (
            (row.state.value, row.next_state.value, row.event.value)
            for row in made.rows
            if row.state is not row.next_state and {row.state, row.next_state} <= set(states)
        ),
    )


def _tables(
    made: Table, states: type[Enum], events: type[Enum], shown: Callable[[Any], str]
) -> tuple[str, str, str]:
    """Return the table and the texts below it; states with the same cells share a column."""
    actions, reasons = _Notes(iter(ascii_lowercase)), _Notes(map(str, count(1)))

    def cell(state: Any, event: Any) -> str:
        row = made.row(state, event)
        if row is None:
            reason = re.sub(
                rf"\b(is|but) {shown(state)}$", r"\1 *state*", made.refusal(state, event)
            )
            return reasons.mark(reason)
        after = "—" if row.next_state is state else row.next_state.value
        is_silent = row.action.name == "NOTHING"
        return after if is_silent else f"{after} <sup>{actions.mark(row.action.value)}</sup>"

    rows = [[cell(state, event) for state in states] for event in events]
    columns = groupby(zip(states, zip(*rows, strict=True), strict=True), key=lambda item: item[1])
    groups = [(cells, [_name(state, shown) for state, _ in group]) for cells, group in columns]
    body = zip((event.value for event in events), *(cells for cells, _ in groups), strict=True)
    head = ["event", *(", ".join(names) for _, names in groups)]
    return table(head, body), str(actions), str(reasons)


def _name(state: Any, shown: Callable[[Any], str]) -> str:
    return state.value if shown(state) == state.value else f"{state.value} ({shown(state)})"
