# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Run a function in a forked process, so that it does not compete for the interpreter lock.

The child shares memory with its parent until one of them writes to it, and starts within
milliseconds. It has the calling thread alone: the function must not use ROS. A lock that another
thread holds at the fork, of an import or of a cached property for instance, is never released in
the child: a child that waits for one is replaced by another.
"""

from __future__ import annotations

import copyreg
import gc
import os
import pickle
import select
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from arm_common.errors import InputError
from arm_common.signals import die_with_parent

_T = TypeVar("_T")
_TIMEOUT = 300.0  # [s]
_POLL_PERIOD = 0.1  # [s] between two questions whether the work is canceled
_STUCK_POLLS = 20  # for which a child sleeps and uses no CPU time: only a lock makes it do so
_CHUNK = 1 << 16  # [bytes], the capacity of a pipe
_MEMORY = "free some memory and try again"
_FORKING = threading.Lock()  # no other child may inherit the writing end of a pipe


def _read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


copyreg.pickle(MappingProxyType, lambda view: (_read_only, (dict(view),)))  # type: ignore[arg-type]


def run_in_child(
    work: Callable[[], _T],
    canceled: Callable[[], bool] = lambda: False,
    timeout: float = _TIMEOUT,
) -> _T:
    """Run a function in a forked process; return its result or raise its exception.

    Result and exception are pickled. The child ends with its parent. A stuck child is replaced,
    so the function may be run again.

    Args:
        work: The function.
        canceled: Called every 0.1 s; once it returns True, the child is killed.
        timeout: Time after which the child is killed [s].

    Raises:
        InputError: The child cannot be started, was killed, or ended without a result.
    """
    end = time.monotonic() + timeout

    def check() -> None:
        if canceled():
            raise InputError("canceled")
        if time.monotonic() > end:
            raise InputError(f"no result after {timeout:g} s")

    while (answer := _answer_of_child(work, check)) is None:
        pass
    result, error = pickle.loads(answer)
    if error is not None:
        raise error
    value: _T = result
    return value


def _answer_of_child(work: Callable[[], Any], check: Callable[[], None]) -> bytes | None:
    """Return what a child writes, None if it is stuck; kill it if `check` raises."""
    child, reading = _start(work)
    status = None
    try:
        answer = _received(reading, check, _Progress(child))
        if answer is not None:
            _, status = os.waitpid(child, 0)
    finally:
        os.close(reading)
        if status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if status and (code := os.waitstatus_to_exitcode(status)):
        raise _failure(code)
    return answer


def _start(work: Callable[[], Any]) -> tuple[int, int]:
    """Fork; return the process id of the child and the reading end of its pipe."""
    with _FORKING:
        ends: tuple[int, ...] = ()
        try:
            reading, writing = ends = os.pipe()
            child = os.fork()
        except OSError as error:
            for end in ends:
                os.close(end)
            problem = f"no child process can be started: {error.strerror}"
            raise InputError(problem, remedy="end other processes and try again") from None
        if not child:
            _answer(work, writing)  # does not return
        os.close(writing)
    return child, reading


class _Progress:
    """Tells whether a child is stuck: it sleeps, however often one looks, and uses no CPU time."""

    def __init__(self, child: int) -> None:
        self._file = Path(f"/proc/{child}/stat")
        self._last: tuple[str, ...] = ()
        self._polls = 0

    def is_stuck(self) -> bool:
        """Return True if it was seen like this `_STUCK_POLLS` times in a row."""
        fields = self._file.read_text().rpartition(")")[2].split()
        now = fields[0], fields[11], fields[12]  # state, user and system time of all threads
        self._polls = self._polls + 1 if now == self._last and now[0] == "S" else 0
        self._last = now
        return self._polls >= _STUCK_POLLS


def _received(reading: int, check: Callable[[], None], progress: _Progress) -> bytes | None:
    """Return all that a child writes, None if it is stuck; `check` is called every 0.1 s."""
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    parts: list[bytes] = []
    while True:
        if poll.poll(1e3 * _POLL_PERIOD):
            if not (part := os.read(reading, _CHUNK)):
                return b"".join(parts)
            parts.append(part)
        elif progress.is_stuck():
            return None
        check()


def _failure(code: int) -> InputError:
    """Return the error for an exit code, negative if a signal ended the child."""
    if code > 0:
        return InputError(f"the child process ended without a result, with exit code {code}")
    name = signal.Signals(-code).name
    remedy = _MEMORY if -code == signal.SIGKILL else ""
    return InputError(f"the child process was ended by {name}", remedy=remedy)


def _answer(work: Callable[[], Any], writing: int) -> None:
    """Write the pickled (result, exception) of a function to a pipe, and end the process."""
    code = 1
    try:
        die_with_parent(signal.SIGKILL)
        signal.set_wakeup_fd(-1)  # the pipe of the parent's handlers
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # sent to the group: the parent decides
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        gc.freeze()  # a collection would write to all shared memory
        answer = _pickled(work)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
        code = 0
    finally:
        os._exit(code)


def _pickled(work: Callable[[], Any]) -> bytes:
    try:
        return pickle.dumps((work(), None), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return pickle.dumps((None, InputError("there is not enough memory", remedy=_MEMORY)))
    except Exception as error:  # noqa: BLE001
        try:
            return pickle.dumps((None, error))
        except Exception:  # noqa: BLE001
            return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))
