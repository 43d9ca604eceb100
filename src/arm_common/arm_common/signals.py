# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What ends a process: SIGINT, SIGTERM, SIGHUP, and the death of the launch that started it.

A node shuts down in order with exit code 0 (`ProcessEnd`), a tool by KeyboardInterrupt with exit
code 130. During the imports a signal ends either of them silently. A reader of the output that
ends (``| head``) does not end a process that moves an arm (`outlive_readers`).
"""

from __future__ import annotations

import atexit
import ctypes
import errno
import gc
import importlib
import io
import os
import select
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, TypeAlias

from arm_common.errors import NotBuiltError

INTERRUPTED = 130  # exit code of a tool
LAUNCH_HOLDS_STDIN = "ARM_LAUNCH_HOLDS_STDIN"  # set by our launch files for their nodes
_PR_SET_PDEATHSIG = 1  # prctl(2)
_STDIN = 0
EntryPoint: TypeAlias = Callable[[], int]


def node_entry_point(module: str) -> EntryPoint:
    """Return an entry point that imports a module and runs its `main`, which calls `run_node`.

    The process ends without tearing down the interpreter: a second of CPU time for a node with
    compiled kernels, after which nothing is left to do.
    """
    return partial(_start_node, module)


def tool_entry_point(module: str, function: str = "main") -> EntryPoint:
    """Return an entry point that imports a module and runs one of its functions."""
    return partial(_start, module, function, INTERRUPTED, True)


def _start_node(module: str) -> int:
    """Run the `main` of a module; then exit at once after all other exit functions."""
    codes: list[int] = []
    atexit.register(_exit, codes)  # the first registered runs last
    codes.append(_start(module, "main", 0, False))
    return codes[0]


def _exit(codes: Sequence[int]) -> None:
    """Exit at once with the code, or let the interpreter end if there is none."""
    if codes:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # nobody reads it, or it is closed
                stream.flush()
        os._exit(codes[0])
    gc.unfreeze()  # so that all is torn down


@contextmanager
def without_collection() -> Iterator[None]:
    """Collect no garbage inside the block; what exists at its end is never collected."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _start(module: str, function: str, interrupted: int, restores: bool) -> int:
    """Import a module and run a function; a signal during the import exits at once.

    Python's own handler would print a traceback. A node keeps this handler until `run_node`
    installs its own.
    """
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {n: signal.signal(n, lambda *_: os._exit(interrupted)) for n in numbers}
    try:
        with without_collection():
            run = getattr(importlib.import_module(module), function)
    except NotBuiltError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if restores:
        for number, handler in before.items():
            signal.signal(number, handler)
    return int(run())


def launch_pipe(environment: Mapping[str, str]) -> list[int]:
    """Return the descriptor of the pipe that the launch of this process holds; empty without one.

    launch makes a pipe the standard input of each process and writes nothing to it; the kernel
    closes it, however launch ends. The parent process is no evidence: it is also 1 in a container.
    """
    if environment.get(LAUNCH_HOLDS_STDIN) != "1":
        return []
    try:
        mode = os.fstat(_STDIN).st_mode
    except OSError:  # closed
        return []
    return [_STDIN] if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else []


class _LastingFile(io.FileIO):
    """A standard stream that drops the output once nobody reads it or the disk is full."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.ENOSPC):
                raise
            os.dup2(nothing := os.open(os.devnull, os.O_WRONLY), self.fileno())
            os.close(nothing)
            if error.errno == errno.ENOSPC:
                sys.stderr.write(f"The output cannot be written: {error.strerror}\n")
            return memoryview(data).nbytes


def outlive_readers() -> None:
    """Let the process run on without output when its output can no longer be written."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not getattr(sys, f"__{name}__") or not isinstance(stream, io.TextIOWrapper):
            continue  # closed, or replaced by a test
        with suppress(OSError):
            stream.flush()
        file: Any = _LastingFile(stream.fileno(), "w", closefd=False)
        lasting = io.TextIOWrapper(
            file if stream.write_through else io.BufferedWriter(file),
            stream.encoding,
            stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        setattr(sys, name, lasting)
        setattr(sys, f"__{name}__", lasting)


class ProcessEnd:
    """Waits for a signal, for the death of the launch, or for a thread that requests the end.

    The interpreter's C handler writes to a pipe, in whatever thread the kernel chose for the
    signal; a threading.Event would be set only when the main thread runs Python code again.

    Attributes:
        in_order: Whether a signal starts an orderly shutdown; until it is set, a signal ends the
            process at once with exit code 0.
        signals: Number of signals received since then.
        is_orphaned: Whether the launch that started this process has ended.
    """

    def __init__(self) -> None:
        self.in_order, self.signals, self.is_orphaned = False, 0, False
        self._launch = launch_pipe(os.environ)
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
        """Request the end of the process; may be called from any thread."""
        os.write(self._write, b"\0")

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most `timeout` seconds; return whether it was requested."""
        while True:
            ready = select.select([self._read, *self._launch], [], [], timeout)[0]
            if not ready or self._read in ready:
                return bool(ready)
            with suppress(OSError):  # reset by the launch
                if os.read(_STDIN, select.PIPE_BUF):
                    continue
            self.is_orphaned, self._launch = True, []
            self.request()


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Let a function handle SIGINT and SIGTERM inside the block."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, handler) for number in numbers]
    try:
        yield
    finally:
        for number, former in zip(numbers, before, strict=True):
            signal.signal(number, former)


def ended_at_once() -> AbstractContextManager[None]:
    """Let SIGINT and SIGTERM end the process at once, where there is nothing to clean up."""
    return _handled_by(lambda *_: os._exit(INTERRUPTED))


def interrupt_on_signals() -> None:
    """Make SIGTERM and SIGHUP raise KeyboardInterrupt, as Ctrl-C does."""
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, signal.default_int_handler)


def die_with_parent(number: int) -> None:
    """Make the kernel send this process a signal when the thread that started it ends (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


@contextmanager
def deferred() -> Iterator[None]:
    """Defer SIGINT and SIGTERM: one received meanwhile raises KeyboardInterrupt at the end.

    For rclpy calls, whose C++ code turns a KeyboardInterrupt into an obscure RuntimeError.
    """
    received: list[int] = []
    with _handled_by(lambda number, _: received.append(number)):
        yield
    if received:
        raise KeyboardInterrupt
