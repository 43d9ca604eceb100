# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/ros/test_client.py
"""A client of a service that cannot deadlock its own executor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future

from arm_common.ros.executor import destroy_timer
from arm_common.ros.qos import CALLS, STEADY_CLOCK

# mypy: disable-error-code="no-untyped-call"

_POLL_PERIOD = 0.01  # [s]


class ServiceClient:
    """One service, safe to call from several threads; an executor must spin the node.

    The client has its own callback group: a response can be processed while the callback that
    awaits it holds the group of the node.
    """

    def __init__(self, node: Node, kind: Any, name: str, qos: QoSProfile = CALLS) -> None:
        self.kind, self.name = kind, name  # of the service
        self._node, self._group = node, ReentrantCallbackGroup()
        self._client = node.create_client(kind, name, qos_profile=qos, callback_group=self._group)

    @property
    def is_ready(self) -> bool:
        """Whether a server is available."""
        return bool(self._client.service_is_ready())

    def send(self, on_response: Callable[[Any], None] | None = None, /, **fields: Any) -> bool:
        """Send a request with these fields; return False if no server is available now."""
        if not self.is_ready:
            return False
        future = self._client.call_async(self.kind.Request(**fields))
        if on_response is not None:
            future.add_done_callback(lambda done: on_response(done.result()))
        return True

    def call_async(self, request: Any) -> Future:
        """Send a request; await the future, or give it a callback.

        Without a server yet, the request is sent as soon as one appears instead of being lost.
        """
        if self.is_ready:
            return self._client.call_async(request)
        response = Future(executor=self._node.executor)

        def poll() -> None:
            is_ready = self.is_ready  # once: a request must not be sent twice
            if is_ready or response.cancelled():
                destroy_timer(self._node, timer)
            if is_ready and not response.cancelled():
                self._client.call_async(request).add_done_callback(forward)

        def forward(done: Future) -> None:
            error = done.exception()
            if error is None:
                response.set_result(done.result())
            else:
                response.set_exception(error)

        timer = self._node.create_timer(_POLL_PERIOD, poll, self._group, clock=STEADY_CLOCK)
        return response
