# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A session's terminal: keys, lines, and one line that is shown anew."""

from __future__ import annotations

from typing import TextIO

from arm_description.keyboard import Keyboard

CLEAR = "\r\x1b[K"


class Screen:
    """See ``session.Terminal``."""

    def __init__(self, keyboard: Keyboard, out: TextIO) -> None:
        """Use a keyboard that is open, and a stream of the same terminal."""
        self._keyboard = keyboard
        self._out = out

    def key(self) -> str:
        """Return the next key."""
        return self._keyboard.key()

    def line(self) -> str:
        """Return a line of text."""
        return self._keyboard.line()

    def say(self, text: str) -> None:
        """Show text on lines of its own."""
        self._put(f"{CLEAR}{text}\n")

    def show(self, text: str) -> None:
        """Show one line in place of the one shown before."""
        self._put(f"{CLEAR}{text}")

    def _put(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
