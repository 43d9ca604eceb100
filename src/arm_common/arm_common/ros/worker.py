# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One thread for work that takes long, so that the node goes on answering meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any

from rclpy.node import Node
from rclpy.task import Future

# mypy: disable-error-code="no-untyped-call"


_TURN = 1e-4  # [s]


class WorkerThread:
    """Does one piece of work after the other in a thread of its own, which ends with the process.

    Compiled loops let other threads run meanwhile; so that plain Python does not keep them waiting
    either, threads take turns more often than every 5 ms, as is Python's default.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        sys.setswitchinterval(min(_TURN, sys.getswitchinterval()))
        self._waiting: SimpleQueue[tuple[Callable[[], None], Any]] = SimpleQueue()
        Thread(target=self._work, name="background", daemon=True).start()

    async def run(self, work: Callable[[], None]) -> None:
        """Return when the work is done; an exception in it is raised here."""
        done = Future()
        self._waiting.put((work, done))
        await done

    def _work(self) -> None:
        while True:
            work, done = self._waiting.get()
            try:
                work()
            except Exception as error:  # noqa: BLE001
                done.set_exception(error)
            else:
                done.set_result(None)
            if (executor := self._node.executor) is not None:
                executor.wake()
