# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Background threads: one for long work that a callback awaits, one that spins an executor."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from typing import Any, TypeVar

from rclpy.executors import Executor, ExternalShutdownException
from rclpy.node import Node
from rclpy.task import Future

# mypy: disable-error-code="no-untyped-call"

_T = TypeVar("_T")
_SWITCH_INTERVAL = 1e-4  # [s]
_SPIN_PERIOD = 0.5  # [s] after which the thread checks whether it missed a shutdown
_FAILURE_PAUSE = 0.02  # [s] so that an executor that fails at once again leaves time for others
_DRAIN_ROUNDS = 5  # sending the result of a goal takes two executor tasks
_DRAIN_TIMEOUT = 3.0  # [s] of wall time for all rounds
_SEND_TIME = 0.05  # [s] of wall time for the middleware to send queued messages


class WorkerThread:
    """Runs functions one after the other in a daemon thread.

    Compiled loops release the interpreter lock; for plain Python the switch interval is 0.1 ms
    instead of Python's default of 5 ms, so that the node stays responsive.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        sys.setswitchinterval(min(_SWITCH_INTERVAL, sys.getswitchinterval()))
        self._queue: SimpleQueue[tuple[Callable[[], Any], Future]] = SimpleQueue()
        threading.Thread(target=self._work, name="worker", daemon=True).start()

    async def run(self, work: Callable[[], _T]) -> _T:
        """Run a function in the thread; return its result or raise its exception."""
        done = Future()
        self._queue.put((work, done))
        result: _T = await done
        return result

    def _work(self) -> None:
        while True:
            work, done = self._queue.get()
            try:
                done.set_result(work())
            except Exception as error:  # noqa: BLE001
                done.set_exception(error)
            if (executor := self._node.executor) is not None:
                executor.wake()


class ExecutorThread:
    """Spins an executor with some nodes in a thread until `stop`, which shuts it down.

    `on_end` is called in the thread when a callback has failed (spinning continues) or the context
    was shut down. With `on_failure`, which is called with the exception, failures are no end.

    Attributes:
        failure: First exception of a callback, None if none has failed or with `on_failure`.
        failed_node: Name of the node that it belongs to, "" if the executor does not record it.
    """

    def __init__(
        self,
        executor: Executor,
        nodes: Iterable[Node],
        on_end: Callable[[], None],
        on_failure: Callable[[Exception], object] | None = None,
    ) -> None:
        self.failure: Exception | None = None
        self.failed_node = ""
        self._on_failure = on_failure
        self._last_failure: Exception | None = None
        self._executor, self._on_end = executor, on_end
        self._stopping = False
        for node in nodes:
            executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, name="executor", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread still runs."""
        return self._thread.is_alive()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs in this thread, as a callback does."""
        return threading.current_thread() is self._thread

    def drain(self) -> None:
        """Wait until the executor has processed its queue, such as results of aborted goals."""
        deadline = time.monotonic() + _DRAIN_TIMEOUT
        for _ in range(_DRAIN_ROUNDS):
            task = self._executor.create_task(lambda: None)
            while not task.done() and self.is_alive and time.monotonic() < deadline:
                time.sleep(0.002)
        time.sleep(_SEND_TIME)

    def stop(self, timeout: float | None = None) -> None:
        """Stop thread and executor; wait for a running callback, at most `timeout` seconds."""
        self._stopping = True
        if self.is_alive and not self.is_current:
            self._executor.create_task(lambda: None)  # ends its wait
            self._thread.join(timeout)
        self._executor.shutdown(timeout)

    def _spin(self) -> None:
        while not self._stopping and self._executor.context.ok():
            try:
                # not spin(), which may miss a shutdown and then waits forever
                self._executor.spin_once(timeout_sec=_SPIN_PERIOD)
            except ExternalShutdownException:
                break
            except Exception as error:  # noqa: BLE001
                if self._executor.context.ok():  # otherwise the shutdown itself made rclpy fail
                    self._fail(error)
        if not self._stopping:
            self._on_end()

    def _fail(self, error: Exception) -> None:
        if self._on_failure is None:
            if self.failure is None:
                self.failure = error
                node: Node | None = getattr(self._executor, "current_node", None)
                self.failed_node = node.get_name() if node is not None else ""
            self._on_end()
        elif error is not self._last_failure:  # rclpy may raise it twice
            self._last_failure = error
            self._on_failure(error)
            time.sleep(_FAILURE_PAUSE)
