# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Edit a robot file step by step: the last valid robot stays while an entry is wrong.

Every edit changes the text of the file only where it must, so that comments stay, and is checked
by the reader.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from arm_common.files.saving import save_edit
from arm_common.suggestions import did_you_mean
from arm_common.yaml.editing import CheckedEditor, EntryPath, YamlEditor, flow_mapping, flow_word
from yaml import ScalarNode

from arm_description.errors import DescriptionError
from arm_description.model.units import SHOWN, Units
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.renaming import (
    add_origin,
    expression_word,
    names_of_row,
    place_of,
    remove_transmissions,
    rename_constant,
    rename_in_postures,
    rename_joints,
    rename_links,
    rename_row,
    uses_of,
)
from arm_description.robot_file.robot_keys import COMPOUND, GRIPPER_KEY, SCREWS
from arm_description.robot_model import RobotModel

NUMBERS = ("theta", "d", "a", "alpha")
SCREW_NUMBERS = tuple(f"{key} {x}" for key in ("axis", "at") for x in "xyz")
ENDS = ("lower", "upper")
_DIGITS = 12  # of the positions in a posture
_ROUNDING = 1e-9  # error of the written decimals [rad or m]
REST = "rest"  # the posture that stays within the limits
# Ends the path of a name itself: that of a constant or posture; a new one has the name "".
NAME_ITSELF = ""


@dataclass(frozen=True)
class TableRow:
    """One row of the table as it is written: each entry is a path and a text."""

    name: str
    type: str
    entries: Mapping[str, EntryPath]  # theta .. alpha, or axis x .. at z; lower, or z lower ..

    @property
    def numbers(self) -> tuple[str, ...]:
        """The entries that say where the joint is."""
        return tuple(key for key in self.entries if not key.endswith(ENDS))

    @property
    def is_independent(self) -> bool:
        """True if it has limits: it does not follow other joints."""
        return any(key.endswith(ENDS) for key in self.entries)

    @property
    def variable(self) -> str:
        """The column of the joint's variable."""
        return "d" if self.type == "prismatic" else "theta"


@dataclass(frozen=True)
class Constant:
    """A named number of a file, in the file's units."""

    name: str
    text: str  # number or expression as written
    value: float  # its value
    comment: str  # its source, or the comment after it


@dataclass
class RobotEditor(CheckedEditor[RobotModel]):
    """The text of a robot file, what it describes, and what can be undone.

    Attributes:
        data: the text of the last valid robot, UTF-8.
        name: name of the file in messages.
        model: the robot that the text describes.
        wrong: refused entries by their path.
    """

    name: str = "robot"

    def parse(self, data: bytes) -> RobotModel:
        """Return the robot of a text; raise a DescriptionError if it is invalid."""
        return parse_robot(data, self.name, self.folder)

    def written(self, editor: YamlEditor, path: EntryPath) -> str:
        """Return an entry as it is in the file."""
        if path[-1] == NAME_ITSELF:
            return str(path[1])
        return editor.scalar(*_value_path(editor, path))

    def enter(self, editor: YamlEditor, path: EntryPath, text: str) -> None:
        """Write an entry, or remove it if the text is empty.

        The name of a joint or constant changes wherever the file has it.
        """
        match path:
            case ("joints", int() as index, "name"):
                rename_row(editor, index, text)
            case ("joints", int() as index, "type"):
                self._set_type(editor, index, text)
            case (str() as section, str() as name, key) if key == NAME_ITSELF:
                self._enter_name(editor, section, name, text)
            case (*above, int()):  # a number of a list
                add_origin(editor, tuple(above))
                editor.set(path, expression_word(text or "0"))
            case _ if text:
                editor.set(_value_path(editor, path), expression_word(text))
            case _ if editor.find(*path) is not None:
                editor.remove(path)
        if "limits" in path:
            self._keep_rest_inside(editor)

    def _try_again(self) -> None:
        for path in tuple(self.wrong):
            if path[-1] == NAME_ITSELF and path[1] and self.reading.find(*path[:-1]) is None:
                del self.wrong[path]  # the name is gone
        super()._try_again()

    def _enter_name(self, editor: YamlEditor, section: str, before: str, text: str) -> None:
        """Rename or remove a constant or posture, or add a constant: ``NAME = VALUE``."""
        if before and (editor.find(section, before) is None or (section, before) in self.wrong):
            raise DescriptionError(f"{before} is gone, or its value is marked: correct that first")
        if not before:
            name, _, value = text.partition("=")
            editor.set((section, name.strip()), expression_word(value.strip() or "0"))
        elif not text:
            uses = [*uses_of(editor, before)] if section == "constants" else []
            if uses:
                places = ", ".join(place_of(editor, path) for path, _ in uses)
                raise DescriptionError(
                    f"{before} is used in {places}", remedy="change that first", file=self.name
                )
            editor.remove((section, before))
        elif section == "constants":
            self._rename_constant(editor, before, text)
        else:
            editor.rename((section, before), text)

    def _rename_constant(self, editor: YamlEditor, before: str, after: str) -> None:
        rename_constant(editor, before, after)
        values = {after if n == before else n: v for n, v in self.model.constants.items()}
        if self.parse(editor.data) != replace(self.model, constants=values):
            raise DescriptionError(
                f"{before} cannot be renamed alone",
                remedy="another text of the file has it as a word: change that by hand",
                file=self.name,
            )

    def _keep_rest_inside(self, editor: YamlEditor) -> None:
        """Move the posture `rest` into limits that have changed."""
        without = YamlEditor(editor.data)
        if REST not in without.keys("postures"):
            return
        without.remove(("postures", REST))
        model, rest = self.parse(without.data), self.model.postures.get(REST, {})
        for joint in model.joints:
            value = rest.get(joint.name, 0.0)
            inside = min(max(value, joint.lower), joint.upper)
            if abs(inside - value) > _ROUNDING:
                text = f"{model.units.written(inside, joint.type) + 0.0:.{_DIGITS}g}"
                editor.set(("postures", REST, joint.name), text)

    def rows(self) -> tuple[TableRow, ...]:
        """Return the rows of the table."""
        editor = self.reading
        return tuple(_row(editor, index) for index in range(editor.count("joints")))

    @property
    def is_screws(self) -> bool:
        """True if the file has axes and points in place of a DH table."""
        return self.reading.scalar("convention") == SCREWS

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table."""
        return ("name", "type", *(SCREW_NUMBERS if self.is_screws else NUMBERS), *ENDS)

    def path(self, index: int, column: str) -> EntryPath:
        """Return the path of an entry of the table; a row has no others."""
        if column in ("name", "type"):
            return ("joints", index, column)
        row = _row(self.reading, index)
        return row.entries.get(column) or ("joints", index, "limits", column)

    def attach(self, key: str, name: str) -> str:
        """Choose the ``tool`` or ``payload`` by name or path, "" for none; return why not, or "".

        A transform that `tool` has stays: the tool is mounted there.
        """

        def change(editor: YamlEditor) -> None:
            within = key == "tool" and bool(editor.keys(key))
            path: EntryPath = (key, "name") if within else (key,)
            if name:
                editor.set(path, flow_word(name))
            elif editor.find(*path) is not None:
                editor.remove(path)

        return self.change(change)

    def attached(self, key: str) -> str:
        """Return the name of the ``tool`` or ``payload``; "" for none or one given by numbers."""
        editor = self.reading
        return editor.scalar(key) or editor.scalar(key, "name")

    def symbols(self) -> tuple[str, ...]:
        """Return the names of the constants, in the order of the file."""
        return tuple(self.reading.keys("constants"))

    def postures(self) -> tuple[str, ...]:
        """Return the names of the postures, in the order of the file."""
        return tuple(self.reading.keys("postures"))

    def constants(self) -> Iterator[Constant]:
        """Yield the constants, in the order of the file."""
        editor, lines = self.reading, self.data.decode("utf-8-sig").splitlines()
        for name, value in self.model.constants.items():
            path: EntryPath = ("constants", name)
            node = editor.find(*path)
            line = lines[node.start_mark.line] if isinstance(node, ScalarNode) else ""
            comment = editor.scalar(*path, "source") or line.partition(" #")[2].strip()
            yield Constant(name, self.written(editor, path), value, comment)

    def animate(self, values: Mapping[str, float]) -> str:
        """Give constants other values; successive calls are one step of undo.

        Args:
            values: by the name of the constant, in the units of the file.

        Returns:
            The reader's sentence if they are refused, or "".
        """

        def change(editor: YamlEditor) -> None:
            for name, value in values.items():
                self.enter(editor, ("constants", name), f"{value:.9g}")

        return self.change(change, ("constants",))

    def _set_type(self, editor: YamlEditor, index: int, kind: str) -> None:
        names = before = names_of_row(editor, index)
        former = editor.scalar("joints", index, "type")
        editor.set(("joints", index, "type"), flow_word(kind))
        if kind != former:
            editor.set(("joints", index, "limits"), self._new_limits(kind))
            if "prismatic" in (kind, former):  # the values in postures have another unit
                rename_in_postures(editor, before, ())
                before = ()
        rename_joints(editor, names, names_of_row(editor, index), before)

    def _new_limits(self, kind: str) -> str:
        """Return limits as YAML: a quarter turn to both sides, or 0.1 m."""
        units = self.model.units
        if kind == "prismatic":
            return flow_mapping({"lower": "0", "upper": f"{units.written(0.1, kind):.6g}"})
        turn = units.written(np.pi / 2, "revolute")
        limits = flow_mapping({"lower": f"{-turn:.6g}", "upper": f"{turn:.6g}"})
        axes = COMPOUND.get(kind, ())
        return flow_mapping(dict.fromkeys(axes, limits)) if axes else limits

    def add_joints(self, index: int, count: int = 1, gesture: EntryPath = ()) -> str:
        """Insert revolute joints before the row with an index; return why not, or "".

        Args:
            index: of a row, or their number.
            count: of the new ones.
            gesture: what is changed, if more of the same step follows.
        """
        units, rows = self.model.units, [joint.row for joint in self.model.rows]
        lengths = [abs(x) for row in rows for x in (row.a, row.d) if x]
        length = float(f"{units.written(float(np.mean(lengths or [0.1])), 'prismatic'):.2g}")
        limits = self._new_limits("revolute")
        numbers = {"theta": "0", "d": "0", "a": f"{length:g}", "alpha": "0"}
        if self.is_screws:
            numbers = {"axis": "[0, 0, 1]", "at": "[0, 0, 0]"}
        taken = {row.name for row in self.rows()}
        free = (name for name in (f"joint_{i}" for i in range(1, 999)) if name not in taken)

        def change(editor: YamlEditor) -> None:
            for at, name in zip(range(index, index + count), free, strict=False):
                row = {"name": name, "type": "revolute", **numbers, "limits": limits}
                editor.insert_item(("joints",), at, flow_mapping(row))
                for posture in editor.keys("postures"):
                    editor.set(("postures", posture, name), "0")

        return self.change(change, gesture)

    def remove_joint(self, index: int) -> str:
        """Remove a row, its link's mass, mesh and look, transmission; return why not, or ""."""
        if len(self.rows()) < 2:
            return "The last joint cannot be removed: an arm has at least one."

        def change(editor: YamlEditor) -> None:
            names = names_of_row(editor, index)
            editor.remove_item(("joints",), index)
            rename_in_postures(editor, names, ())
            rename_links(editor, names, ())
            remove_transmissions(editor, names)

        return self.change(change)

    def move_joint(self, index: int, step: int) -> str:
        """Swap a row with the next one (step 1) or the one before (-1); return why not, or ""."""
        first = min(index, index + step)
        if first < 0 or first + 1 >= len(self.rows()):
            return "The joint is at the end of the table already."
        return self.change(lambda editor: editor.swap_items(("joints",), first))

    def keep_posture(self, name: str, positions: Mapping[str, float]) -> str:
        """Add or replace a posture; return why it is refused, or "".

        Args:
            name: of the posture.
            positions: of all joints [rad or m]; the gripper's width, or those of finger joints.
        """
        model, gripper, kept = self.model, self.model.gripper, dict(positions)
        if gripper is not None and all(joint in positions for joint in gripper.moving):
            kept[GRIPPER_KEY] = gripper.width_of({j: positions[j] for j in gripper.moving})
        types = {joint.name: str(joint.type) for joint in model.joints}
        types |= {GRIPPER_KEY: "prismatic"} if gripper else {}
        values = {
            name: f"{model.units.written(float(kept[name]), kind) + 0.0:.{_DIGITS}g}"
            for name, kind in types.items()
            if name in kept
        }

        def change(editor: YamlEditor) -> None:
            path: EntryPath = ("postures", name)
            if set(editor.keys(*path)) == set(values):  # with its layout and comments
                for joint, text in values.items():
                    editor.set((*path, joint), text)
            else:
                editor.set(path, flow_mapping({flow_word(j): text for j, text in values.items()}))
            after = self.parse(editor.data)
            stored = after.postures[name]
            is_other = any(abs(stored[joint] - kept[joint]) > _ROUNDING for joint in values)
            if is_other or after != replace(model, postures={**model.postures, name: stored}):
                raise DescriptionError(
                    f"posture {name!r} cannot be changed alone",
                    remedy="if an alias (*name) shares it with another, write it out by hand",
                    file=self.name,
                )

        return self.change(change)


def store_posture(
    path: str | os.PathLike[str], name: str, positions: Mapping[str, float]
) -> RobotModel:
    """Add or replace a posture of a robot file and return the resulting robot.

    The new text must describe the same robot apart from this posture before it atomically replaces
    the file; the previous text is kept as ``<file>.bak``.

    Args:
        path: the robot file.
        name: name of the posture.
        positions: position of every joint [rad or m]; "gripper" is a width [m].

    Raises:
        DescriptionError: the file is invalid, a joint is missing or unknown, or a position is
            outside the limits.
        InputError: the file or its backup cannot be written. The file is unchanged after errors.
    """
    file = Path(path).resolve()
    try:
        data = file.read_bytes()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise DescriptionError(problem, remedy="check the path", file=str(path)) from None
    editor = RobotEditor(data, str(path))
    model = editor.model
    names = (*model.joint_names, GRIPPER_KEY) if model.gripper else model.joint_names
    for joint in positions:
        if joint not in names:
            problem = f"posture {name!r}: {model.name} has no joint {joint!r}"
            raise DescriptionError(problem, remedy=did_you_mean(joint, names))
    if problem := editor.keep_posture(name, positions):
        raise DescriptionError(problem)
    save_edit(editor.data, file, data)
    return editor.model


def starting_robot(joints: int, units: Units = SHOWN) -> str:
    """Return the text of a robot to begin with: two links in a plane, or more joints above."""
    rows = [_starting_row(joints, number, units.angle) for number in range(1, joints + 1)]
    length = f"{units.written(0.2, 'prismatic'):.6g}"
    lengths = "\n".join(f"  l{number}: {length}" for number in range(1, joints + 1))
    rest = flow_mapping({f"joint_{number}": "0" for number in range(1, joints + 1)})
    table = "\n".join(f"  - {row}" for row in rows)
    written = flow_mapping({"length": units.length, "angle": units.angle})
    return (
        "# One row a joint: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths may be expressions.\n"
        f"name: new_arm\nconvention: standard\nunits: {written}\n\n"
        f"constants:\n{lengths}\n\njoints:\n{table}\n\npostures:\n  rest: {rest}\n"
    )


def _starting_row(joints: int, number: int, unit: str) -> str:
    """Return a row: axes in turn across and along the arm from 6 joints on, else parallel."""
    quarter = "90" if unit == "deg" else "pi/2"
    limit = "170" if unit == "deg" else "2.967"
    numbers = {"theta": "0", "d": "0", "a": "0", "alpha": "0"}
    if joints > 5 or (number == 1 and joints > 2):
        numbers["d"] = f"l{number}" * (number % 2) or "0"
        numbers["alpha"] = "0" if number == joints else f"-{quarter}" if number % 2 else quarter
    if (joints < 6 and not (number == 1 and joints > 2)) or (number == joints and number % 2 == 0):
        numbers["a"] = f"l{number}"
    limits = flow_mapping({"lower": f"-{limit}", "upper": limit})
    return flow_mapping(
        {"name": f"joint_{number}", "type": "revolute", **numbers, "limits": limits}
    )


def _row(editor: YamlEditor, index: int) -> TableRow:
    row: EntryPath = ("joints", index)
    name, kind = editor.scalar(*row, "name"), editor.scalar(*row, "type")
    entries: dict[str, EntryPath] = {key: (*row, key) for key in NUMBERS}
    if editor.scalar("convention") == SCREWS:
        entries = {key: (*row, key[:-2], "xyz".index(key[-1])) for key in SCREW_NUMBERS}
    for axis in COMPOUND.get(kind, ()):
        for end in ENDS:
            entries[f"{axis} {end}"] = (*row, "limits", axis, end)
    if kind not in COMPOUND and editor.find(*row, "limits") is not None:
        entries |= {end: (*row, "limits", end) for end in ENDS}
    return TableRow(name, kind, entries)


def _value_path(editor: YamlEditor, path: EntryPath) -> EntryPath:
    """Return the path of a number, which may have its source beside it."""
    return (*path, "value") if "value" in editor.keys(*path) else path
