# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A terminal as a tool uses it: keys, lines, and one line that is shown anew."""

from __future__ import annotations

import shutil
from typing import TextIO

from .keyboard import Keyboard

WIDTH = 100  # of a terminal that does not say; what is longer could not be cleared again
CLEAR = "\r\x1b[K"


class Screen:
    """Reads keys, and writes lines of which the last may be shown anew."""

    def __init__(self, keyboard: Keyboard, out: TextIO) -> None:
        """Use a keyboard that is open, and a stream of the same terminal."""
        self._keyboard = keyboard
        self._out = out

    def key(self, timeout: float | None = None) -> str:
        """Return the next key; see Keyboard.key()."""
        return self._keyboard.key(timeout)

    def line(self) -> str:
        """Return a line of text."""
        return self._keyboard.line()

    def say(self, text: str) -> None:
        """Show text on lines of its own."""
        self._put(f"{CLEAR}{text}\n")

    def show(self, text: str) -> None:
        """Show one line in place of the one shown before."""
        columns = shutil.get_terminal_size((WIDTH, 24)).columns
        self._put(f"{CLEAR}{text[: columns - 1]}")

    def _put(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
