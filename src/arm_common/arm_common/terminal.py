# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Keys and lines from a terminal, and a status line; the terminal's mode is restored at exit."""

from __future__ import annotations

import os
import select
import shutil
import sys
import termios
import tty
from typing import Self

from arm_common.errors import InputError

ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
ESCAPE = "\x1b"
ESCAPE_WITHIN = 0.05  # [s] the rest of an arrow key's bytes follow at once


class Keyboard:
    """Reads the terminal behind a file descriptor key by key, from ``with`` to its end.

    Ctrl-C goes on raising KeyboardInterrupt.
    """

    def __init__(self, file: int | None = None) -> None:
        """Choose the terminal of a descriptor, by default standard input; nothing changes yet.

        Raises:
            InputError: it is no terminal.
        """
        self._file = sys.stdin.fileno() if file is None else file
        self._unread = ""
        if not os.isatty(self._file):
            raise InputError(
                "keys are read from a terminal, and this is none",
                remedy="start it in a terminal, without a pipe (docker run -it)",
            )
        self._before = termios.tcgetattr(self._file)

    def __enter__(self) -> Self:
        tty.setcbreak(self._file)
        return self

    def __exit__(self, *error: object) -> None:
        termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    def key(self, timeout: float | None = None) -> str:
        """Return the next key: a character, or "up", "down", "left", "right"; "" after a timeout.

        The timeout is in seconds, None for ever; EOFError: the terminal has gone.
        """
        if not self._unread and not self._read(timeout):
            return ""
        first, self._unread = self._unread[0], self._unread[1:]
        if first != ESCAPE:
            return "\n" if first == "\r" else first
        if not self._unread:
            self._read(ESCAPE_WITHIN)
        if self._unread[:1] in ("[", "O") and self._unread[1:2] in ARROWS:
            name, self._unread = ARROWS[self._unread[1]], self._unread[2:]
            return name
        return ESCAPE

    def line(self) -> str:
        """Return a line as it is typed, with echo and editing; without its end."""
        termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)
        try:
            while "\n" not in self._unread:
                self._read(None)
        finally:
            tty.setcbreak(self._file, termios.TCSADRAIN)
        line, _, self._unread = self._unread.partition("\n")
        return line

    def forget(self) -> None:
        """Forget keys that were typed but not read: a person could not know what they would do."""
        self._unread = ""
        termios.tcflush(self._file, termios.TCIFLUSH)

    def _read(self, timeout: float | None) -> bool:
        if not select.select([self._file], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self._file, 1024)
        except OSError:
            data = b""
        if not data:
            raise EOFError("the terminal has gone")
        self._unread += data.decode("utf-8", "replace")
        return True


WIDTH = 100  # of a terminal that does not say; what is longer could not be cleared again
CLEAR = "\r\x1b[K"


class Screen(Keyboard):
    """Reads keys of standard input, and writes lines of which the last may be shown anew."""

    def say(self, text: str) -> None:
        """Show text on lines of its own."""
        _put(f"{CLEAR}{text}\n")

    def show(self, text: str) -> None:
        """Show one line in place of the one shown before."""
        columns = shutil.get_terminal_size((WIDTH, 24)).columns
        _put(f"{CLEAR}{text[: columns - 1]}")


def _put(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
