# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Run a function in a forked process, so that it does not compete for the interpreter lock.

The child shares memory with its parent until one of them writes to it, and starts within
milliseconds. It has the calling thread alone: the function must use neither ROS nor a lock that
another thread may hold.
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
from types import MappingProxyType
from typing import Any, TypeVar

from arm_common.errors import InputError
from arm_common.signals import die_with_parent

_T = TypeVar("_T")
_TIMEOUT = 300.0  # [s]
_POLL_PERIOD = 0.1  # [s] between two questions whether the work is canceled
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

    Result and exception are pickled. The child ends with its parent.

    Args:
        work: The function.
        canceled: Called every 0.1 s; once it returns True, the child is killed.
        timeout: Time after which the child is killed [s].

    Raises:
        InputError: The child cannot be started, was killed, or ended without a result.
    """
    child, reading = _start(work)
    status = None
    try:
        answer = _received(reading, canceled, timeout)
        _, status = os.waitpid(child, 0)
    finally:
        os.close(reading)
        if status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise _failure(code)
    result, error = pickle.loads(answer)
    if error is not None:
        raise error
    value: _T = result
    return value


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


def _received(reading: int, canceled: Callable[[], bool], timeout: float) -> bytes:
    """Return all that a child writes; raise InputError if it is canceled or takes too long."""
    end = time.monotonic() + timeout
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    parts: list[bytes] = []
    while True:
        if poll.poll(1e3 * _POLL_PERIOD):
            if not (part := os.read(reading, _CHUNK)):
                return b"".join(parts)
            parts.append(part)
        if canceled():
            raise InputError("canceled")
        if time.monotonic() > end:
            raise InputError(f"no result after {timeout:g} s")


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
