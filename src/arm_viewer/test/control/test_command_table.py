# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import pytest
from arm_viewer.control.command_table import CommandTable, PageCommand
from arm_viewer.errors import ViewerError


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
