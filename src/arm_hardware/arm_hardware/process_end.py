# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The end of a process, heard at once."""

from __future__ import annotations

import os
import select
import signal


class ProcessEnd:
    """SIGINT, SIGTERM, or a thread that asks for the end.

    A pipe, written by the interpreter's signal handler in whatever thread the kernel chose for
    the signal: an Event would not be set before the main thread happened to run Python again.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)

    def come(self) -> None:
        """End the process."""
        os.write(self._write, b"\0")

    def here(self, timeout: float | None = None) -> bool:
        """Wait for the end, for at most so many seconds; return whether it has come."""
        return bool(select.select([self._read], [], [], timeout)[0])


def interrupt_on_signals() -> None:
    """Let SIGTERM and SIGHUP end a tool in order, as Ctrl-C does: by KeyboardInterrupt."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
