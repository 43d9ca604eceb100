# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One interactive marker for RViz, by the protocol of the package interactive_markers.

A server publishes <namespace>/update with rising sequence numbers and answers
<namespace>/get_interactive_markers with all markers and the number of the last update; RViz sends
<namespace>/feedback (visualization_msgs/msg/InteractiveMarkerUpdate.msg, ...Feedback.msg and
srv/GetInteractiveMarkers.srv).
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Callable

from geometry_msgs.msg import Pose
from rclpy.node import Node
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback,
    InteractiveMarkerPose,
    InteractiveMarkerUpdate,
)
from visualization_msgs.srv import GetInteractiveMarkers


class InteractiveServer:
    """Serves one marker.

    Args:
        node: The node that serves.
        namespace: As RViz's display names it.
        feedback: Takes what a person does.
    """

    def __init__(
        self,
        node: Node,
        namespace: str,
        feedback: Callable[[InteractiveMarkerFeedback], None],
    ) -> None:
        self._id = f"{node.get_fully_qualified_name()}/{namespace}"
        self._marker: InteractiveMarker | None = None
        self._number = 0
        self._publisher = node.create_publisher(
            InteractiveMarkerUpdate, f"{namespace}/update", 100
        )
        node.create_subscription(InteractiveMarkerFeedback, f"{namespace}/feedback", feedback, 100)
        node.create_service(
            GetInteractiveMarkers, f"{namespace}/get_interactive_markers", self._on_get
        )

    def show(self, marker: InteractiveMarker) -> None:
        """Show the marker, new or changed."""
        self._marker = marker
        self._send(InteractiveMarkerUpdate(markers=[marker]))

    def move(self, pose: Pose) -> None:
        """Put the marker elsewhere, in the frame that it is in."""
        if self._marker is not None:
            self._marker.pose = pose
            moved = InteractiveMarkerPose(
                header=self._marker.header, pose=pose, name=self._marker.name
            )
            self._send(InteractiveMarkerUpdate(poses=[moved]))

    def _send(self, update: InteractiveMarkerUpdate) -> None:
        self._number += 1
        update.server_id, update.seq_num = self._id, self._number
        update.type = InteractiveMarkerUpdate.UPDATE
        self._publisher.publish(update)

    def _on_get(
        self,
        request: GetInteractiveMarkers.Request,
        response: GetInteractiveMarkers.Response,
    ) -> GetInteractiveMarkers.Response:
        response.sequence_number = self._number
        response.markers = [] if self._marker is None else [self._marker]
        return response
