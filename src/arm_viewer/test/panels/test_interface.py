# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Panels: a fault of one ends nothing else; and the commands that can be typed."""

from __future__ import annotations

import pytest
from arm_testing.pages.page import FakePage
from arm_viewer.errors import ViewerError
from arm_viewer.panels.interface import (
    CommandTable,
    PageCommand,
    PanelEntry,
    PanelHost,
    PanelState,
)
from arm_viewer.port import Where

STATE = PanelState(None, {})


class Recorded:
    def __init__(self, title):
        self.title, self.calls = title, []

    def build(self, gui):
        self.calls.append("build")
        gui.elements.add_html(f"content of {self.title}")

    def update(self, state):
        self.calls.append(state)

    def close(self):
        self.calls.append("close")


class Failing(Recorded):
    """A panel that fails in one of its methods."""

    def __init__(self, title, method):
        super().__init__(title)
        setattr(self, method, self.fail)

    def fail(self, *arguments):
        raise ValueError(f"{self.title} failed")


def entry(panel, order=1.0, where=Where.ALONE, **more):
    return PanelEntry(lambda context: panel, order, where, **more)


def folders(page):
    return page.gui.labels("folder")


def test_panel_that_fails_is_left_out_and_nothing_else():
    page, failed = FakePage(), []

    def make_nothing(context):
        raise OSError("no such folder")

    page.gui.failed = lambda title, error: failed.append((title, str(error)))
    good, late = Recorded("Good"), Failing("Late", "update")
    host = PanelHost(page.gui, page.context)
    entries = [PanelEntry(make_nothing, 0.0, Where.ALONE)]
    host.add([*entries, *map(entry, (Failing("Early", "build"), late, good))])
    assert folders(page) == ["Late", "Good"]
    for _ in range(2):
        host.update(STATE)
    assert folders(page) == ["Good"]
    host.close()
    assert good.calls == ["build", STATE, STATE, "close"]
    assert failed == [
        ("of a file", "no such folder"),
        ("Early", "Early failed"),
        ("Late", "Late failed"),
    ]
    assert not folders(page)


def test_panels_are_built_in_their_order_where_they_are_shown_and_closed():
    page = FakePage(where=Where.RUNNING)
    alone, both, first = Recorded("Alone"), Recorded("Both"), Recorded("First")
    host = PanelHost(page.gui, page.context)
    host.add(
        [
            entry(alone),
            entry(both, 2.0, Where.MOVING, folded=False),
            entry(first, 1.5, Where.EVERYWHERE),
        ]
    )
    host.update(STATE)
    assert folders(page) == ["First", "Both"]
    assert page.gui.find("Both").expand_by_default
    assert not page.gui.find("First").expand_by_default
    host.close()
    assert (alone.calls, both.calls) == ([], ["build", STATE, "close"])
    assert not folders(page)


def test_panels_of_one_title_share_a_folder_that_stays_with_the_last_of_them():
    page = FakePage()
    page.gui.failed = lambda title, error: None
    first, second = Recorded("Pose"), Failing("Pose", "update")
    host = PanelHost(page.gui, page.context)
    host.add([entry(second, 1.1), entry(first, 1.0)])
    contents = [element for element in page.gui.viser.added if element.kind == "html"]
    assert folders(page) == ["Pose"]
    host.update(STATE)
    assert folders(page) == ["Pose"]
    assert [element.removed for element in contents] == [False, True]
    host.close()
    assert not folders(page)


def fail(words):
    raise ValueError("give on or off")


@pytest.fixture
def table():
    table = CommandTable()
    echo = PageCommand("echo", "WORD ...", "repeat", " ".join, lambda: ("two", "three", "one"))
    table.add(echo)
    table.add(PageCommand("trace", "on|off", "switch", fail, lambda: ("on", "off"), listed=True))
    table.add(PageCommand("end", "", "end", lambda words: "ended"))
    return table


def test_a_line_is_answered_by_its_command(table):
    assert table.run("  echo  a b ") == "a b"
    assert table.run("end") == "ended"
    assert table.run("   ") == ""
    assert table.lines() == {"end": "end", "trace on": "switch", "trace off": "switch"}


@pytest.mark.parametrize(
    ("line", "problem"),
    [("ecko a", "no command 'ecko': did you mean 'echo'"), ("trace x", "trace: give on or off")],
)
def test_a_wrong_line_is_answered_by_one_sentence(table, line, problem):
    with pytest.raises(ViewerError, match=problem):
        table.run(line)


def test_every_completion_continues_the_line(table):
    assert table.complete("e") == ("echo ", "end")
    assert table.complete("echo t") == ("echo three", "echo two")
    assert table.complete("echo one t") == ("echo one three", "echo one two")
    assert table.complete("nothing t") == ()
    for start in ("", "e", "ec", "echo ", "echo t", "tr", "trace o", "x y"):
        assert all(line.startswith(start) for line in table.complete(start))
    table.remove("echo")
    assert table.complete("e") == ("end",)


def test_only_a_line_that_just_pauses_is_never_too_late(table):
    table.add(PageCommand("clock", "start|pause", "", str, pause="pause"))
    lines = (
        "clock pause",
        " clock  pause ",
        "clock start",
        "clock pause now",
        "clock",
        "echo",
        "",
    )
    assert [line for line in lines if table.only_pauses(line)] == list(lines[:2])
