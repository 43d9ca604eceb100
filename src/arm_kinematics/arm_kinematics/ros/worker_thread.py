# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/ros/test_node.py
"""A thread for computations that would keep a node from its callbacks."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from rclpy.node import Node
from rclpy.task import Future

_T = TypeVar("_T")
_SWITCH_INTERVAL = 1e-4  # [s]


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
