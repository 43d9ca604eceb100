# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Run a function in a forked process, so that it does not compete for the interpreter lock.

The child shares memory with its parent until one of them writes to it, and starts within
milliseconds. It has the calling thread alone: the function must use neither ROS nor a lock that
another thread may hold.
"""

from __future__ import annotations

import copyreg
import ctypes
import gc
import os
import pickle
import signal
import threading
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, TypeVar

from arm_common.errors import InputError

_T = TypeVar("_T")
_PR_SET_PDEATHSIG = 1  # prctl(2)
_LIBC = ctypes.CDLL(None)
_FORKING = threading.Lock()  # no other child may inherit the writing end of a pipe


def _read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


copyreg.pickle(MappingProxyType, lambda view: (_read_only, (dict(view),)))  # type: ignore[arg-type]


def run_in_child(work: Callable[[], _T]) -> _T:
    """Run a function in a forked process; return its result or raise its exception.

    Result and exception are pickled. The child ends with its parent.

    Raises:
        InputError: A signal ended the child, as when memory runs out.
    """
    with _FORKING:
        reading, writing = os.pipe()
        if not (child := os.fork()):
            _answer(work, writing)  # does not return
        os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if status:
        name = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else str(status)
        remedy = "free some memory and try again"
        raise InputError(f"the child process was ended by {name}", remedy=remedy)
    result, error = pickle.loads(answer)
    if error is not None:
        raise error
    value: _T = result
    return value


def _answer(work: Callable[[], Any], writing: int) -> None:
    """Write the pickled (result, exception) of a function to a pipe, and end the process."""
    try:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)  # the pipe of the parent's handlers
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # sent to the group: the parent decides
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        gc.freeze()  # a collection would write to all shared memory
        answer = _pickled(work)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
    finally:
        os._exit(0)


def _pickled(work: Callable[[], Any]) -> bytes:
    try:
        return pickle.dumps((work(), None), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001
        try:
            return pickle.dumps((None, error))
        except Exception:  # noqa: BLE001
            return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))
