# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes that run in the test process: a probe, and those under test."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import rclpy
from arm_common.ros.node_runner import ExecutorThread
from rcl_interfaces.srv import GetParameters
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor

from arm_testing.waiting import BOUND, T

ASK_AGAIN = 5.0  # [s]
MOST_QUEUED = 50  # messages of all topics


class Probe:
    """A node with its own context, spun while waiting.

    Args:
        name: Name of the node.
        domain: Its ROS domain; None for that of the test.
        bound: Default timeout of `until` [s].
    """

    def __init__(
        self, name: str = "probe", domain: int | None = None, bound: float = BOUND
    ) -> None:
        self.context, self.bound = Context(), bound
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node(name, context=self.context)
        self.executor: Any = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def until(
        self, condition: Callable[[], T], bound: float | None = None, what: object = "change"
    ) -> T:
        """Spin until a condition is true; return its value."""
        patience = self.bound if bound is None else bound
        deadline = time.monotonic() + patience
        while not (value := condition()):
            assert time.monotonic() < deadline, f"no {what} within {patience:.0f} s"
            self.executor.spin_once(timeout_sec=0.05)
        return value

    def catch_up(self) -> None:
        """Receive what arrived while nobody spun the probe, so that a last message is present."""
        for _ in range(MOST_QUEUED):
            self.executor.spin_once(timeout_sec=0.0)

    def wait_known(self, *names: str) -> None:
        """Wait until nodes have discovered all that the probe has, so that no response is lost.

        A participant announces its endpoints in the order in which they were created.
        """
        for name in names:
            client = self.node.create_client(GetParameters, f"{name}/get_parameters")
            self.request(client, GetParameters.Request())
            self.node.destroy_client(client)

    def request(self, client: Any, request: Any) -> Any:
        """Call a service; repeat it, because a response can be lost during discovery."""
        self.until(client.service_is_ready)
        futures: list[Any] = []
        asked = -math.inf

        def answered() -> bool:
            nonlocal asked
            if time.monotonic() > asked + ASK_AGAIN:
                asked = time.monotonic()
                futures.append(client.call_async(request))
            return any(future.done() for future in futures)

        self.until(answered)
        return next(future.result() for future in futures if future.done())

    def close(self) -> None:
        """End node and context."""
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)


@contextmanager
def spun(*makers: Callable[[], Any]) -> Iterator[list[Any]]:
    """Make nodes in the default context and spin them in a thread; end them afterwards."""
    rclpy.init()
    nodes = [make() for make in makers]
    thread = ExecutorThread(SingleThreadedExecutor(), nodes, lambda: None)
    try:
        yield nodes
    finally:
        thread.stop()
        for node in nodes:
            node.destroy_node()
        rclpy.shutdown()
