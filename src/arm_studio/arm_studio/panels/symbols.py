# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/panels/test_table.py
"""The panel "Symbols": each constant of the robot file as a field, plain numbers as sliders."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from arm_common.errors import InputError, finite_number
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.errors import ViewerError
from arm_viewer.panels.interface import PageCommand, Panel, PanelContext

from arm_studio.editing.file_editing import EntryPath, show_entries
from arm_studio.editing.robot_editing import RobotEditing, editing_entry

STEPS = 200  # of a slider


class SymbolsPanel(Panel):
    """A field for each constant: a number or an expression; a slider, too, for a number.

    Adds the command ``set``.
    """

    title = "Symbols"

    def __init__(self, context: PanelContext, editing: RobotEditing) -> None:
        self._editing = editing
        self._shown: tuple[Any, ...] = ()  # what the elements were made for
        self._fields: dict[EntryPath, tuple[Any, Any]] = {}  # with their problems
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
        self._content = gui.elements.add_folder("Constants")
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
        if self._shown != (names, self._editing.path):
            self._shown = names, self._editing.path
            self._make_fields(names)
        show_entries(editor, self._fields)
        for name, slider in self._sliders.items():
            number = _number(editor.text(("constants", name)))
            slider.visible = number is not None
            if number is not None and slider.value != number:
                slider.min, slider.max = min(slider.min, number), max(slider.max, number)
                slider.value = number

    def _make_fields(self, names: tuple[str, ...]) -> None:
        gui = self._gui
        self._content.visible = bool(names)
        self._fields.clear()
        self._sliders.clear()
        with gui.emptied(self._content):
            for name in names:
                text = self._editing.editor.text(("constants", name))
                field = gui.text(name, text, partial(self._enter, name))
                low, high, step = _range(_number(text) or 0.0)
                slider = gui.elements.add_slider(
                    " ", min=low, max=high, step=step, initial_value=_number(text) or 0.0
                )
                gui.on_change(slider, partial(self._slide, name))
                problem = gui.elements.add_html("", visible=False)
                self._fields["constants", name], self._sliders[name] = (field, problem), slider

    def _enter(self, name: str, text: str) -> None:
        self._editing.set(("constants", name), text)

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
