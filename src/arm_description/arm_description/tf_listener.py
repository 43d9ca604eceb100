# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Keep a TransformTree up to date from tf and tf_static."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from geometry_msgs.msg import TransformStamped
from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from .tf_tree import TransformError, TransformTree
from .transforms import pose_to_matrix

WARN_EVERY = 5.0
Heard = tuple[str, tuple[float, ...], tuple[float, ...]]  # parent, position, quaternion


class TfListener:
    """Subscribes tf and tf_static on a node.

    The subscriptions have a callback group of their own, so that with a MultiThreadedExecutor the
    tree stays fresh while another callback of the node waits.

    Args:
        node: the node to listen on.
        callback_group: group of the subscriptions, a new one if None.
        on_change: is given each message of tf after it has been taken over.
        depth: how many messages of tf may wait; more than usual for a node that must see each.
        events: what to do on events of the subscriptions, rclpy's default if None.

    Attributes:
        tree: the frames heard of, safe to use from any thread; set anew only where they changed.
    """

    def __init__(
        self,
        node: Node,
        callback_group: CallbackGroup | None = None,
        on_change: Callable[[TFMessage], None] | None = None,
        depth: int = 100,
        events: SubscriptionEventCallbacks | None = None,
    ) -> None:
        self.tree = TransformTree()
        self._heard: dict[str, Heard] = {}
        self._on_change = on_change
        self._logger = node.get_logger()
        group = callback_group or MutuallyExclusiveCallbackGroup()
        latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        for topic, qos in (("tf", QoSProfile(depth=depth)), ("tf_static", latched)):
            node.create_subscription(
                TFMessage, topic, self._on_tf, qos, callback_group=group, event_callbacks=events
            )

    def _on_tf(self, message: TFMessage) -> None:
        for stamped in message.transforms:
            try:
                self._set(stamped)
            except TransformError as error:
                self._logger.warning(f"ignored in tf: {error}", throttle_duration_sec=WARN_EVERY)
        if self._on_change is not None:
            self._on_change(message)

    def _set(self, stamped: TransformStamped) -> None:
        """Take over one transform, if it is not as it was.

        Its matrix is worked out only when somebody asks for it.
        """
        t, r = stamped.transform.translation, stamped.transform.rotation
        parent, child = stamped.header.frame_id, stamped.child_frame_id
        position, quaternion = (t.x, t.y, t.z), (r.x, r.y, r.z, r.w)
        heard = parent, position, quaternion
        if self._heard.get(child) == heard:
            return
        norm = math.hypot(*quaternion)
        if not math.isfinite(norm + t.x + t.y + t.z) or norm < 1e-6:
            raise TransformError(f"the transform of {child!r} is not finite or has no rotation")
        self.tree.set(parent, child, partial(pose_to_matrix, position, quaternion))
        self._heard[child] = heard
