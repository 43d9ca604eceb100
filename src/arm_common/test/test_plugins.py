# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plugins: shipped ones by reference, others by the entry points of installed packages."""

import sys
from types import FunctionType

import pytest
from arm_common.errors import InputError
from arm_common.plugins import PluginGroup

GROUP = "arm_common.test_plugins"


def installed(folder, monkeypatch, *lines):
    """Put a package with entry points, and a module, on sys.path."""
    (folder / "stranger.py").write_text("def hello():\n    return 'hello'\n")
    (folder / "broken_stranger.py").write_text("1 / 0\n")
    info = folder / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "stranger", raising=False)


def test_shipped_plugins_need_no_entry_point():
    group = PluginGroup(GROUP, "plugin", {"prefix": "sysconfig:get_path"})
    assert callable(group.load("prefix"))
    assert group.names == ("prefix",)


def test_a_package_adds_plugins(tmp_path, monkeypatch):
    installed(tmp_path, monkeypatch, "hello = stranger:hello", "path = stranger:hello")
    group = PluginGroup(GROUP, "plugin", {"path": "sysconfig:get_path"})
    assert group.names == ("path", "hello")
    assert group.load("hello")() == "hello"
    import sysconfig

    assert group.load("path") is sysconfig.get_path  # a shipped one cannot be replaced


def test_an_object_may_be_dotted(tmp_path, monkeypatch):
    installed(tmp_path, monkeypatch, "name = stranger:hello.__name__")
    assert PluginGroup(GROUP, "plugin").load("name") == "hello"


def test_all_that_work_are_loaded_and_the_others_told(tmp_path, monkeypatch):
    lines = [
        "hello = stranger:hello",
        "broken = broken_stranger:hello",
        "name = stranger:__name__",
    ]
    installed(tmp_path, monkeypatch, *lines)
    told = []
    found = PluginGroup(GROUP, "plugin").load_all(FunctionType, told.append)
    assert [*found] == ["hello"]
    assert [text.partition(" (")[0] for text in told] == [
        "Left out: the plugin 'broken'",
        "Left out: the plugin 'name' is no function",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("helo", "there is no plugin 'helo'; did you mean 'hello'?"),
        ("missing", "the plugin 'missing' (nowhere:hello) cannot be imported (No module named"),
        ("absent", "the plugin 'absent' (stranger:bye) cannot be imported"),
        ("broken", "the plugin 'broken' (broken_stranger:hello) cannot be imported (division by"),
    ],
)
def test_each_mistake_is_one_sentence(name, text, tmp_path, monkeypatch):
    lines = ["hello = stranger:hello", "missing = nowhere:hello", "absent = stranger:bye"]
    installed(tmp_path, monkeypatch, *lines, "broken = broken_stranger:hello")
    with pytest.raises(InputError) as caught:
        PluginGroup(GROUP, "plugin").load(name)
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)
