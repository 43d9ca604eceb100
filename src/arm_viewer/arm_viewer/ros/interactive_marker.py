# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The interactive marker at the tool for RViz, by the protocol of the package interactive_markers.

A server publishes <namespace>/update with rising sequence numbers and answers
<namespace>/get_interactive_markers with all markers and the number of the last update; RViz sends
<namespace>/feedback (visualization_msgs/msg/InteractiveMarkerUpdate.msg, ...Feedback.msg and
srv/GetInteractiveMarkers.srv).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arm_common.ros.qos import CALLS
from geometry_msgs.msg import Pose, Quaternion
from rclpy.node import Node
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback,
    InteractiveMarkerPose,
    InteractiveMarkerUpdate,
    Marker,
    MenuEntry,
)
from visualization_msgs.msg import InteractiveMarkerControl as Control
from visualization_msgs.srv import GetInteractiveMarkers

from arm_viewer.port import IK_MODES

# mypy: disable-error-code="no-untyped-call"

NAME = "tool"
LIST_SOLUTIONS, MODE, SOLUTIONS = 1, 2, 3  # menu entries; modes and solutions follow
FIRST_MODE, FIRST_SOLUTION = 10, 100
_INK = ColorRGBA(r=0.12, g=0.14, b=0.18, a=1.0)
_HALF = 0.7071067811865476
# Rotations of a control's x axis to the marker's x, y, z.
_ROTATIONS = {
    "x": Quaternion(w=1.0),
    "y": Quaternion(z=_HALF, w=_HALF),
    "z": Quaternion(y=_HALF, w=_HALF),
}


def text_marker(frame: str, size: float, text: str) -> InteractiveMarker:
    """Return a marker at its frame's origin that shows a text and cannot be moved.

    RViz would draw a description in white, and ends its subscription when a marker has no control.
    """
    marker = InteractiveMarker(name=NAME, scale=float(size))
    marker.header.frame_id = frame
    height = 0.15 * size
    letters = Marker(type=Marker.TEXT_VIEW_FACING, text=text, color=_INK)
    letters.scale.x, letters.scale.z = 0.35 * height, height  # x is the width of a space
    letters.pose.position.z = 1.4 * size
    letters.pose.orientation.w = 1.0
    marker.controls = [
        Control(
            name="text",
            orientation_mode=Control.VIEW_FACING,
            interaction_mode=Control.NONE,
            always_visible=True,
            markers=[letters] if text else [],
        )
    ]
    return marker


def handle_marker(
    frame: str, size: float, mode: str, solutions: Sequence[str], text: str
) -> InteractiveMarker:
    """Return the marker at its frame's origin: arrows, rings, and a ball with a menu.

    `size` is the length of an arrow [m]; the menu has `mode`, one of IK_MODES, checked and
    lists the solutions.
    """
    marker = text_marker(frame, size, text)
    motions = {"shift": Control.MOVE_AXIS, "turn": Control.ROTATE_AXIS}
    if mode == "Position":
        del motions["turn"]
    marker.controls += [
        Control(name=f"{motion}_{axis}", orientation=rotation, interaction_mode=kind)
        for axis, rotation in _ROTATIONS.items()
        for motion, kind in motions.items()
    ]
    ball = Marker(type=Marker.SPHERE, color=ColorRGBA(r=0.85, g=0.47, b=0.02, a=0.6))
    ball.scale.x = ball.scale.y = ball.scale.z = 0.2 * size
    ball.pose.orientation.w = 1.0
    marker.controls.append(
        Control(name="menu", interaction_mode=Control.MENU, always_visible=True, markers=[ball])
    )
    marker.menu_entries = _entries(mode, solutions)
    return marker


def _entries(mode: str, solutions: Sequence[str]) -> list[MenuEntry]:
    rows = [(LIST_SOLUTIONS, 0, "List solutions"), (MODE, 0, "Target")]
    for value, name in enumerate(IK_MODES):
        rows.append((FIRST_MODE + value, MODE, f"{'[x]' if name == mode else '[ ]'} {name}"))
    if solutions:
        rows.append((SOLUTIONS, 0, "Solutions"))
    rows += [(FIRST_SOLUTION + i, SOLUTIONS, text) for i, text in enumerate(solutions)]
    return [
        MenuEntry(id=number, parent_id=parent, title=title, command_type=MenuEntry.FEEDBACK)
        for number, parent, title in rows
    ]


class InteractiveServer:
    """Serves one interactive marker; `feedback` takes the user's actions."""

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
        name = f"{namespace}/get_interactive_markers"
        node.create_service(GetInteractiveMarkers, name, self._on_get, qos_profile=CALLS)

    def show(self, marker: InteractiveMarker) -> None:
        """Show the marker, new or changed."""
        self._marker = marker
        self._send(InteractiveMarkerUpdate(markers=[marker]))

    def move(self, pose: Pose) -> None:
        """Move the marker in its frame."""
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
