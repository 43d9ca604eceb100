# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/panels/test_table.py
"""The panel "Robot file": undo, redo, save, save as, new and open; name, units, base and tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from arm_common.yaml.editing import EntryPath
from arm_description.model.elements import CONVENTIONS
from arm_description.model.units import ANGLES, LENGTHS
from arm_description.robot_file.editor import RobotEditor
from arm_description.robot_file.robot_keys import SCREWS
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.texts import set_choice, status_line
from arm_viewer.errors import ViewerError
from arm_viewer.panels.interface import PageCommand, Panel, PanelContext, PanelState

from arm_studio.editing.file_editing import FileControls, changed_at
from arm_studio.editing.grid import Entry, Grid, cell_of
from arm_studio.editing.robot_editing import MAX_JOINTS, MIN_JOINTS, RobotEditing, editing_entry

NOTHING = "–"
NONE = "none"
ORIGINS = ("base", "tool")
PATHS: Mapping[str, EntryPath] = {
    "name": ("name",),
    "convention": ("convention",),
    "length": ("units", "length"),
    "angle": ("units", "angle"),
    **{f"{o} {key} {i}": (o, key, i) for o in ORIGINS for key in ("xyz", "rpy") for i in range(3)},
}
ATTACHED = ("tool", "payload")  # keys of the file that are chosen from a list


class RobotFilePanel(Panel):
    """What is done with the file as a whole. Adds the commands undo, redo, save, open and new."""

    title = "Robot file"

    def __init__(self, context: PanelContext, editing: RobotEditing) -> None:
        self._editing = editing
        self._listed: tuple[Path | None, int] = (None, 0)  # file, and when its folder changed
        editing.observe(self._show)
        add = context.commands.add
        add(PageCommand("undo", "", "take the last edit back", lambda words: editing.undo()))
        add(PageCommand("redo", "", "do it again", lambda words: editing.redo()))
        add(PageCommand("save", "[NAME]", "write the robot file", self._run_save))
        add(PageCommand("open", "ROBOT", "edit another robot", self._run_open, self._names))
        add(PageCommand("new", "JOINTS", "begin a new robot", self._run_new))
        for key in ATTACHED:
            about = f"choose the {key}, or {NONE}"
            words = partial(self._attachments, key)
            add(PageCommand(key, "NAME", about, partial(self._run_attach, key), words))

    def build(self, gui: PageGui) -> None:
        """Add the elements."""
        self._controls = FileControls(gui, self._editing, "file")
        self._grid = Grid(gui, {"set": self._enter})
        self._open = gui.choice("Open", (NOTHING,), NOTHING, self._choose)
        self._attached = {
            key: gui.choice(key.capitalize(), (NONE,), NONE, partial(self._attach, key))
            for key in ATTACHED
        }
        counts = tuple(f"{n}" for n in range(MIN_JOINTS, MAX_JOINTS + 1))
        new = gui.elements.add_button_group("New, joints", counts)
        do = self._controls.do
        gui.on_user(new.on_click, lambda: do(lambda: self._editing.new(int(new.value))))
        self._controls.add_answer()
        self._show()

    def update(self, state: PanelState) -> None:
        """Nothing depends on the posture, but the folder may have changed."""
        if self._listed != (self._editing.path, changed_at(self._editing.folder)):
            self._show()

    def _enter(self, key: str, text: str) -> None:
        self._editing.set(PATHS[key], text)

    def _list(self) -> None:
        """List the robots, if the file is another one, or its folder has changed."""
        listed = self._editing.path, changed_at(self._editing.folder)
        if self._listed != listed:
            self._listed, self._open.options = listed, self._options()
            self._open.value = NOTHING

    def _names(self) -> tuple[str, ...]:
        return tuple(choice.name for choice in self._editing.choices())

    def _options(self) -> tuple[str, ...]:
        choices = self._editing.choices()
        return (NOTHING, *(f"{c.name} · {c.line.partition(', ')[2]}" for c in choices))

    def _choose(self, label: str) -> None:
        if label != NOTHING:
            self._controls.do(lambda: self._editing.open(label.partition(" · ")[0]))
            self._open.value = NOTHING  # the browser reports a choice only if it is another one

    def _attachments(self, key: str) -> tuple[str, ...]:
        return (NONE, *self._editing.attachments(key))

    def _attach(self, key: str, name: str) -> None:
        if name != (self._editing.editor.attached(key) or NONE):
            self._controls.do(lambda: self._editing.attach(key, "" if name == NONE else name))
        self._show()

    def _run_attach(self, key: str, words: Sequence[str]) -> str:
        name = " ".join(words)
        return self._editing.attach(key, "" if name == NONE else name)

    def _run_save(self, words: Sequence[str]) -> str:
        name = " ".join(words)
        return self._editing.save_as(name) if name else self._editing.save()

    def _run_open(self, words: Sequence[str]) -> str:
        return self._editing.open(" ".join(words))

    def _run_new(self, words: Sequence[str]) -> str:
        text = " ".join(words)
        if not (text.isdecimal() and MIN_JOINTS <= int(text) <= MAX_JOINTS):
            raise ViewerError(f"give a number of joints from {MIN_JOINTS} to {MAX_JOINTS}")
        return self._editing.new(int(text))

    def _show(self) -> None:
        editing = self._editing
        warnings = (status_line("mesh", "Attention", sentence) for sentence in editing.warnings)
        self._controls.show("".join(warnings))
        for key, choice in self._attached.items():
            set_choice(choice, self._attachments(key), editing.editor.attached(key) or NONE)
        self._grid.show(("", "x, roll", "y, pitch", "z, yaw"), _rows(editing.editor))
        self._list()


def _rows(editor: RobotEditor) -> list[list[list[Entry]]]:
    """Return the name of the robot, its convention and units, and where it stands and ends."""

    def cell(key: str, **more: Any) -> list[Entry]:
        return [cell_of(editor, key, PATHS[key], **more)]

    conventions = (SCREWS,) if editor.is_screws else CONVENTIONS
    units = editor.model.units
    angle, length = f"[{units.angle}]", f"[{units.length}]"
    rows: list[list[list[Entry]]] = [
        [["name"], cell("name")],
        [["DH"], cell("convention", options=conventions)],
        [["units"], cell("length", options=LENGTHS), cell("angle", options=ANGLES)],
    ]
    for origin in ORIGINS:
        for key, unit in (("xyz", length), ("rpy", angle)):
            label = f"{origin if key == 'xyz' else ''} {unit}"
            rows.append([[label], *(cell(f"{origin} {key} {i}", hint="0") for i in range(3))])
    return rows


ENTRY = editing_entry(RobotFilePanel, 2.2, folded=False)
