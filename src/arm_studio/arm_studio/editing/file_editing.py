# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/editing/test_robot_editing.py
"""The file that a page edits: what is shown, what is saved, and who watches it.

Edits are shown at once and saved on request. A new file is written only beside the file that is
open, or in the working folder.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic

from arm_common.errors import CONTROL, InputError, one_line
from arm_common.files.saving import FileChangedError, contents, save_edit
from arm_common.yaml.editing import CORRECT_FIRST, CheckedEditor, EntryPath, Model
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.texts import set_problem, status_line
from arm_viewer.errors import ViewerError

GESTURE = 1.5  # [s] after an edit, in which another one of the same entry belongs to it
SUFFIXES = (".yaml", ".yml")
MAX_NAME = 200  # bytes of a name; file systems take 255, with endings and those of backups


class FileEditing(ABC, Generic[Model]):
    """One file that panels edit and show. Used by one thread.

    Subclasses set `editor` and `path`, and show what the text describes.

    Args:
        clock: returns the time [s].
    """

    noun: str  # what the file describes
    editor: CheckedEditor[Model]

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._observers: list[Callable[[], None]] = []
        self._last: tuple[EntryPath, float] = ((), 0.0)  # entry and time of an edit
        self._asked: tuple[str, Path] | None = None  # button and file: done if asked again
        self.path: Path | None = None
        self._saved = b""
        self._newer = b""  # what another program has saved meanwhile

    @abstractmethod
    def _shipped(self) -> Collection[Path]:
        """Return the files of this project, which must not be changed."""

    @abstractmethod
    def _show(self) -> None:
        """Show what the text describes."""

    @abstractmethod
    def _watch(self, path: Path) -> None:
        """Watch another file for changes by other programs."""

    @property
    def name(self) -> str:
        """The name of the file; of a new one that of what it describes."""
        return self.path.name if self.path else f"{self.editor.name} (new)"

    @property
    def is_saved(self) -> bool:
        """True if the file contains all edits."""
        return self.editor.data == self._saved

    @property
    def is_changed_outside(self) -> bool:
        """True if another program has saved the file, and its text was not taken for the edits."""
        return bool(self._newer)

    @property
    def is_shipped(self) -> bool:
        """True if the file is part of this project and must not be changed."""
        return self.path is not None and self.path in self._shipped()

    def observe(self, callback: Callable[[], None]) -> None:
        """Call a function after every edit."""
        self._observers.append(callback)

    def set(self, path: EntryPath, text: str) -> str:
        """Change an entry; return the reader's sentence if it is refused, or ""."""
        goes_on = self.goes_on(path)
        return self._change(lambda: self.editor.set(path, text, gesture=goes_on))

    def goes_on(self, path: EntryPath) -> bool:
        """Return whether an edit of an entry belongs to the last one of it, and remember it."""
        now, (last, at) = self._clock(), self._last
        self._last = path, now
        return path == last and now < at + GESTURE

    def _change(self, action: Callable[[], str]) -> str:
        """Edit the file; return why the edit is refused, or ""."""
        before = self.editor.model
        problem = action()
        if self._newer and self._has_no_edits:
            self._take(self._newer)
            self._resolved()
        self._publish(self.editor.model is not before)
        return problem

    @property
    def _has_no_edits(self) -> bool:
        return self.is_saved and not self.editor.wrong

    def _take(self, data: bytes) -> None:
        """Take the text of another program."""
        self._saved, self._newer = data, b""
        self.editor.replace(data)

    def _resolved(self) -> None:
        """Remove the sentence of a conflict with another program."""

    def undo(self) -> str:
        """Take the last edit back; return an answer, which is ""."""
        return self._step(self.editor.undo)

    def redo(self) -> str:
        """Do again what was taken back; return an answer, which is ""."""
        return self._step(self.editor.redo)

    def _step(self, action: Callable[[], bool]) -> str:
        self._last = ((), 0.0)
        self._change(lambda: "" if action() else "nothing")
        return ""

    def save(self) -> str:
        """Write the file, keep its former text as ``<file>.bak``, and return an answer.

        Raises:
            ViewerError: it is shipped, new, changed by another program, or cannot be written.
        """
        if self.path is None:
            raise ViewerError(f"This {self.noun} is new: give it a name with Save as.")
        if self.is_shipped:
            raise ViewerError(
                f"{self.path.name} is a shipped {self.noun}: give a name with Save as."
            )
        return self._write(self.path, self._saved)

    def save_as(self, name: str) -> str:
        """Write another file and edit it from now on; return an answer.

        A file that is overwritten stays as ``<file>.bak``.

        Args:
            name: of a file in this file's folder, or the working folder for a shipped robot. One
                that exists is overwritten if this is called twice.

        Raises:
            ViewerError: the name is wrong, or the file exists or cannot be written.
        """
        path, asked = self.folder / file_name(name), self._asked
        self._asked = None
        if path in self._shipped():
            raise ViewerError(f"{path.name} is a shipped {self.noun}: give another name.")
        try:
            before = contents(path)
        except InputError as error:
            raise ViewerError(str(error)) from None
        is_mine = path == self.path and before == self._saved
        if before is not None and not is_mine and asked != ("Save as", path):
            self._asked = "Save as", path
            reason = "was changed by another program" if path == self.path else "exists"
            raise ViewerError(f"{path} {reason}: press Save as again to overwrite it.")
        return self._write(path, before)

    def _write(self, path: Path, before: bytes | None) -> str:
        if self.editor.wrong:
            raise ViewerError(f"Nothing was saved. {CORRECT_FIRST}")
        try:
            save_edit(self.editor.data, path, before)
        except FileChangedError:
            raise ViewerError(
                f"{path.name} was changed by another program: use Save as, or Open it again "
                "without your edits."
            ) from None
        except InputError as error:
            raise ViewerError(str(error)) from None
        self.path, self._saved, self._newer = path, self.editor.data, b""
        self._resolved()
        self.editor.name, self.editor.folder = path.name, path.parent
        self._watch(path)
        self._publish(False)
        return f"Saved {path}"

    @property
    def folder(self) -> Path:
        """The folder of the file; of a shipped or new robot the working folder."""
        return Path.cwd() if self.path is None or self.is_shipped else self.path.parent

    @property
    def own_folder(self) -> Path | None:
        """The folder of the file; None for a shipped or new robot."""
        return None if self.path is None or self.is_shipped else self.path.parent

    def reload(self) -> str:
        """Take what another program has saved in the file; return a sentence if it conflicts."""
        if self.path is None:
            return ""
        try:
            data = self.path.read_bytes()
            self.editor.parse(data)
        except (InputError, OSError):
            return ""  # reported by the file watcher
        if data == self._saved:
            return ""
        if self._has_no_edits:
            self._take(data)
            self._publish(False)
            return ""
        self._newer = data
        self._publish(True)  # the edits stay in the picture
        return (
            f"{self.path.name} was changed by another program; your edits are not saved. "
            "Save as keeps them in another file; Undo takes the other program's text."
        )

    def _publish(self, changed: bool) -> None:
        if changed:
            self._show()
        for callback in self._observers:
            callback()


class FileControls:
    """What is done with a file as a whole: undo, redo, save, save as; and the last answer.

    Args:
        gui: of the page.
        editing: the file.
        noun: what the elements are marked with, for tests.
    """

    def __init__(self, gui: PageGui, editing: FileEditing[Any], noun: str) -> None:
        self._gui, self._editing, self._noun = gui, editing, noun
        add = gui.elements
        self._state = add.add_html("")
        steps = add.add_button_group("Edits", ("Undo", "Redo", "Save"))
        actions = {"Undo": editing.undo, "Redo": editing.redo, "Save": editing.save}
        gui.on_user(steps.on_click, lambda: self.do(actions[steps.value]))
        gui.line("Save as", lambda name: self.do(lambda: editing.save_as(name)), "Press Enter")
        self._answer: Any = None

    def add_answer(self) -> None:
        """Add the place of the answers."""
        self._answer = self._gui.elements.add_html("", visible=False)

    def do(self, action: Callable[[], str]) -> None:
        """Run an action, and show its answer, or why it is refused."""
        try:
            self.say(action())
        except (ViewerError, InputError) as error:
            self.say(str(error))

    def say(self, text: str) -> None:
        """Show an answer; "" for none."""
        self._answer.content = status_line(f"{self._noun}-answer", "", text)
        self._answer.visible = bool(text)

    def show(self, more: str = "") -> None:
        """Show the name of the file, whether it is saved, and more lines of HTML."""
        editing = self._editing
        state = editing.name if editing.is_saved else f"{editing.name}, not saved"
        state += ", changed by another program" if editing.is_changed_outside else ""
        self._state.content = status_line(f"edited-{self._noun}", "File", state) + more


def show_entries(editor: CheckedEditor[Any], fields: Mapping[EntryPath, tuple[Any, Any]]) -> None:
    """Show entries as they are now: each in its field, and below it why it is refused."""
    for path, (field, problem) in fields.items():
        text, wrong = editor.text(path), editor.wrong.get(path)
        if field.value.strip() != text:
            field.value = text
        set_problem(problem, wrong.problem if wrong else "")


def file_name(name: str, endings: Sequence[str] = SUFFIXES) -> str:
    """Return the name of a file with the first ending, whether it is given with one or not.

    Raises:
        ViewerError: it names a folder or nothing, is too long, or has control characters.
    """
    stem = name.strip()
    for ending in endings:
        stem = stem.removesuffix(ending)
    if not stem or Path(stem).name != stem or stem.startswith(".") or CONTROL.search(stem):
        shown = one_line(repr(name), 100)
        raise ViewerError(f"{shown} is not a file name: give letters and digits, such as mine.")
    if len(os.fsencode(stem)) > MAX_NAME:
        raise ViewerError(f"A name of {len(stem)} letters is too long: give at most {MAX_NAME}.")
    return f"{stem}{endings[0]}"


def changed_at(folder: Path | None) -> int:
    """Return when a folder changed [ns]; 1 without one, or when it is gone."""
    try:
        return 1 if folder is None else folder.stat().st_mtime_ns
    except OSError:
        return 1
