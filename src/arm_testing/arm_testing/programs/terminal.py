# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Simulated typing: at a program in a pseudo-terminal, or at the screen of a wizard."""

from __future__ import annotations

import errno
import os
import pty
import re
import select
import signal
import termios
import time
from collections.abc import Callable

from arm_testing.waiting import BOUND


class PtyProgram:
    """A program as the foreground process of a pseudo-terminal; a context manager closes it.

    Attributes:
        said: Its whole output, without control sequences.
        code: Its exit code, once it has ended.
    """

    def __init__(self, *command: str, folder=None, environment=None) -> None:
        self.said, self.code, self._seen = "", None, 0
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            try:
                if folder:
                    os.chdir(folder)
                os.execvpe(command[0], command, environment or os.environ)
            finally:
                os._exit(127)
        self.before = termios.tcgetattr(self._terminal)

    def __enter__(self) -> PtyProgram:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait_for(self, text: str) -> None:
        """Wait until the program prints a text after the last one waited for."""
        deadline = time.monotonic() + BOUND
        while (at := self.said.find(text, self._seen)) < 0:
            assert time.monotonic() < deadline and self.read(), f"no {text!r} in:\n{self.said}"
        self._seen = at + len(text)

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def ask(self, keys: str, answer: str) -> None:
        """Type keys, then wait for an answer."""
        self.type(keys)
        self.wait_for(answer)

    def end(self) -> int:
        """Wait until the program has ended; return its exit code."""
        deadline = time.monotonic() + BOUND
        while self.read():
            assert time.monotonic() < deadline, self.said
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self.code

    def kill(self) -> None:
        """Kill the program."""
        os.kill(self._pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the program if it is running, and close the terminal."""
        if self.code is None:
            self.kill()
            os.waitpid(self._pid, 0)
        os.close(self._terminal)

    def attributes(self):
        """Return the terminal's attributes."""
        return termios.tcgetattr(self._terminal)

    def read(self) -> bool:
        """Read output for a while; return whether more may follow."""
        if not select.select([self._terminal], [], [], 0.2)[0]:
            return True
        try:
            data = os.read(self._terminal, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # on Linux, the last process has ended
                raise
            return False
        text = data.decode("utf-8", "replace").replace("\r\n", "\n")
        self.said += re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).replace("\r", "\n")
        return bool(data)


class TypedKeys:
    """A screen at which keys are typed, then Ctrl-C.

    A longer text is a line; a function is called in place of a key, and may return one.
    """

    def __init__(self, *keys: str | Callable[[], str | None]) -> None:
        self.keys, self.shown = list(keys), ""
        self.said: list[str] = []
        self.print = self.said.append

    def key(self) -> str:
        if not self.keys:
            raise KeyboardInterrupt
        key = self.keys.pop(0)
        return (key() or "") if callable(key) else key

    line = key

    def show(self, text: str) -> None:
        self.shown = text

    def text(self) -> str:
        """Return all that was printed."""
        return "\n".join(self.said)
