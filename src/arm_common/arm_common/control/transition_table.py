# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""State machines as data: each pair of state and event has a row, or is refused with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Generic, TypeVar

State = TypeVar("State", bound=Enum)
Event = TypeVar("Event", bound=Enum)
Action = TypeVar("Action", bound=Enum)


@dataclass(frozen=True)
class Transition(Generic[State, Event, Action]):
    """One row: what an event does in a state."""

    state: State
    event: Event
    next_state: State
    action: Action


class TransitionTable(Generic[State, Event, Action]):
    """Frozen rows and refusals; each pair of state and event is in exactly one of them."""

    def __init__(
        self,
        states: Iterable[State],
        events: Iterable[Event],
        rows: Iterable[tuple[State, Event, State, Action]],
        refusals: Mapping[tuple[State, Event], str],
    ) -> None:
        """Check and store the table; raise ValueError for a pair that is missing or twice."""
        self.rows = tuple(Transition(*row) for row in rows)
        self.refusals = dict(refusals)
        self._rows = {(row.state, row.event): row for row in self.rows}
        count = Counter([*((row.state, row.event) for row in self.rows), *self.refusals])
        wrong = [pair for pair in product(states, events) if count[pair] != 1]
        if wrong:
            names = ", ".join(f"({state.name}, {event.name})" for state, event in wrong)
            raise ValueError(f"missing or more than once: {names}")

    def row(self, state: State, event: Event) -> Transition[State, Event, Action] | None:
        """Return the row of an event in a state, None if it is refused."""
        return self._rows.get((state, event))

    def refusal(self, state: State, event: Event) -> str:
        """Return why an event is refused in a state, "" if it is not."""
        return self.refusals.get((state, event), "")
