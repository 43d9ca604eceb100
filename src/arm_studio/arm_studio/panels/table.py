# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Table": the robot's table of joints, applied while it is typed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

from arm_description.model.elements import JOINT_TYPES
from arm_description.robot_file.editor import RobotEditor, TableRow
from arm_description.robot_file.robot_keys import TYPES
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.texts import WRONG, set_choice, set_problem
from arm_viewer.panels.interface import Panel, PanelContext

from arm_studio.editing.file_editing import show_entries
from arm_studio.editing.robot_editing import RobotEditing, editing_entry

SYMBOLS = {"theta": "θ", "d": "d", "a": "a", "alpha": "α"}
BUTTONS = ("Add", "Remove", "Up", "Down")
ANGLES = ("theta", "alpha")


class TablePanel(Panel):
    """Shows all rows; the entries of one of them can be typed."""

    title = "Table"

    def __init__(self, context: PanelContext, editing: RobotEditing) -> None:
        self._editing, self._index = editing, 0
        self._shown: tuple[Any, ...] = ()  # what the fields were made for
        self._fields: dict[tuple[str | int, ...], tuple[Any, Any]] = {}  # with their problems
        editing.observe(self._show)

    def build(self, gui: PageGui) -> None:
        """Add the elements."""
        self._gui, add = gui, gui.elements
        self._overview = add.add_html("")
        self._row = gui.choice("Joint", ("1",), "1", self._select)
        self._row_fields = add.add_folder("Row")
        buttons = add.add_button_group("Rows", BUTTONS)
        gui.on_user(buttons.on_click, lambda: self._press(buttons.value))
        self._problem = add.add_html("", visible=False)
        self._show()

    def _rows(self) -> tuple[TableRow, ...]:
        return self._editing.editor.rows()

    def _select(self, label: str) -> None:
        self._index = int(label.partition(" ")[0]) - 1
        self._show()

    def _press(self, button: str) -> None:
        index, step = self._index, {"Up": -1, "Down": 1}.get(button, 0)

        def change(editor: RobotEditor) -> str:
            if button == "Add":
                return editor.add_joint(index + 1)
            return editor.move_joint(index, step) if step else editor.remove_joint(index)

        problem = self._editing.change(change)
        self._report(problem)
        if not problem:
            target = index + step + (button == "Add")
            self._index = min(max(target, 0), len(self._rows()) - 1)
            self._show()

    def _report(self, problem: str) -> None:
        set_problem(self._problem, problem)

    def _show(self) -> None:
        """Show the rows as they are now."""
        rows = self._rows()
        self._index = min(self._index, len(rows) - 1)
        row = rows[self._index]
        self._overview.content = _overview(self._editing.editor, rows, self._index)
        labels = tuple(f"{number} {row.name}" for number, row in enumerate(rows, 1))
        set_choice(self._row, labels, labels[self._index])
        made_for = (self._index, row.name, row.type, tuple(row.entries), self._editing.path)
        if made_for != self._shown:
            self._shown = made_for
            self._make_fields(row)
        show_entries(self._editing.editor, self._fields)

    def _make_fields(self, row: TableRow) -> None:
        gui, units = self._gui, self._editing.editor.model.units
        self._fields.clear()
        index = self._index
        with gui.emptied(self._row_fields):
            name = gui.line("Name", lambda text: self._change(lambda e: e.rename(index, text)))
            name.value = row.name
            gui.choice(
                "Type",
                JOINT_TYPES if self._editing.editor.is_screws else TYPES,
                row.type,
                lambda kind: self._change(lambda e: e.set_type(index, kind)),
            )
            for key, path in row.entries.items():
                unit = units.angle if key in ANGLES else units.length
                if key not in row.numbers:
                    unit = units.length if row.type == "prismatic" else units.angle
                label = SYMBOLS.get(key, key) + f" [{unit}]" * (not key.startswith("axis"))
                field = gui.text(label, "", partial(self._enter, path))
                self._fields[path] = field, gui.elements.add_html("", visible=False)

    def _change(self, action: Callable[[RobotEditor], str]) -> None:
        self._report(self._editing.change(action))

    def _enter(self, path: tuple[str | int, ...], text: str) -> None:
        self._editing.set(path, text)
        self._report("")


def _overview(editor: RobotEditor, rows: tuple[TableRow, ...], selected: int) -> str:
    """Return the whole table as HTML, wrong entries in red."""
    columns = (SYMBOLS.get(key, key) for key in rows[0].numbers)
    head = "".join(f"<th>{text}</th>" for text in ("", "", *columns, "limits"))
    body = "".join(_overview_row(editor, n, row, n == selected) for n, row in enumerate(rows))
    return (
        '<div style="overflow-x:auto;padding:.2em .6em"><table data-arm="table" '
        'style="width:100%;font-size:.6875em;border-spacing:.45em .1em;text-align:right;'
        f'white-space:nowrap"><tr style="opacity:.6">{head}</tr>{body}</table></div>'
    )


def _overview_row(editor: RobotEditor, number: int, row: TableRow, selected: bool) -> str:
    cells = [f"<td>{number + 1}</td>", f'<td style="text-align:left">{escape(row.name)}</td>']
    cells += [f"<td>{_entry(editor, row, key)}</td>" for key in row.numbers]
    ends = [key for key in row.entries if key not in row.numbers]
    limits = "…".join(_entry(editor, row, key) for key in ends[:2])
    cells.append(f"<td>{limits}{' +' * (len(ends) > 2)}</td>")
    style = ' style="background:#fde68a66"' if selected else ""
    return f"<tr{style}>{''.join(cells)}</tr>"


def _entry(editor: RobotEditor, row: TableRow, key: str) -> str:
    path = row.entries[key]
    text = escape(editor.text(path)) or "–"
    return f'<b style="color:{WRONG}">{text}</b>' if path in editor.wrong else text


ENTRY = editing_entry(TablePanel, 2.0, folded=False)
