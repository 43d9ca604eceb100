# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Sends a robot description to the node that publishes it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from rcl_interfaces.srv import SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter

# mypy: disable-error-code="no-untyped-call"

RESEND_DELAY = 3.0  # [s] a request may be lost during discovery


class DescriptionSender:
    """Sets robot_description of a state publisher: the newest text, one at a time.

    `on_answer` takes why the publisher has refused a text, or "" if it uses it.
    """

    def __init__(self, node: Node, publisher: str, on_answer: Callable[[str], None]) -> None:
        self._client = node.create_client(SetParameters, f"{publisher}/set_parameters")
        self._on_answer = on_answer
        self._urdf = ""  # not yet accepted by the publisher
        self._resend_time = 0.0  # when to send again without a response [s]

    @property
    def is_busy(self) -> bool:
        """Whether a text is not yet answered."""
        return bool(self._urdf)

    def send(self, urdf: str) -> None:
        """Send a text as soon as the last one is answered; call `poll` until then."""
        self._urdf = urdf
        self.poll()

    def drop(self) -> None:
        """Send nothing any more."""
        self._urdf = ""

    def poll(self) -> None:
        """Send what waits, again after `RESEND_DELAY` without an answer."""
        now = time.monotonic()
        if self._urdf and self._client.service_is_ready() and now > self._resend_time:
            self._resend_time = now + RESEND_DELAY
            text = Parameter("robot_description", value=self._urdf).to_parameter_msg()
            future = self._client.call_async(SetParameters.Request(parameters=[text]))
            future.add_done_callback(partial(self._on_response, self._urdf))

    def _on_response(self, urdf: str, future: Any) -> None:
        if urdf == self._urdf:
            self._urdf = ""
        self._resend_time = 0.0
        result = future.result().results[0]
        self._on_answer("" if result.successful else result.reason)
        self.poll()
