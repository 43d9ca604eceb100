# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/panels/test_table.py
"""The panel "Symbols": the constants of the robot file; plain numbers also have sliders."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from arm_common.errors import InputError, finite_number
from arm_common.yaml.editing import EntryPath
from arm_description.robot_file.editor import NAME_ITSELF
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.errors import ViewerError
from arm_viewer.panels.interface import PageCommand, Panel, PanelContext

from arm_studio.editing.grid import Entry, Grid, RowButton, cell_of
from arm_studio.editing.robot_editing import RobotEditing, editing_entry

STEPS = 200  # of a slider
NEW = " name"  # the cell of a new constant; no name begins with a space
HINT = "new, such as l3 = 20"


class SymbolsPanel(Panel):
    """Constants are added, renamed, changed and removed; those with a plain number have sliders.

    Adds the command ``set``.
    """

    title = "Symbols"

    def __init__(self, context: PanelContext, editing: RobotEditing) -> None:
        self._editing = editing
        self._shown: tuple[Any, ...] = ()  # what the elements were made for
        self._paths: dict[str, EntryPath] = {}  # by the key of a cell
        self._sliders: dict[str, Any] = {}
        editing.observe(self._show)
        context.commands.add(
            PageCommand(
                "set", "SYMBOL VALUE", "give a constant another value", self._run, self._words
            )
        )

    def build(self, gui: PageGui) -> None:
        """Add the elements."""
        self._gui = gui
        self._grid = Grid(gui, {"set": self._enter, "remove": lambda key, _: self._enter(key, "")})
        self._content = gui.elements.add_folder("Sliders", expand_by_default=False)
        self._show()

    def _words(self) -> tuple[str, ...]:
        return self._editing.editor.symbols()

    def _run(self, words: Sequence[str]) -> str:
        if len(words) < 2:
            raise ViewerError("set: give a constant and its value, such as: set l1 0.45")
        name, *value = words
        return self._editing.set_symbol(name.rstrip("="), " ".join(value).lstrip("= "))

    def _show(self) -> None:
        editor = self._editing.editor
        names = editor.symbols()
        self._paths = {NEW: ("constants", "", NAME_ITSELF)}
        rows: list[list[list[Entry]]] = [self._row(name) for name in names]
        rows.append([[cell_of(editor, NEW, self._paths[NEW], hint=HINT)]])
        self._grid.show(("constant", "value", ""), rows)
        if self._shown != (names, self._editing.path):
            self._shown = names, self._editing.path
            self._make_sliders(names)
        for name, slider in self._sliders.items():
            number = _number(editor.text(("constants", name)))
            slider.visible = number is not None
            if number is not None and slider.value != number:
                slider.min, slider.max = min(slider.min, number), max(slider.max, number)
                slider.value = number

    def _row(self, name: str) -> list[list[Entry]]:
        """Return the cells of a constant."""
        editor, key = self._editing.editor, f"{name} name"
        self._paths |= {key: ("constants", name, NAME_ITSELF), name: ("constants", name)}
        cells: list[Entry] = [cell_of(editor, each, self._paths[each]) for each in (key, name)]
        press = RowButton("remove", key, "×", f"Remove {name}, if nothing uses it")
        return [*([cell] for cell in cells), [press]]

    def _make_sliders(self, names: tuple[str, ...]) -> None:
        gui = self._gui
        self._content.visible = bool(names)
        self._sliders.clear()
        with gui.emptied(self._content):
            for name in names:
                number = _number(self._editing.editor.text(("constants", name))) or 0.0
                low, high, step = _range(number)
                slider = gui.elements.add_slider(
                    name, min=low, max=high, step=step, initial_value=number
                )
                gui.on_change(slider, partial(self._slide, name))
                self._sliders[name] = slider

    def _enter(self, key: str, text: str) -> None:
        self._editing.set(self._paths[key], text)

    def _slide(self, name: str, value: float) -> None:
        self._enter(name, f"{value:.9g}")


def _number(text: str) -> float | None:
    with suppress(InputError):
        return finite_number(text)
    return None


def _range(value: float) -> tuple[float, float, float]:
    """Return least and largest value and step of the slider of a number."""
    high = 2.0 * abs(value) or 1.0
    low = -high if value < 0.0 else 0.0
    step = float(f"{(high - low) / STEPS:.1g}")
    return low, high, step


ENTRY = editing_entry(SymbolsPanel, 2.1, folded=False)
