# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A subscriber of markers that keeps what a viewer would show."""

from arm_common.ros.qos import MARKERS
from rclpy.node import Node
from visualization_msgs.msg import Marker, MarkerArray


class MarkerWatcher:
    """The markers of a topic as a viewer keeps them."""

    def __init__(self, node: Node, topic: str) -> None:
        self.shown: dict[tuple[str, int], Marker] = {}
        self.messages: list[MarkerArray] = []
        self._node = node
        self._subscription = node.create_subscription(
            MarkerArray, topic, self._on_markers, MARKERS
        )

    def _on_markers(self, message: MarkerArray) -> None:
        self.messages.append(message)
        for marker in message.markers:
            self.shown.pop((marker.ns, marker.id), None)
            if marker.action == Marker.DELETEALL:
                self.shown.clear()
            elif marker.action == Marker.ADD:
                self.shown[marker.ns, marker.id] = marker

    def layers(self) -> set[str]:
        """Return the namespaces of the markers."""
        return {layer for layer, _ in self.shown}

    def texts(self) -> str:
        """Return the texts of all markers."""
        return " | ".join(marker.text for marker in self.shown.values())

    def close(self) -> None:
        """Unsubscribe."""
        self._node.destroy_subscription(self._subscription)
