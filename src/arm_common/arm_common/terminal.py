# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Keyboard input and a status line in a terminal, and output that never blocks."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from arm_common.errors import InputError

ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
ESCAPE = "\x1b"
# What follows it: a control sequence with its parameters, or one character (ECMA-48, 5.4; xterm).
_SEQUENCE = re.compile(r"\[[0-?]*[ -/]*[@-~]|O.|[^\[O]", re.DOTALL)
ESCAPE_TIMEOUT = 0.05  # [s] for the remaining bytes of an arrow key
_FLUSH_TIMEOUT = 1.0  # [s] to write the rest of the output at the end
_Self = TypeVar("_Self", bound="Keyboard")  # typing.Self is of Python 3.11


class Keyboard:
    """Context manager that reads single keys from a terminal; Ctrl-C raises KeyboardInterrupt.

    Raises:
        InputError: standard input is not a terminal.
    """

    def __init__(self) -> None:
        self._file = sys.stdin.fileno()
        self._unread = ""
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


def _put(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


@contextmanager
def non_blocking_output() -> Iterator[None]:
    """Drop output that nobody reads, as after Ctrl-S in a terminal, instead of waiting.

    The ROS log writes to standard error in C code, which holds the interpreter's lock: a write
    that blocks would stop all threads. So each output becomes a pipe that does not block. A `cat`
    copies it to where the output went before, also after this process has crashed.
    """
    if sys.stderr.isatty():  # of which the ROS log would no longer know
        os.environ.setdefault("RCUTILS_COLORIZED_OUTPUT", "1")
    copies = [_copy_output(stream.fileno()) for stream in (sys.stdout, sys.stderr)]
    try:
        yield
    finally:
        for stream, (original, process) in zip((sys.stdout, sys.stderr), copies, strict=True):
            with suppress(BlockingIOError):
                stream.flush()
            os.dup2(original, stream.fileno())  # closes the pipe, which ends `cat`
            os.close(original)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_FLUSH_TIMEOUT)


def _copy_output(descriptor: int) -> tuple[int, subprocess.Popen[bytes]]:
    """Replace an output by a pipe; return a descriptor of the original and the copying process."""
    original = os.dup(descriptor)
    read, write = os.pipe()
    os.set_blocking(write, False)
    process = subprocess.Popen(["cat"], stdin=read, stdout=original, preexec_fn=_ignore_signals)
    os.dup2(write, descriptor)
    os.close(read)
    os.close(write)
    return original, process


def _ignore_signals() -> None:
    """Make a new process end with its input and not by a signal to the whole process group."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)
