# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Signals: what SIGINT, SIGTERM and SIGHUP do to a program, from its first import to its end.

A node ends in order with exit code 0 (`ProcessEnd`), a tool by KeyboardInterrupt with exit code
130; while either is still being imported a signal ends it silently.
"""

from __future__ import annotations

import importlib
import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import TypeAlias

INTERRUPTED = 130  # exit code of a tool
EntryPoint: TypeAlias = Callable[[], int]


def node_entry_point(module: str) -> EntryPoint:
    """Return a function that imports a module and runs its `main`, which calls `run_node`."""
    return partial(_start, module, "main", 0, False)


def tool_entry_point(module: str, function: str = "main") -> EntryPoint:
    """Return a function that imports a module and runs a function of it."""
    return partial(_start, module, function, INTERRUPTED, True)


def _start(module: str, function: str, interrupted: int, restores: bool) -> int:
    """Import and run; a signal during the import, which may take a second, ends the process.

    Python's own handler would write a traceback. A node keeps this one until `run_node` sets its
    own.
    """
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {n: signal.signal(n, lambda *_: os._exit(interrupted)) for n in numbers}
    run = getattr(importlib.import_module(module), function)
    if restores:
        for number, handler in before.items():
            signal.signal(number, handler)
    return int(run())


class ProcessEnd:
    """Waits for a signal, or for a thread that requests the end of the process.

    The interpreter's C handler writes to a pipe, in whatever thread the kernel chose for the
    signal; an Event would not be set before the main thread happened to run Python again.

    Attributes:
        in_order: Whether a signal is waited for; until it is set a signal ends the process at
            once, with exit code 0.
        signals: How many signals have come since then.
    """

    def __init__(self) -> None:
        self.in_order, self.signals = False, 0
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
                signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if not self.in_order:
            os._exit(0)
        self.signals += 1

    def request(self) -> None:
        """End the process; from any thread."""
        os.write(self._write, b"\0")

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most this long [s]; return whether it has come."""
        return bool(select.select([self._read], [], [], timeout)[0])


def interrupt_on_signals() -> None:
    """Let SIGTERM and SIGHUP end a tool as Ctrl-C does: by KeyboardInterrupt."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


@contextmanager
def deferred() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back; one that came meanwhile is a KeyboardInterrupt at the end.

    For calls of rclpy: raised inside its C++ code, KeyboardInterrupt becomes a RuntimeError about
    a conversion.
    """
    received: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda n, _: received.append(n)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    if received:
        raise KeyboardInterrupt
