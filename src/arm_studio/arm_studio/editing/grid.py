# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/panels/test_table.py
"""A grid of entries in the page, as a spreadsheet has; `grid.js` carries what a person does.

Its messages come from any browser that has the token, so they are read as hostile: one that names
no shown cell, or no action, changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from pathlib import Path
from typing import Any

from arm_common.errors import CONTROL
from arm_common.yaml.editing import CheckedEditor, EntryPath
from arm_viewer.browser.callbacks import PageGui, element_id
from arm_viewer.errors import ViewerError

SCRIPT = Path(__file__).with_name("grid.js")
CELL_ACTIONS = ("set", "paste", "show")
MAX_MESSAGE = 25_000  # characters
MAX_ENTRY = 1000  # characters
REFUSED = "The page sent what is no edit of a shown cell; nothing was changed."
Action = Callable[[str, str], None]  # takes the key of a cell, and a text


@dataclass(frozen=True)
class Cell:
    """An entry, or a choice among options."""

    key: str  # unique in its grid
    text: str
    problem: str = ""  # why it is refused
    options: tuple[str, ...] = ()
    mark: str = ""  # stands before the entry, such as the variable of a joint
    hint: str = ""  # what to type, while it is empty

    @property
    def html(self) -> str:
        """The cell as HTML."""
        state = f' aria-invalid="true" title="{escape(self.problem)}"' if self.problem else ""
        state += f' data-cell="{escape(self.key)}" aria-label="{escape(self.key)}"'
        mark = f"<b>{escape(self.mark)}</b>" if self.mark else ""
        return f"<label{' class=q' if mark else ''}>{mark}{self._input(state)}</label>"

    def _input(self, state: str) -> str:
        if self.options:
            options = "".join(
                f"<option{' selected' * (option == self.text)}>{escape(option)}</option>"
                for option in self.options
            )
            return f"<select{state}>{options}</select>"
        size = min(max(len(self.text), len(self.hint), 4), 24)
        state += f' placeholder="{escape(self.hint)}"' if self.hint else ""
        return f'<input{state} size="{size}" value="{escape(self.text)}" spellcheck="false">'


def cell_of(editor: CheckedEditor[Any], key: str, path: EntryPath, **more: Any) -> Cell:
    """Return the cell of an entry of a file, with the reader's sentence if it is refused."""
    wrong = editor.wrong.get(path)
    return Cell(key, editor.text(path), wrong.problem if wrong else "", **more)


@dataclass(frozen=True)
class RowButton:
    """A button of a row."""

    action: str
    key: str  # what it acts on
    label: str
    title: str


Entry = Cell | RowButton | str  # a text that cannot be changed


class Grid:
    """Rows of entries; an action takes what is done to one of them.

    Args:
        gui: of the page.
        actions: by name: ``set`` takes an entry, ``paste`` a block of text, ``show`` a click.
    """

    def __init__(self, gui: PageGui, actions: Mapping[str, Action]) -> None:
        self._actions = actions
        self._offered: frozenset[tuple[str, str]] = frozenset()  # with keys of what is shown
        self._count = 0  # a grid that is sent anew shows what the file has
        gui.add_script(SCRIPT)
        self._line = gui.text("", "", self.receive, visible=False)
        gui.never_too_late(self._line)  # an edit moves nothing
        self._html = gui.elements.add_html("")

    def show(self, head: Sequence[str], rows: Sequence[Sequence[Sequence[Entry]]]) -> None:
        """Show rows of places with one or more entries, and below a row why one is refused."""
        entries = [entry for row in rows for place in row for entry in place]
        presses = {(entry.action, entry.key) for entry in entries if isinstance(entry, RowButton)}
        keys = [entry.key for entry in entries if isinstance(entry, Cell)]
        self._offered = frozenset(presses.union(product(CELL_ACTIONS, keys)))
        uuid = element_id(self._line)
        marks = "".join(f" data-{name}" for name in ("paste", "show") if name in self._actions)
        titles = "".join(f"<th>{escape(title)}</th>" for title in head)
        columns = max(len(head), *map(len, rows), 1)
        body = "".join(self._row(row, columns, uuid) for row in rows)
        content = f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
        html = f'<div data-grid="{uuid}"{marks} data-edits="{self._count}">{content}</div>'
        if self._html.content != html:
            self._html.content = html

    def _row(self, row: Sequence[Sequence[Entry]], columns: int, uuid: str) -> str:
        width = columns - len(row) + 1  # of the last place
        places = "".join(
            f'<td colspan="{width if place is row[-1] else 1}">'
            f"{''.join(_entry_html(entry, uuid) for entry in place)}</td>"
            for place in row
        )
        cells = [entry for place in row for entry in place if isinstance(entry, Cell)]
        problems = "".join(
            f'<tr><td data-arm="wrong" colspan="{columns}">{escape(cell.problem)}</td></tr>'
            for cell in cells
            if cell.problem
        )
        return f"<tr>{places}</tr>{problems}"

    def receive(self, line: str) -> None:
        """Take a message of the page's script: JSON, then `` #COUNT``.

        Raises:
            ViewerError: It is no message of `grid.js` about a shown cell.
        """
        self._count += 1
        action, key, text = _message(line.rpartition(" #")[0])
        if action not in self._actions or (action, key) not in self._offered:
            raise ViewerError(REFUSED)
        if action != "paste":
            text = CONTROL.sub(" ", text)[:MAX_ENTRY]
        self._actions[action](key, text.encode(errors="replace").decode())


def _message(text: str) -> tuple[str, str, str]:
    if len(text) > MAX_MESSAGE:
        raise ViewerError(REFUSED)
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise ViewerError(REFUSED)
    action, key, entry = (message.get(name) for name in ("do", "cell", "text"))
    if not (isinstance(action, str) and isinstance(key, str) and isinstance(entry, str)):
        raise ViewerError(REFUSED)
    return action, key, entry


def _entry_html(entry: Entry, uuid: str) -> str:
    if isinstance(entry, Cell):
        return entry.html
    if isinstance(entry, str):
        return escape(entry)
    message = json.dumps({"do": entry.action, "cell": entry.key, "text": ""})
    return (
        f'<button type="button" data-send="{escape(message)}" data-element="{uuid}" '
        f'title="{escape(entry.title)}" aria-label="{escape(entry.title)}">'
        f"{escape(entry.label)}</button>"
    )
