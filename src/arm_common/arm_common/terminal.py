# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Keyboard input and a status line in a terminal."""

from __future__ import annotations

import os
import re
import select
import shutil
import sys
from typing import TypeVar

from arm_common.errors import InputError

try:
    import termios
    import tty
except ImportError:  # Windows has none
    termios = None  # type: ignore[assignment]

ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
ESCAPE = "\x1b"
# What follows it: a control sequence with its parameters, or one character (ECMA-48, 5.4; xterm).
_SEQUENCE = re.compile(r"\[[0-?]*[ -/]*[@-~]|O.|[^\[O]", re.DOTALL)
ESCAPE_TIMEOUT = 0.05  # [s] for the remaining bytes of an arrow key
_Self = TypeVar("_Self", bound="Keyboard")  # typing.Self is of Python 3.11


class Keyboard:
    """Context manager that reads single keys from a terminal; Ctrl-C raises KeyboardInterrupt.

    Raises:
        InputError: standard input is not a terminal.
    """

    def __init__(self) -> None:
        self._file = sys.stdin.fileno()
        self._unread = ""
        if termios is None:
            raise InputError(
                "keys cannot be read on this system", remedy="use Linux, macOS or WSL for that"
            )
        if not os.isatty(self._file):
            raise InputError(
                "standard input is not a terminal, so no keys can be read",
                remedy="start it in a terminal, without a pipe (docker run -it)",
            )
        self._original_mode = termios.tcgetattr(self._file)

    def __enter__(self: _Self) -> _Self:
        tty.setcbreak(self._file)
        return self

    def __exit__(self, *error: object) -> None:
        termios.tcsetattr(self._file, termios.TCSADRAIN, self._original_mode)

    def key(self, timeout: float | None = None) -> str:
        """Return the next key: a character, "up", "down", "left", "right"; "" after `timeout`.

        What a terminal sends for Alt and a letter, or for a function key, is one key that begins
        with ESCAPE: its letters are no keys of their own.

        Raises:
            EOFError: the terminal was closed.
        """
        if not self._unread and not self._read(timeout):
            return ""
        first, self._unread = self._unread[0], self._unread[1:]
        if first != ESCAPE:
            return "\n" if first == "\r" else first
        while not (sequence := _SEQUENCE.match(self._unread)) and self._read(ESCAPE_TIMEOUT):
            pass
        rest = sequence[0] if sequence else self._unread
        self._unread = self._unread[len(rest) :]
        arrow = rest[:1] in ("[", "O") and ARROWS.get(rest[1:])
        return arrow or ESCAPE + rest

    def line(self) -> str:
        """Read a line with echo and editing; return it without its newline."""
        termios.tcsetattr(self._file, termios.TCSADRAIN, self._original_mode)
        try:
            while "\n" not in self._unread:
                self._read(None)
        finally:
            tty.setcbreak(self._file, termios.TCSADRAIN)
        line, _, self._unread = self._unread.partition("\n")
        return line

    def _read(self, timeout: float | None) -> bool:
        if not select.select([self._file], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self._file, 1024)
        except OSError:
            data = b""
        if not data:
            raise EOFError("the terminal was closed")
        self._unread += data.decode("utf-8", "replace")
        return True


WIDTH = 100  # default number of columns; a wrapped status line could not be cleared
CLEAR = "\r\x1b[K"


class Screen(Keyboard):
    """Reads keys from standard input and prints lines above a status line."""

    def print(self, text: str) -> None:
        """Print text on its own line."""
        _put(f"{CLEAR}{text}\n")

    def show(self, text: str) -> None:
        """Replace the status line."""
        columns = shutil.get_terminal_size((WIDTH, 24)).columns
        _put(f"{CLEAR}{text[: columns - 1]}")


def print_line(text: str) -> None:
    """Print a line at once, also where standard output is a file or a pipe."""
    _put(f"{text}\n")


def _put(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
