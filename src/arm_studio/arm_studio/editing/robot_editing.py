# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The robot file that several panels edit and show.

Robots that can be opened are the files of its folder and the shipped ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml
from arm_common.errors import is_utf8
from arm_common.yaml.editing import EntryPath, YamlEditor
from arm_description.errors import DescriptionError
from arm_description.library import robot_path, shipped_robots
from arm_description.model.units import ANGLES, UNITS
from arm_description.robot_file.editor import ENDS, RobotEditor, starting_robot
from arm_description.robot_file.robot_keys import COMPOUND
from arm_description.robot_file.sections.attachments import shipped_payloads, shipped_tools
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import changed_meshes
from arm_viewer.browser.tabs import ROBOT
from arm_viewer.errors import ViewerError
from arm_viewer.panels.interface import Panel, PanelContext, PanelEntry, ShownFile
from arm_viewer.port import Where

from arm_studio.editing.file_editing import SUFFIXES, FileEditing, changed_at
from arm_studio.editing.pasted_table import VARIABLE_KINDS, PastedRow, entry, read_block

MIN_JOINTS, MAX_JOINTS = 2, 7  # of a new robot
LISTED_SUFFIXES = (*SUFFIXES, ".csv", ".txt")
MAX_LISTED = 100  # files of a folder
LINE_LENGTH = 60  # characters about a robot in the list
FOLDER_PERIOD = 2.0  # [s] after which panels list new files in the folder of the robot


def editing_of(context: PanelContext) -> RobotEditing | None:
    """Return the robot file that the panels of a page edit; None where none can be edited."""
    if context.robot_file is None:
        return None
    if (shared := context.shared.get(RobotEditing)) is not None:
        editing: RobotEditing = shared
        return editing
    editing = context.shared[RobotEditing] = RobotEditing(context.robot, context.robot_file)
    listed = changed_at(editing.folder)

    def watch_folder() -> None:
        nonlocal listed
        former, listed = listed, changed_at(editing.folder)
        if listed != former:
            context.redraw()

    context.every(FOLDER_PERIOD, watch_folder)
    return editing


def editing_entry(
    kind: Callable[[PanelContext, RobotEditing], Panel],
    order: float,
    tab: str = ROBOT,
    folded: bool = True,
) -> PanelEntry:
    """Return the entry of a panel that needs a robot file."""

    def make(context: PanelContext) -> Panel | None:
        editing = editing_of(context)
        return None if editing is None else kind(context, editing)

    return PanelEntry(make, order, Where.ALONE, folded, tab)


@dataclass(frozen=True)
class RobotChoice:
    """A robot that can be opened."""

    name: str  # a shipped name, or the name of a file
    path: Path
    line: str  # about it


class RobotEditing(FileEditing[RobotModel]):
    """The robot file that several panels edit and show.

    Args:
        robot: a shipped name, or the path of a robot file.
        shown: the file that a page shows.
        clock: returns the time [s].

    Raises:
        DescriptionError: there is no such robot, or its file is invalid.
    """

    noun = "robot"
    editor: RobotEditor

    def __init__(
        self,
        robot: str,
        shown: ShownFile[RobotModel],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock)
        self._shown = shown
        self._fresh = b""  # a new robot that nobody has edited
        self._pasted = 0  # blocks
        self._load(robot_path(robot))
        shown.on_saved = self.reload

    def _load(self, path: Path) -> None:
        data = path.read_bytes()
        self.editor = RobotEditor(data, path.name, path.parent)
        self.path = path
        self._saved, self._first = data, self.editor.model

    def _shipped(self) -> Collection[Path]:
        return shipped_robots().values()

    def _show(self) -> None:
        self._shown.show(self.editor.model)

    def _begin(self) -> None:
        """Show another robot, without the problem and the joint values of the one before."""
        self._newer = b""
        self._shown.report("")
        self._shown.begin(self.editor.model)
        self._publish(False)

    def _resolved(self) -> None:
        self._shown.report("")

    def _watch(self, path: Path) -> None:
        self._shown.watch(path)

    def reload(self) -> str:
        """Take what another program has saved in the file; return a sentence if it conflicts."""
        problem = super().reload()
        self._shown.take(self.editor.model)
        return problem

    @property
    def name(self) -> str:
        """The name of the file; of a new robot its own."""
        return self.path.name if self.path else f"{self.editor.model.name} (new)"

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each mesh of other DH numbers than those shown, and for odd files."""
        return (
            *changed_meshes(self._first, self.editor.model),
            *odd_files(self.folder, changed_at(self.folder)),
        )

    def attachments(self, key: str) -> tuple[str, ...]:
        """Return what can be chosen as ``tool`` or ``payload``: shipped, or of a folder beside.

        Files of the folders ``tools`` and ``payloads`` beside the robot file are paths from there.
        """
        shipped = shipped_tools() if key == "tool" else shipped_payloads()
        try:
            files = sorted(p for p in (self.folder / f"{key}s").iterdir() if p.suffix in SUFFIXES)
        except OSError:
            files = []  # there is no such folder, or it is not ours to read
        own = [] if self.is_shipped else [f"{key}s/{path.name}" for path in files[:MAX_LISTED]]
        own = [name for name in own if is_utf8(name)]
        now = self.editor.attached(key)
        return tuple(dict.fromkeys((*shipped, *own, *([now] if now else []))))

    def attach(self, key: str, name: str) -> str:
        """Choose the ``tool`` or ``payload``, "" for none; return an answer.

        Raises:
            ViewerError: the reader refuses it.
        """
        if problem := self.change(lambda editor: editor.attach(key, name)):
            raise ViewerError(problem)
        return f"{key.capitalize()}: {name or 'none'}"

    def change(self, action: Callable[[RobotEditor], str]) -> str:
        """Edit the file; return why the edit is refused, or ""."""
        return self._change(lambda: action(self.editor))

    def set(self, path: EntryPath, text: str) -> str:
        """Change an entry; a new robot that nobody has edited is converted to other units."""
        units, data = self.editor.model.units, self.editor.data
        is_unit = path == ("units", "angle" if text in ANGLES else "length") and text in UNITS
        if is_unit and data == self._fresh:
            self._fresh = starting_robot(len(self.editor.rows()), units.using(text)).encode()
            return self._change(lambda: self.editor.replace(self._fresh))
        return super().set(path, text)

    def enter(self, index: int, column: str, text: str) -> str:
        """Change an entry of the table, written as in a book; return why it is refused, or "".

        The mark of the variable also says what kind of joint it is.
        """
        editor = self.editor
        row, path = editor.rows()[index], editor.path(index, column)
        if column in ("name", "type") or not row.is_independent:
            return self.set(path, text)
        text, is_marked = entry(text, column, editor.model.units)
        if is_marked and row.variable != column:
            entries = {editor.path(index, "type"): VARIABLE_KINDS[column], path: text}
            return self._change(lambda: self._set_all(entries))
        return self.set(path, text)

    def paste(self, index: int, column: str, text: str) -> str:
        """Enter a block of text from an entry of the table on; return why not, or "".

        Rows that the table lacks are added. All of it is one step; entries that are refused are
        marked.

        Raises:
            InputError: the text is no block of cells that fits.
        """
        columns = self.editor.columns
        rows = read_block(text, columns[columns.index(column) :], self.editor.model.units)
        return self._change(lambda: self._enter_rows(index, rows))

    def _enter_rows(self, index: int, rows: Sequence[PastedRow]) -> str:
        editor, count = self.editor, len(self.editor.rows())
        self._pasted += 1
        gesture: EntryPath = ("paste", self._pasted)
        missing = index + len(rows) - count
        if missing > 0 and (problem := editor.add_joints(count, missing, gesture)):
            return problem
        entries: dict[EntryPath, str] = {}
        former_rows = editor.rows()
        for number, row in enumerate(rows, index):
            former = former_rows[number]
            if row.kind and row.kind != former.type:
                entries[editor.path(number, "type")] = row.kind
            if former.type in COMPOUND and not row.kind and not row.texts.keys().isdisjoint(ENDS):
                return f"{former.name} is {former.type}: its limits are by axis, enter them there."
            entries |= {editor.path(number, key): value for key, value in row.texts.items()}
        return self._set_all(entries, gesture)

    def _set_all(self, entries: Mapping[EntryPath, str], gesture: EntryPath = ()) -> str:
        """Change entries; why one is refused stands at its cell."""
        self.editor.set_all(entries, gesture)
        return ""

    def set_symbol(self, name: str, text: str) -> str:
        """Change a constant and return an answer.

        Raises:
            ViewerError: there is no such constant, or the text is refused.
        """
        if name not in self.editor.symbols():
            known = ", ".join(self.editor.symbols()) or "none"
            raise ViewerError(f"{self.name} has no constant {name!r}: known are {known}")
        if problem := self.set(("constants", name), text):
            self.editor.wrong.pop(("constants", name))  # a line that was typed marks no field
            self._publish(False)
            raise ViewerError(problem)
        return f"{name} = {self.editor.model.constants[name]:g}"

    def choices(self) -> tuple[RobotChoice, ...]:
        """Return the robot files of the folder, then the shipped robots."""
        try:
            files = sorted(p for p in self.folder.iterdir() if p.suffix in SUFFIXES)[:MAX_LISTED]
        except OSError:
            files = []  # the folder is gone, or not ours to read
        own = [RobotChoice(p.name, p, line) for p in files if (line := _line(p))]
        own = [choice for choice in own if is_utf8(choice.name + choice.line)]
        shipped = [RobotChoice(n, p, _line(p)) for n, p in shipped_robots().items()]
        return (*own, *shipped)

    def open(self, choice: str) -> str:
        """Edit and show another robot; unsaved edits are dropped if this is called twice.

        Raises:
            ViewerError: there are unsaved edits, there is no such robot, or it is invalid.
        """
        found = next((c for c in self.choices() if c.name == choice), None)
        if found is None:
            raise ViewerError(f"There is no robot {choice}.")
        self._drop_edits(found.path, "Open")
        try:
            self._load(found.path)
        except (DescriptionError, OSError) as error:
            raise ViewerError(str(error)) from None
        self._watch(found.path)
        self._begin()
        return f"Opened {found.path}"

    def new(self, joints: int) -> str:
        """Edit and show a new robot, which has no file yet; drop edits as `open` does."""
        self._drop_edits(Path(), "New")
        data = starting_robot(joints).encode()
        self.editor = RobotEditor(data, "new robot")
        self.path, self._saved, self._first = None, b"", self.editor.model
        self._fresh = data
        self._begin()
        return f"A new robot with {joints} joints: edit it in Table, then Save as."

    def _drop_edits(self, target: Path, button: str) -> None:
        asked, self._asked = self._asked, (button, target)
        dropped = not self.is_saved and self.editor.data != self._fresh
        if dropped and asked != (button, target):
            raise ViewerError(f"{self.name} has unsaved edits: press {button} again to drop them.")
        self._asked = None


@lru_cache(maxsize=1)
def odd_files(folder: Path, changed: int) -> tuple[str, ...]:
    """Return a sentence about the files that the lists of the page leave out, if there are any.

    Args:
        folder: Whose files they are.
        changed: When it changed, see `changed_at`.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix in LISTED_SUFFIXES)
    except OSError:
        return ()
    odd = ", ".join(ascii(path.name) for path in paths[:MAX_LISTED] if _is_odd(path))
    return (f"Left out, as their name or text is not UTF-8 or not YAML: {odd}",) if odd else ()


def _is_odd(path: Path) -> bool:
    try:
        return not is_utf8(path.name + (_about(path) if path.suffix in SUFFIXES else ""))
    except (OSError, ValueError, yaml.YAMLError):
        return True


def _line(path: Path) -> str:
    """Return one line about a robot file, "" if it is none."""
    try:
        return _about(path)
    except (OSError, ValueError, yaml.YAMLError):
        return ""


def _about(path: Path) -> str:
    """Return one line about a robot file, "" if it is another one; raise if it is not YAML."""
    editor = YamlEditor(path.read_bytes())
    count = editor.count("joints")
    about = editor.scalar("description") or editor.scalar("name")
    line = f"{path.stem}, {count} rows: {about}" if count else ""
    return line if len(line) <= LINE_LENGTH else f"{line[: LINE_LENGTH - 1]}…"
