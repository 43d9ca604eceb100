# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Table": the robot's table of joints as a grid over the picture."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from arm_common.errors import InputError
from arm_common.transforms import inverse
from arm_description.model.elements import JOINT_TYPES
from arm_description.robot_file.editor import ENDS, RobotEditor, TableRow
from arm_description.robot_file.robot_keys import COMPOUND, TYPES
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.texts import set_html, set_problem
from arm_viewer.panels.interface import Panel, PanelContext, PanelState

from arm_studio.editing.grid import Cell, Entry, Grid, RowButton, cell_of
from arm_studio.editing.model_chain import file_positions
from arm_studio.editing.number_tables import hint_html, matrix_html, pose_rows
from arm_studio.editing.pasted_table import ANGLE_COLUMNS
from arm_studio.editing.robot_editing import RobotEditing, editing_entry
from arm_studio.editing.row_steps import MOTIONS, ORDERS, DrawnMotion, RowMotion

SYMBOLS = {"theta": "θ", "d": "d", "a": "a", "alpha": "α"}
ROW_BUTTONS = (
    ("add", "+", "Add a joint below"),
    ("up", "↑", "Move up"),
    ("down", "↓", "Move down"),
    ("remove", "×", "Remove"),
)
STEPS = {"up": -1, "down": 1}
SWITCH = "Show the table"
WIDTH, LEAST_WIDTH = 830, 320  # [px]
GAP = 15  # beside the window [px]
HINT = (
    "Tab and Enter move. Paste a block from a spreadsheet or a book. q marks the variable of a "
    "row."
)


class TablePanel(Panel):
    """Shows all rows in a window of their own; each entry can be typed."""

    title = "Table"

    def __init__(self, context: PanelContext, editing: RobotEditing) -> None:
        self._context, self._editing = context, editing
        self._drawn = DrawnMotion(context, lambda: editing.editor.model.units)
        self._clicked: int | None = None  # the row whose matrix is shown
        editing.observe(self._show)

    def build(self, gui: PageGui) -> None:
        """Add the switch and the window."""
        add = gui.elements
        self._window: Any = add.add_panel(visible=False)
        switch = add.add_checkbox(SWITCH, False)
        gui.on_browser(switch.on_update, self._switch, lambda: (switch.value,))
        with self._window.add_tab(self.title):
            presses = {action: partial(self._press, action) for action, *_ in ROW_BUTTONS}
            self._grid = Grid(
                gui, {"set": self._set, "paste": self._paste, "show": self._click, **presses}
            )
            self._problem = add.add_html("", visible=False)
            self._matrix = add.add_html("", visible=False)
            add.add_html(hint_html(HINT))
        self._show()

    def _switch(self, client: Any, on: bool) -> None:
        """Show the window at the bottom of the picture, no wider than that, or hide it."""
        if on:
            width = min(WIDTH, max(client.camera.image_width - 2 * GAP, LEAST_WIDTH))
            self._window.float(x=GAP, y=-GAP, width=width)
        self._window.visible = on
        if not on:
            self._forget_click()

    def _forget_click(self) -> None:
        self._drawn.hide()
        self._clicked = None
        set_html(self._matrix, "")

    def _set(self, key: str, text: str) -> None:
        index, column = _place(key)
        self._editing.enter(index, column, text)
        set_problem(self._problem, "")  # a refused entry is marked itself

    def _paste(self, key: str, text: str) -> None:
        index, column = _place(key)
        try:
            problem = self._editing.paste(index, column, text)
        except InputError as error:
            problem = str(error)
            self._show()  # for the cell in which the text was pasted
        set_problem(self._problem, problem)

    def _press(self, action: str, key: str, _: str) -> None:
        index = int(key)

        def change(editor: RobotEditor) -> str:
            if action == "add":
                return editor.add_joints(index + 1)
            if action == "remove":
                return editor.remove_joint(index)
            return editor.move_joint(index, STEPS[action])

        set_problem(self._problem, self._editing.change(change))

    def update(self, state: PanelState) -> None:
        """Let the matrix follow the joints."""
        if self._clicked is not None:
            set_html(self._matrix, self._matrix_html(self._clicked))

    def close(self) -> None:
        """Remove the motion that is drawn."""
        self._drawn.hide()

    def _click(self, key: str, _: str) -> None:
        """Draw what the row of a cell does, and show its matrix."""
        self._clicked = _place(key)[0]
        set_html(self._matrix, self._matrix_html(self._clicked))
        if motions := self._motions(self._clicked):
            self._drawn.show(motions[0])

    def _motions(self, index: int) -> list[RowMotion]:
        """Return the motions of a row: one, or those of a universal or ball joint."""
        editor = self._editing.editor
        model, rows = editor.model, editor.rows()
        positions = file_positions(self._context.prefix, self._context.positions())
        if editor.is_screws or index >= len(rows) or not set(model.joint_names) <= set(positions):
            return []
        first, count = (
            sum(len(COMPOUND.get(row.type, ("",))) for row in part)
            for part in (rows[:index], rows[index : index + 1])
        )
        frames = model.dh_frames([positions[name] for name in model.joint_names])
        positions = model.positions(positions)
        return [
            RowMotion(joint.row.at(joint.type, positions[joint.name]), model.convention, frame)
            for joint, frame in list(zip(model.rows, frames, strict=False))[first : first + count]
        ]

    def _matrix_html(self, index: int) -> str:
        if not (motions := self._motions(index)):
            return ""
        editor, units = self._editing.editor, self._editing.editor.model.units
        A = inverse(motions[0].before) @ motions[-1].at(4.0)
        order = "".join(
            f" {MOTIONS[key]}({SYMBOLS[key]})" for key in ORDERS[motions[0].convention]
        )
        title = f"A{index + 1} ={order} of {editor.rows()[index].name}, now [{units.length}]"
        return matrix_html(title, pose_rows(A, units), "row-matrix")

    def _show(self) -> None:
        """Show the rows as they are now; what a click drew of the former ones is removed."""
        self._forget_click()
        editor = self._editing.editor
        rows, units = editor.rows(), editor.model.units
        columns = editor.columns[2:-2]
        heads = [
            f"{SYMBOLS.get(c, c)} [{units.angle if c in ANGLE_COLUMNS else units.length}]"
            if not c.startswith("axis")
            else c
            for c in columns
        ]
        head = ("joint", "type", *heads, "from", "to", "")
        self._grid.show(head, [_row(editor, rows, index) for index in range(len(rows))])


def _place(key: str) -> tuple[int, str]:
    """Return row and column of a cell."""
    index, _, column = key.partition(" ")
    return int(index), column


def _row(editor: RobotEditor, rows: Sequence[TableRow], index: int) -> list[list[Entry]]:
    row = rows[index]
    variable = f"q{_variable(rows, index)} +" if row.is_independent else ""
    kinds = JOINT_TYPES if editor.is_screws else TYPES

    def cell(column: str, **more: Any) -> Cell:
        path = row.entries.get(column, ("joints", index, column))  # the latter: name or type
        return cell_of(editor, f"{index} {column}", path, **more)

    places: list[list[Entry]] = [[cell("name")], [cell("type", options=kinds)]]
    for column in row.numbers:
        places.append([cell(column, mark=variable if column == row.variable else "")])
    for end in ENDS:
        keys = [key for key in row.entries if key.endswith(end)]
        places.append([cell(key, mark=key[:-6]) for key in keys])
    places.append([RowButton(action, str(index), *texts) for action, *texts in ROW_BUTTONS])
    return places


def _variable(rows: Sequence[TableRow], index: int) -> int:
    """Return the number of the first variable of a row, counted from 1."""
    before = (row for row in rows[:index] if row.is_independent)
    return 1 + sum(len(COMPOUND.get(row.type, ("",))) for row in before)


ENTRY = editing_entry(TablePanel, 2.0, folded=False)
