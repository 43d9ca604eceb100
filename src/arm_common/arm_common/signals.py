# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The end of a process, heard at once.

Start a program so that a signal while it is still being imported ends it silently.

Importing takes a second. Python would answer a SIGINT in it with a traceback from wherever it was.

Ctrl-C between two rounds of the executor, never in the middle of one.

Raised inside rclpy's C++ code, KeyboardInterrupt comes out as a RuntimeError about a conversion.
"""

from __future__ import annotations

import importlib
import math
import os
import select
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def start(module: str, function: str = "main", interrupted: int = 0) -> int:
    """Import a module and call a function of it.

    Args:
        module: its full name.
        function: takes no arguments and returns an exit code.
        interrupted: exit code after a signal during the import; 0 for nodes, which are ended so.

    Returns:
        The exit code.
    """

    def leave(number: int, frame: FrameType | None) -> None:
        """End at once: nothing was begun that would have to be put in order."""
        del number, frame
        os._exit(interrupted)

    before = {n: signal.signal(n, leave) for n in (signal.SIGINT, signal.SIGTERM)}
    run = getattr(importlib.import_module(module), function)
    for number, handler in before.items():
        signal.signal(number, handler)
    return int(run())


GLANCE = 0.5  # [s] by which here() sees what signals() took from the pipe


class ProcessEnd:
    """SIGINT, SIGTERM, SIGHUP, or a thread that asks for the end.

    A pipe, written by the interpreter's signal handler in whatever thread the kernel chose for
    the signal: an Event would not be set before the main thread happened to run Python again.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._signals = 0
        self._come = False
        self._lock = threading.Lock()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
                signal.signal(number, lambda *_: None)

    def come(self) -> None:
        """End the process."""
        os.write(self._write, b"\0")

    def here(self, timeout: float = math.inf) -> bool:
        """Wait for the end, for at most so many seconds; return whether it has come."""
        deadline = time.monotonic() + timeout
        while not self._come:
            left = deadline - time.monotonic()
            if select.select([self._read], [], [], max(0.0, min(left, GLANCE)))[0]:
                return True
            if left <= 0.0:
                break
        return self._come

    def signals(self) -> int:
        """Return how many signals have come so far; from any thread."""
        with self._lock:
            while select.select([self._read], [], [], 0.0)[0]:
                self._come = True
                self._signals += sum(byte != 0 for byte in os.read(self._read, 64))
            return self._signals


def interrupt_on_signals() -> None:
    """Let SIGTERM and SIGHUP end a tool in order, as Ctrl-C does: by KeyboardInterrupt."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


@contextmanager
def deferred() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back; what came meanwhile is a KeyboardInterrupt at the end."""
    heard: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda n, _: heard.append(n)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    if heard:
        raise KeyboardInterrupt


def raise_interrupt(number: int, frame: FrameType | None) -> None:
    """Let SIGTERM and SIGHUP end the run as Ctrl-C does."""
    del number, frame
    raise KeyboardInterrupt
