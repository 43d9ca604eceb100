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

from arm_common.ros.failures import report_failure

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

    A failed callback is reported by `report_failure`; spinning continues. `on_end` is called in
    the thread when the context was shut down, or when a callback ended the thread by SystemExit.
    """

    def __init__(
        self, executor: Executor, nodes: Iterable[Node], on_end: Callable[[], None]
    ) -> None:
        self._last_failure: Exception | None = None
        self._executor, self._on_end = executor, on_end
        self._nodes = list(nodes)
        self._stopping = False
        for node in self._nodes:
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
        try:
            while not self._stopping and self._executor.context.ok():
                self._spin_once()
        except ExternalShutdownException:
            pass
        finally:  # also where a callback calls sys.exit()
            if not self._stopping:
                self._on_end()

    def _spin_once(self) -> None:
        try:
            # not spin(), which may miss a shutdown and then waits forever
            self._executor.spin_once(timeout_sec=_SPIN_PERIOD)
        except ExternalShutdownException:
            raise
        except Exception as error:  # noqa: BLE001
            if self._executor.context.ok():  # otherwise the shutdown itself made rclpy fail
                self._report(error)

    def _report(self, error: Exception) -> None:
        if error is self._last_failure:  # rclpy may raise it twice
            return
        self._last_failure = error
        node: Node | None = getattr(self._executor, "current_node", None)
        report_failure(node or self._nodes[0], "a callback", error)
        time.sleep(_FAILURE_PAUSE)
