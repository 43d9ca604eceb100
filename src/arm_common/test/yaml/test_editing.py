# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Editing YAML text: requested values change, and nothing else."""

import pytest
import yaml
from arm_common.errors import InputError
from arm_common.yaml.editing import YamlEditor, with_values

FORMS = {
    "flow": "a: 1  # one\nin: {x: 1, y: [1, 2]}  # two\n# three\nlast: 3\n",
    "block": "a: 1  # one\nin:\n  x: 1\n  y:  # two\n    - 1\n    - 2\n# three\nlast: 3\n",
    "windows": "a: 1\r\nin:\r\n  x: 1  # two\r\n\r\n  # three\r\nlast: 3\r\n",
    "no end": "last: 3\nin:\n  x: 1",
    "empty": "in: {}\nlast: 3\n",
    "no value": "in:\n  x:\n  y:  # two\nlast: 3\n",
    "marked": "\ufeffin: {x: 1}\nlast: 3\n",
}


def comments(text):
    return [line[line.index("#") :].strip() for line in text.splitlines() if "#" in line]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", ["x", "y", "new"])
@pytest.mark.parametrize("value", ["7", "[[-90, 500], [90, 2500]]", "{b: 2}", "2026-05-17"])
def test_setting_a_value_changes_nothing_else(form, key, value):
    text = FORMS[form]
    changed = with_values(text.encode(), ["in"], {key: value}).decode()
    before, after = yaml.safe_load(text), yaml.safe_load(changed)
    assert after["in"][key] == yaml.safe_load(value)
    before["in"][key] = after["in"][key]
    assert after == before
    assert comments(changed) == comments(text)
    assert changed.count("\r\n") >= text.count("\r\n")
    assert changed.startswith("\ufeff") == text.startswith("\ufeff")


def test_several_values_and_root_keys_are_set():
    text = with_values(b"a: {x: 1}\nb: 2\n", [], {"b": "3", "c": "[4]"})
    assert text == b"a: {x: 1}\nb: 3\nc: [4]\n"
    assert with_values(text, ["a"], {"x": "5", "y": "6"}).startswith(b"a: {x: 5, y: 6}\n")


def edit(text, verb, *arguments):
    editor = YamlEditor(text.encode())
    getattr(editor, verb)(*arguments)
    return editor.data.decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in: {}  # c\nlast: 3\n", "in:  # c\n  new: 1\nlast: 3\n"),
        ("{in: {}}\n", "{in: {new: 1}}\n"),
        ("last: 3", "last: 3\n\nin:\n  new: 1\n"),
        ("last: 3\r\n...\r\n", "last: 3\r\n\r\nin:\r\n  new: 1\r\n"),
        ("in:\n  a: 1  # c\n\nlast: 3\n", "in:\n  a: 1  # c\n  new: 1\n\nlast: 3\n"),
    ],
)
def test_added_entry_follows_the_style_of_the_file(text, expected):
    assert edit(text, "add", ("in", "new"), "1") == expected


def test_adding_a_section_to_a_file_in_braces_is_rejected():
    with pytest.raises(InputError, match=r"in braces"):
        edit("{last: 3}", "add", ("in", "new"), "1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in:\n  a: 1  # one\n  b: [\n    2]\n", "in:\n  b: [\n    2]\n"),
        ("in:  # c\n  a: 1\nlast: 3\n", "in: {}  # c\nlast: 3\n"),
        ("in: {a: 1, b: 2}  # c\n", "in: {b: 2}  # c\n"),
        ("in: {b: 2, a: 1}  # c\n", "in: {b: 2}  # c\n"),
        ("in: {a: 1}  # c\n", "in: {}  # c\n"),
    ],
)
def test_removing_an_entry_removes_its_comment(text, expected):
    assert edit(text, "remove", ("in", "a")) == expected
