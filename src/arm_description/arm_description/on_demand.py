# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="no-untyped-call"
"""Subscriptions whose messages wait until somebody wants to know: no message wakes the node.

To be woken costs a node more than the message does; one that is asked now and then need not hear
of every step of a motion when it happens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription

from .static_executor import QUIET


class OnDemand(ReentrantCallbackGroup):
    """A callback group for such subscriptions, at which the executor does not look.

    How many messages can wait is the depth of their quality of service.
    """

    def can_execute(self, entity: Any) -> bool:
        """Return whether the executor may look at an entity."""
        return not isinstance(entity, Subscription)

    def subscribe(
        self,
        node: Node,
        kind: type,
        topic: str,
        callback: Callable[[Any], None],
        qos: QoSProfile | int,
        raw: bool = False,
    ) -> None:
        """Subscribe in this group; events of the subscription wake nobody either."""
        node.create_subscription(
            kind, topic, callback, qos, callback_group=self, event_callbacks=QUIET, raw=raw
        )

    def take(self) -> None:
        """Call back with all messages that wait; by the thread that spins the node."""
        for reference in list(self.entities):
            entity = reference()
            if isinstance(entity, Subscription):
                _take_all(entity)


def _take_all(subscription: Any) -> None:
    with subscription.handle:
        kind, raw = subscription.msg_type, subscription.raw
        while (taken := subscription.handle.take_message(kind, raw)) is not None:
            subscription.callback(taken[0])
