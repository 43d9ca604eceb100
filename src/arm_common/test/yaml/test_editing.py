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


LISTS = {
    "flow": "a: 1\nrows: [{x: 1}, {x: 2}, {x: 3}]  # all\nlast: 3\n",
    "rows": "rows:  # all\n  - {x: 1}  # one\n  - {x: 2}  # two\n  - {x: 3}  # three\n\nlast: 3\n",
    "block": "rows:\n- x: 1  # one\n  y: [1,\n    2]\n- x: 2\n  # of two\n  y: 0\n- x: 3\n  y: 4",
    "windows": "rows:\r\n  - x: 1\r\n  - x: 2  # two\r\n  - x: 3\r\n# end\r\nlast: 3\r\n",
}


@pytest.mark.parametrize("form", LISTS)
@pytest.mark.parametrize("index", range(4))
def test_items_are_inserted_removed_and_swapped(form, index):
    text = LISTS[form]
    before = yaml.safe_load(text)

    def rows_after(verb, *arguments):
        changed = edit(text, verb, ["rows"], *arguments)
        assert yaml.safe_load(changed) | {"rows": 0} == before | {"rows": 0}
        assert changed.count("\n") == changed.count("\r\n") or "\r" not in changed
        return changed, yaml.safe_load(changed)["rows"]

    old = before["rows"]
    changed, rows = rows_after("insert_item", index, "{x: 9}")
    assert rows == [*old[:index], {"x": 9}, *old[index:]]
    assert comments(changed) == comments(text)
    if index < 3:
        _, rows = rows_after("remove_item", index)
        assert rows == [*old[:index], *old[index + 1 :]]
    if index < 2:
        changed, rows = rows_after("swap_items", index)
        assert rows == [*old[:index], old[index + 1], old[index], *old[index + 2 :]]
        assert sorted(comments(changed)) == sorted(comments(text))


def test_values_in_lists_are_found_and_set():
    editor = YamlEditor(LISTS["block"].encode())
    assert editor.count("rows") == 3
    assert editor.count("none") == 0
    assert editor.scalar("rows", 1, "x") == "2"
    assert editor.scalar("rows", 7, "x") == editor.scalar("rows") == ""
    editor.set(["rows", 1, "x"], "l1 + 2")
    editor.set(["rows", 1, "new"], "5")
    rows = yaml.safe_load(editor.data)["rows"]
    assert rows[1] == {"x": "l1 + 2", "y": 0, "new": 5}
