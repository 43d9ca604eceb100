# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_editor.py
"""Edit what a robot file has in more than one place: names of joints, links and constants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from arm_common.yaml.editing import EntryPath, YamlEditor, flow_mapping, flow_word

from arm_description.robot_file.robot_keys import COMPOUND

LINK_SECTIONS = ("masses", "meshes", "looks")  # their keys are names of links
JOINT_KEYS = frozenset(("joint", "joints", "against", "beside", "levers"))  # hold names of joints
TEXT_KEYS = frozenset(("name", "type", "source"))  # of a row, which hold no expression
NO_EXPRESSIONS = {*JOINT_KEYS, *TEXT_KEYS, "description", "servo"}
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
_PLAIN = re.compile(r"(-?[\w.(]|\+[\w.(])[\w.+\-*/() ]*")  # needs no quotes in YAML


def expression_word(text: str) -> str:
    """Return an expression as a scalar, quoted where YAML needs it."""
    return text if _PLAIN.fullmatch(text) else flow_word(text)


def uses_of(editor: YamlEditor, constant: str) -> Iterator[tuple[EntryPath, str]]:
    """Yield path and text of each expression that has the name of a constant."""
    for path, text in editor.scalars():
        is_text = NO_EXPRESSIONS.intersection(path[-2:]) or path[0] in ("units", "convention")
        if not is_text and any(word[0] == constant for word in _WORD.finditer(text)):
            yield path, text


def rename_constant(editor: YamlEditor, before: str, after: str) -> None:
    """Rename a constant, also in all expressions."""
    for path, text in list(uses_of(editor, before)):
        renamed = _WORD.sub(lambda word: after if word[0] == before else word[0], text)
        editor.set(path, expression_word(renamed))
    editor.rename(("constants", before), after)


def rename_row(editor: YamlEditor, index: int, name: str) -> None:
    """Rename a joint wherever the file names it or its link."""
    before = names_of_row(editor, index)
    editor.set(("joints", index, "name"), flow_word(name))
    rename_joints(editor, before, names_of_row(editor, index), before)


def place_of(editor: YamlEditor, path: EntryPath) -> str:
    """Return where an entry is, for people."""
    if path[0] == "joints":
        path = (editor.scalar(*path[:2], "name"), *path[2:])
    return " ".join(str(step) for step in path if step != "value")


def add_origin(editor: YamlEditor, path: EntryPath) -> None:
    """Add three zeros to `base` or `tool`, unless they are there."""
    name = editor.scalar(str(path[0]))
    if name:  # a tool without a transform
        editor.set(path[:1], flow_mapping({"name": flow_word(name)}))
    if editor.find(*path) is None:
        editor.set(path, "[0, 0, 0]")


def names_of_row(editor: YamlEditor, index: int) -> tuple[str, ...]:
    """Return the names of the joints of a row; none of a dependent one."""
    name, kind = (editor.scalar("joints", index, key) for key in ("name", "type"))
    return tuple(f"{name}_{axis}" for axis in COMPOUND[kind]) if kind in COMPOUND else (name,)


def rename_joints(
    editor: YamlEditor, before: Sequence[str], after: Sequence[str], in_postures: Sequence[str]
) -> None:
    """Rename joints, in postures perhaps other ones, and their links."""
    rename_in_postures(editor, in_postures, after)
    rename_links(editor, before, after)
    _rename_references(editor, before, after)


def rename_in_postures(editor: YamlEditor, before: Sequence[str], after: Sequence[str]) -> None:
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


def rename_links(editor: YamlEditor, before: Sequence[str], after: Sequence[str]) -> None:
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
    remove_transmissions(editor, before[len(after) :])
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
                editor.set(path, expression_word(sums))


def remove_transmissions(editor: YamlEditor, names: Sequence[str]) -> None:
    """Remove the transmissions of joints."""
    section: EntryPath = ("transmissions",)
    moving = [editor.scalar(*section, i, "joint") for i in range(editor.count(*section))]
    if moving and all(joint in names for joint in moving):
        editor.remove(section)
        return
    for index in reversed(range(len(moving))):
        if moving[index] in names:
            editor.remove_item(section, index)
