# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A client of the kinematics services that cannot deadlock its own executor.

In a callback, ``await client.solve_ik.call_async(request)``; in a separate thread,
``client.solve_ik.call(request, timeout)``. A blocking call in a callback would keep its executor
from ever processing the response: it is rejected there, at once.
"""

from __future__ import annotations

import math
import sys
import time
from traceback import walk_stack
from typing import Any, Generic, TypeVar

from arm_common.ros.executor import destroy_timer
from arm_common.ros.qos import MANY_CALLS, STEADY_CLOCK
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from arm_interfaces.srv import (
    CancelIKBatch,
    GetJacobian,
    SolveDynamics,
    SolveFK,
    SolveIK,
    SolveIKBatch,
)
from arm_kinematics.errors import KinematicsError

# mypy: disable-error-code="no-untyped-call"


_RESEND_PERIOD = 5.0  # [s]
_POLL_PERIOD = 0.01  # [s]
_EXECUTORS = ("rclpy.executors", "rclpy.task")  # their frames are below that of a callback
_Request = TypeVar("_Request")
_Response = TypeVar("_Response")


class CallError(KinematicsError):
    """A service cannot be called in this way."""


class NoAnswerError(CallError, TimeoutError):
    """No response was received in time."""


class ServiceCaller(Generic[_Request, _Response]):
    """One service, safe to call from several threads; an executor must spin the node.

    The client has its own callback group: a response can be processed while the callback that
    awaits it holds the group of the node.
    """

    def __init__(
        self, node: Node, kind: Any, name: str, resend_period: float = _RESEND_PERIOD
    ) -> None:
        self._node, self._group = node, ReentrantCallbackGroup()
        self._resend_period = resend_period
        self._client = node.create_client(
            kind, name, qos_profile=MANY_CALLS, callback_group=self._group
        )

    @property
    def is_ready(self) -> bool:
        """Whether a server is available."""
        return bool(self._client.service_is_ready())

    def call_async(self, request: _Request) -> Future:
        """Send a request; await the future, or give it a callback.

        Without a server yet, the request is sent as soon as one appears instead of being lost.
        """
        if self.is_ready:
            return self._client.call_async(request)
        response = Future(executor=self._node.executor)

        def poll() -> None:
            if response.cancelled() or self.is_ready:
                destroy_timer(self._node, timer)
            if self.is_ready and not response.cancelled():
                sent = self._client.call_async(request)
                sent.add_done_callback(lambda done: response.set_result(done.result()))

        timer = self._node.create_timer(_POLL_PERIOD, poll, self._group, clock=STEADY_CLOCK)
        return response

    def call(self, request: _Request, timeout: float) -> _Response:
        """Send a request and wait for the response.

        While two nodes are still discovering each other a response may get lost: the request is
        repeated every few seconds, which is harmless, since equal requests have equal responses.
        Batches, which may take long, are not.

        Args:
            request: The request.
            timeout: Longest time to wait [s], also for the service to appear.

        Raises:
            CallError: Called from an executor callback, where the response could not be processed.
            NoAnswerError: No response was received in time.
        """
        name = self._client.srv_name
        frames = (frame for frame, _ in walk_stack(sys._getframe()))
        if any(frame.f_globals.get("__name__") in _EXECUTORS for frame in frames):
            raise CallError(
                f"'{name}' is called from a callback, which would wait for itself; there, "
                "'await ....call_async(request)' or use a thread of its own",
                what=name,
            )
        if not timeout > 0.0:
            raise CallError(f"timeout is {timeout} s; expected a positive number", what="timeout")
        deadline = time.monotonic() + timeout
        while not self.is_ready:
            if time.monotonic() > deadline:
                raise NoAnswerError(
                    f"no server of '{name}' within {timeout:g} s; is the kinematics node running?",
                    what=name,
                )
            time.sleep(_POLL_PERIOD)
        while (left := deadline - time.monotonic()) > 0.0:
            response: _Response | None
            response = self._client.call(request, min(left, self._resend_period))
            if response is not None:
                return response
        text = f"no response from '{name}' within {timeout:g} s"
        raise NoAnswerError(f"{text}; is this node being spun by an executor?", what=name)


class KinematicsClient:
    """The services of the kinematics node.

    Args:
        node: Node to call from.
        server: Name of the kinematics node.
    """

    def __init__(self, node: Node, server: str = "kinematics") -> None:
        self.solve_ik: ServiceCaller[SolveIK.Request, SolveIK.Response]
        self.solve_ik = ServiceCaller(node, SolveIK, f"{server}/solve_ik")
        self.solve_fk: ServiceCaller[SolveFK.Request, SolveFK.Response]
        self.solve_fk = ServiceCaller(node, SolveFK, f"{server}/solve_fk")
        # Repeating a batch would compute it twice.
        self.solve_ik_batch: ServiceCaller[SolveIKBatch.Request, SolveIKBatch.Response]
        self.solve_ik_batch = ServiceCaller(
            node, SolveIKBatch, f"{server}/solve_ik_batch", math.inf
        )
        self.cancel_ik_batch: ServiceCaller[CancelIKBatch.Request, CancelIKBatch.Response]
        self.cancel_ik_batch = ServiceCaller(node, CancelIKBatch, f"{server}/cancel_ik_batch")
        self.get_jacobian: ServiceCaller[GetJacobian.Request, GetJacobian.Response]
        self.get_jacobian = ServiceCaller(node, GetJacobian, f"{server}/get_jacobian")
        self.solve_dynamics: ServiceCaller[SolveDynamics.Request, SolveDynamics.Response]
        self.solve_dynamics = ServiceCaller(node, SolveDynamics, f"{server}/solve_dynamics")
