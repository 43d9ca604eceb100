# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Keys of a terminal: what is sent for Alt and a letter, or a function key, is one key."""

import os

import pytest
from arm_common.terminal import ESCAPE, Keyboard


@pytest.fixture
def typed(monkeypatch):
    """Return a function that types text and returns the keys that are read."""
    terminal, line = os.openpty()
    monkeypatch.setattr("sys.stdin", os.fdopen(line, "r"))

    def keys(text):
        with Keyboard() as keyboard:
            os.write(terminal, text.encode())
            read = []
            while key := keyboard.key(0.5):
                read.append(key)
        return read

    yield keys
    os.close(terminal)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("wq", ["w", "q"]),
        (f"{ESCAPE}w", [f"{ESCAPE}w"]),
        (f"{ESCAPE}wa", [f"{ESCAPE}w", "a"]),
        (f"{ESCAPE}[A{ESCAPE}OD", ["up", "left"]),
        (f"{ESCAPE}[1;3Aw", [f"{ESCAPE}[1;3A", "w"]),
        (f"{ESCAPE}OP", [f"{ESCAPE}OP"]),
        (f"{ESCAPE}[15~s", [f"{ESCAPE}[15~", "s"]),
        (ESCAPE, [ESCAPE]),
        (f"{ESCAPE}[", [f"{ESCAPE}["]),
    ],
)
def test_a_sequence_is_one_key(typed, text, keys):
    assert typed(text) == keys
