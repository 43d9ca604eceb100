# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="no-untyped-call, attr-defined"
"""Whether the client of an action can be reached, asked by the feedback that is sent anyway."""

from __future__ import annotations

import time
from typing import Any

from rclpy.duration import Duration
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile

from arm_hardware.client_watch import ClientWatch

AT_ONCE = Duration()


class Commander:
    """The clients of an action, asked by its feedback: every client of an action listens to it.

    Now and then a feedback goes by a publisher of its own, which tells whether it has arrived.
    """

    def __init__(self, node: Any, action: Any, name: str) -> None:
        """Make the publisher.

        Args:
            node: The HardwareNode.
            action: Type of the action.
            name: Its name.
        """
        self._node = node
        self._message = action.Impl.FeedbackMessage
        self._topic = f"{name}/_action/feedback"
        # Depth 1: Fast DDS then asks for the acknowledgement with each message, not every 3 s.
        self._publisher = node.create_publisher(self._message, self._topic, QoSProfile(depth=1))

    def watch(self) -> ClientWatch:
        """Begin to watch the client of a goal."""
        timeout = self._node.parameters.commander_timeout
        return ClientWatch(timeout, time.monotonic(), self._is_there())

    def tell(self, handle: Any, feedback: Any, watch: ClientWatch) -> None:
        """Send a feedback, as a question if it is time for one."""
        if watch.look(time.monotonic(), self._is_there(), self._has_arrived()):
            self._publisher.publish(self._message(goal_id=handle.goal_id, feedback=feedback))
        else:
            handle.publish_feedback(feedback)

    def _is_there(self) -> bool:
        return bool(self._node.count_subscribers(self._topic) > 0)

    def _has_arrived(self) -> bool:
        try:
            return bool(self._publisher.wait_for_all_acked(AT_ONCE))
        except rclpy_implementation.RCLError:  # a middleware that does not tell
            return True
