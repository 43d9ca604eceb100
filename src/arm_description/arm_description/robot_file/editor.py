# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Edit a robot file step by step: the last valid robot stays while an entry is wrong.

Every edit changes the text of the file only where it must, so that comments stay, and is checked
by the reader.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

import numpy as np
from arm_common.files.saving import save_edit
from arm_common.suggestions import did_you_mean
from arm_common.yaml.editing import CheckedEditor, Path, YamlEditor, flow_mapping, flow_word
from yaml import ScalarNode

from arm_description.errors import DescriptionError
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.robot_keys import COMPOUND, GRIPPER_KEY, SCREWS
from arm_description.robot_model import RobotModel

NUMBERS = ("theta", "d", "a", "alpha")
LINK_SECTIONS = ("masses", "meshes", "looks")  # their keys are names of links
JOINT_KEYS = frozenset(("joint", "joints", "against", "beside", "levers"))  # hold names of joints
TEXT_KEYS = frozenset(("name", "type", "source"))  # of a row, which hold no expression
_DIGITS = 12  # of the positions in a posture
_ROUNDING = 1e-9  # error of the written decimals [rad or m]
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
_PLAIN = re.compile(r"(-?[\w.(]|\+[\w.(])[\w.+\-*/() ]*")  # needs no quotes in YAML


@dataclass(frozen=True)
class TableRow:
    """One row of the table as it is written: each entry is a path and a text."""

    name: str
    type: str
    entries: Mapping[str, Path]  # theta .. alpha, or axis x .. at z; lower, or z lower ..

    @property
    def numbers(self) -> tuple[str, ...]:
        """The entries that say where the joint is."""
        return tuple(key for key in self.entries if not key.endswith(("lower", "upper")))


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

    def written(self, editor: YamlEditor, path: Path) -> str:
        """Return an entry as it is in the file."""
        return editor.scalar(*_value_path(editor, path))

    def enter(self, editor: YamlEditor, path: Path, text: str) -> None:
        """Write an entry, quoted where YAML needs it, or remove it if the text is empty."""
        if text:
            plain = _PLAIN.fullmatch(text) is not None
            editor.set(_value_path(editor, path), text if plain else flow_word(text))
        elif editor.find(*path) is not None:
            editor.remove(path)

    def rows(self) -> tuple[TableRow, ...]:
        """Return the rows of the table."""
        editor = self.reading
        return tuple(_row(editor, index) for index in range(editor.count("joints")))

    @property
    def is_screws(self) -> bool:
        """Whether the file has axes and points in place of a DH table."""
        return self.reading.scalar("convention") == SCREWS

    def attach(self, key: str, name: str) -> str:
        """Choose the ``tool`` or ``payload`` by name or path, "" for none; return why not, or "".

        A transform that `tool` has stays: the tool is mounted there.
        """

        def change(editor: YamlEditor) -> None:
            within = key == "tool" and bool(editor.keys(key))
            path: Path = (key, "name") if within else (key,)
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

    def constants(self) -> Iterator[Constant]:
        """Yield the constants, in the order of the file."""
        editor, lines = self.reading, self.data.decode("utf-8-sig").splitlines()
        for name, value in self.model.constants.items():
            path: Path = ("constants", name)
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

    def set_type(self, index: int, kind: str) -> str:
        """Change the type of a joint; return the reader's sentence if it is refused, or ""."""
        former = self.rows()[index].type

        def change(editor: YamlEditor) -> None:
            names = before = _names(editor, index)
            editor.set(("joints", index, "type"), kind)
            if kind != former:
                editor.set(("joints", index, "limits"), self._new_limits(kind))
                if "prismatic" in (kind, former):  # the values in postures have another unit
                    _rename_in_postures(editor, before, ())
                    before = ()
            _rename(editor, names, _names(editor, index), before)

        return self.change(change)

    def _new_limits(self, kind: str) -> str:
        """Return limits as YAML: a quarter turn to both sides, or 0.1 m."""
        units = self.model.units
        if kind == "prismatic":
            return flow_mapping({"lower": "0", "upper": f"{units.written(0.1, kind):.6g}"})
        turn = units.written(np.pi / 2, "revolute")
        limits = flow_mapping({"lower": f"{-turn:.6g}", "upper": f"{turn:.6g}"})
        axes = COMPOUND.get(kind, ())
        return flow_mapping(dict.fromkeys(axes, limits)) if axes else limits

    def rename(self, index: int, name: str) -> str:
        """Rename a joint wherever the file names it or its link; return why not, or ""."""
        if not name.strip():
            return "Give the joint a name."

        def change(editor: YamlEditor) -> None:
            before = _names(editor, index)
            editor.set(("joints", index, "name"), flow_word(name.strip()))
            _rename(editor, before, _names(editor, index), before)

        return self.change(change)

    def add_joint(self, index: int) -> str:
        """Insert a revolute joint before the row with an index; return why not, or ""."""
        taken = {row.name for row in self.rows()}
        name = next(n for n in (f"joint_{i}" for i in range(1, 999)) if n not in taken)
        units, rows = self.model.units, [joint.row for joint in self.model.rows]
        lengths = [abs(x) for row in rows for x in (row.a, row.d) if x]
        length = float(f"{units.written(float(np.mean(lengths or [0.1])), 'prismatic'):.2g}")
        limits = self._new_limits("revolute")
        numbers = {"theta": "0", "d": "0", "a": f"{length:g}", "alpha": "0"}
        if self.is_screws:
            numbers = {"axis": "[0, 0, 1]", "at": "[0, 0, 0]"}
        row = {"name": name, "type": "revolute", **numbers, "limits": limits}

        def change(editor: YamlEditor) -> None:
            editor.insert_item(("joints",), index, flow_mapping(row))
            for posture in editor.keys("postures"):
                editor.set(("postures", posture, name), "0")

        return self.change(change)

    def remove_joint(self, index: int) -> str:
        """Remove a row, its link's mass, mesh and look, transmission; return why not, or ""."""
        if len(self.rows()) < 2:
            return "The last joint cannot be removed: an arm has at least one."

        def change(editor: YamlEditor) -> None:
            names = _names(editor, index)
            editor.remove_item(("joints",), index)
            _rename_in_postures(editor, names, ())
            _rename_links(editor, names, ())
            _remove_transmissions(editor, names)

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
            path: Path = ("postures", name)
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
    file = FilePath(path).resolve()
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


def starting_robot(joints: int) -> str:
    """Return the text of a robot to begin with: two links in a plane, or more joints above."""
    rows = [_starting_row(joints, number) for number in range(1, joints + 1)]
    lengths = "\n".join(f"  l{number}: 200" for number in range(1, joints + 1))
    rest = flow_mapping({f"joint_{number}": "0" for number in range(1, joints + 1)})
    table = "\n".join(f"  - {row}" for row in rows)
    return (
        "# One row a joint: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths may be expressions.\n"
        f"name: new_arm\nconvention: standard\nunits: {{length: mm, angle: deg}}\n\n"
        f"constants:\n{lengths}\n\njoints:\n{table}\n\npostures:\n  rest: {rest}\n"
    )


def _starting_row(joints: int, number: int) -> str:
    """Return a row: axes in turn across and along the arm from 6 joints on, else parallel."""
    numbers = {"theta": "0", "d": "0", "a": "0", "alpha": "0"}
    if joints > 5 or (number == 1 and joints > 2):
        numbers["d"] = f"l{number}" * (number % 2) or "0"
        numbers["alpha"] = "0" if number == joints else "-90" if number % 2 else "90"
    if (joints < 6 and not (number == 1 and joints > 2)) or (number == joints and number % 2 == 0):
        numbers["a"] = f"l{number}"
    limits = flow_mapping({"lower": "-170", "upper": "170"})
    return flow_mapping(
        {"name": f"joint_{number}", "type": "revolute", **numbers, "limits": limits}
    )


def _row(editor: YamlEditor, index: int) -> TableRow:
    row: Path = ("joints", index)
    name, kind = editor.scalar(*row, "name"), editor.scalar(*row, "type")
    entries: dict[str, Path] = {key: (*row, key) for key in NUMBERS}
    if editor.scalar("convention") == SCREWS:
        entries = {f"{k} {x}": (*row, k, i) for k in ("axis", "at") for i, x in enumerate("xyz")}
    for axis in COMPOUND.get(kind, ()):
        for end in ("lower", "upper"):
            entries[f"{axis} {end}"] = (*row, "limits", axis, end)
    if kind not in COMPOUND and editor.find(*row, "limits") is not None:
        entries |= {end: (*row, "limits", end) for end in ("lower", "upper")}
    return TableRow(name, kind, entries)


def _value_path(editor: YamlEditor, path: Path) -> Path:
    """Return the path of a number, which may have its source beside it."""
    return (*path, "value") if "value" in editor.keys(*path) else path


def _names(editor: YamlEditor, index: int) -> tuple[str, ...]:
    """Return the names of the joints of a row; none of a dependent one."""
    name, kind = (editor.scalar("joints", index, key) for key in ("name", "type"))
    return tuple(f"{name}_{axis}" for axis in COMPOUND[kind]) if kind in COMPOUND else (name,)


def _rename(
    editor: YamlEditor, before: Sequence[str], after: Sequence[str], in_postures: Sequence[str]
) -> None:
    """Rename joints, in postures perhaps other ones, and their links."""
    _rename_in_postures(editor, in_postures, after)
    _rename_links(editor, before, after)
    _rename_references(editor, before, after)


def _rename_in_postures(editor: YamlEditor, before: Sequence[str], after: Sequence[str]) -> None:
    """Replace names in all postures; names without a predecessor get the value 0."""
    if tuple(before) == tuple(after):
        return
    for posture in editor.keys("postures"):
        path = ("postures", posture)
        if before and not any(name in editor.keys(*path) for name in before):
            continue  # a dependent joint
        values = [editor.scalar(*path, name) for name in before]
        for name in (name for name in before if name not in after):
            if name in editor.keys(*path):
                editor.remove((*path, name))
        for index, name in enumerate(after):
            editor.set((*path, name), values[index] if index < len(values) else "0")


def _rename_links(editor: YamlEditor, before: Sequence[str], after: Sequence[str]) -> None:
    """Rename the links of joints, last to last as the last one carries the row's body."""
    renamed = dict(zip(reversed(before), reversed(after), strict=False))
    for section in LINK_SECTIONS:
        for name in before:
            if f"{name}_link" not in editor.keys(section):
                continue
            if name not in renamed:
                editor.remove((section, f"{name}_link"))
            elif renamed[name] != name:
                editor.rename((section, f"{name}_link"), f"{renamed[name]}_link")


def _rename_references(editor: YamlEditor, before: Sequence[str], after: Sequence[str]) -> None:
    """Rename joints in transmissions and bars, and in expressions of other joints."""
    _remove_transmissions(editor, before[len(after) :])
    new = {b: a for b, a in zip(before, after, strict=False) if b != a}
    for section in ("transmissions", "bars"):
        for path, text in editor.scalars(section):
            if text in new and JOINT_KEYS.intersection(path):
                editor.set(path, flow_word(new[text]))
    in_sums = {b: a for b, a in new.items() if b not in editor.keys("constants")}
    for path, text in editor.scalars("joints") if in_sums else ():
        if not TEXT_KEYS.intersection(path):
            sums = _WORD.sub(lambda word: in_sums.get(word[0], word[0]), text)
            if sums != text:
                editor.set(path, sums if _PLAIN.fullmatch(sums) else flow_word(sums))


def _remove_transmissions(editor: YamlEditor, names: Sequence[str]) -> None:
    section: Path = ("transmissions",)
    moving = [editor.scalar(*section, i, "joint") for i in range(editor.count(*section))]
    if moving and all(joint in names for joint in moving):
        editor.remove(section)
        return
    for index in reversed(range(len(moving))):
        if moving[index] in names:
            editor.remove_item(section, index)
