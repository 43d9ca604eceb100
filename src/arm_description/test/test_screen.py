# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The line that is shown anew fits into the terminal, with its beginning and its end."""

import io

import pytest
from arm_description.screen import CLEAR, Screen


@pytest.mark.parametrize("length", [10, 39, 40, 200])
def test_what_is_too_long_loses_its_middle(monkeypatch, length):
    monkeypatch.setenv("COLUMNS", "40")
    text = "".join(chr(ord("a") + i % 26) for i in range(length))
    out = io.StringIO()
    Screen(None, out).show(text)
    shown = out.getvalue().removeprefix(CLEAR)
    assert len(shown) == min(length, 39)
    assert text.startswith(shown[:10]) and text.endswith(shown[-10:])
    assert (shown == text) == (length < 40) == (" ... " not in shown)
