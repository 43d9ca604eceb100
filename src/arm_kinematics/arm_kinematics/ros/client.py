# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A client of the kinematics services, asynchronous and blocking.

In a callback, ``await client.solve_ik.call_async(request)``; in a separate thread,
``client.solve_ik.call(request, timeout)``. A blocking call in a callback would keep its executor
from ever processing the response: it is rejected there, at once.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from traceback import walk_stack
from typing import Any

from arm_common.ros.qos import MANY_CALLS
from arm_common.ros.service_client import ServiceClient
from rclpy.node import Node

from arm_interfaces.srv import (
    CancelIKBatch,
    GetJacobian,
    SolveDynamics,
    SolveFK,
    SolveIK,
    SolveIKBatch,
)
from arm_kinematics.errors import KinematicsError

_RESEND_PERIOD = 5.0  # [s]
_EXECUTORS = ("rclpy.executors", "rclpy.task")  # their frames are below that of a callback


class CallError(KinematicsError):
    """A service cannot be called in this way."""


class NoAnswerError(CallError, TimeoutError):
    """No response was received in time."""


class KinematicsService(ServiceClient):
    """One service of the kinematics node, which may also be called from a separate thread."""

    def __init__(
        self, node: Node, kind: Any, name: str, resend_period: float = _RESEND_PERIOD
    ) -> None:
        super().__init__(node, kind, name, MANY_CALLS)
        self._resend_period = resend_period

    def call(self, request: Any, timeout: float) -> Any:
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
        self._refuse_in_callback()
        if not timeout > 0.0:
            raise CallError(f"timeout is {timeout} s; expected a positive number", what="timeout")
        deadline = time.monotonic() + timeout
        while (remaining := deadline - time.monotonic()) > 0.0:
            future, arrived = self.call_async(request), threading.Event()
            future.add_done_callback(lambda _, arrived=arrived: arrived.set())
            if arrived.wait(min(remaining, self._resend_period)):
                return future.result()
            future.cancel()
        text = f"no server of '{self.name}' within {timeout:g} s; is the kinematics node running?"
        if self.is_ready:
            hint = "is this node being spun by an executor?"
            text = f"no response from '{self.name}' within {timeout:g} s; {hint}"
        raise NoAnswerError(text, what=self.name)

    def _refuse_in_callback(self) -> None:
        frames = (frame for frame, _ in walk_stack(sys._getframe()))
        if any(frame.f_globals.get("__name__") in _EXECUTORS for frame in frames):
            raise CallError(
                f"'{self.name}' is called from a callback, which would wait for itself; there, "
                "'await ....call_async(request)' or use a thread of its own",
                what=self.name,
            )


class KinematicsClient:
    """The services of the kinematics node.

    Args:
        node: Node to call from.
        server: Name of the kinematics node.
    """

    def __init__(self, node: Node, server: str = "kinematics") -> None:
        self.solve_ik = KinematicsService(node, SolveIK, f"{server}/solve_ik")
        self.solve_fk = KinematicsService(node, SolveFK, f"{server}/solve_fk")
        # Repeating a batch would compute it twice.
        self.solve_ik_batch = KinematicsService(
            node, SolveIKBatch, f"{server}/solve_ik_batch", math.inf
        )
        self.cancel_ik_batch = KinematicsService(node, CancelIKBatch, f"{server}/cancel_ik_batch")
        self.get_jacobian = KinematicsService(node, GetJacobian, f"{server}/get_jacobian")
        self.solve_dynamics = KinematicsService(node, SolveDynamics, f"{server}/solve_dynamics")
