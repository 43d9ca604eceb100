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

from geometry_msgs.msg import Pose, Quaternion
from rclpy.node import Node
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerFeedback,
    InteractiveMarkerPose,
    InteractiveMarkerUpdate,
    Marker,
    MenuEntry,
)
from visualization_msgs.srv import GetInteractiveMarkers

from arm_viewer.control.ik_follower import MODES

# mypy: disable-error-code="no-untyped-call"

NAME = "tool"
LIST_SOLUTIONS, MODE, SOLUTIONS = 1, 2, 3  # menu entries; modes and solutions follow
FIRST_MODE, FIRST_SOLUTION = 10, 100
_HALF = 0.7071067811865476
# Rotations of a control's x axis to the marker's x, y, z.
_ROTATIONS = {
    "x": (0.0, 0.0, 0.0, 1.0),
    "y": (0.0, 0.0, _HALF, _HALF),
    "z": (0.0, _HALF, 0.0, _HALF),
}


def handle_marker(
    frame: str, size: float, mode: str, solutions: Sequence[str], text: str
) -> InteractiveMarker:
    """Return the marker at its frame's origin: arrows, rings, and a ball with a menu.

    Args:
        frame: The frame of its pose.
        size: Length of an arrow [m].
        mode: The one of MODES that is checked in the menu.
        solutions: Entries of the menu's list of solutions.
        text: One sentence above the marker.
    """
    marker = InteractiveMarker(name=NAME, description=text, scale=float(size))
    marker.header.frame_id = frame
    turns = mode != "Position"
    for axis, xyzw in _ROTATIONS.items():
        marker.controls.append(_control(f"shift_{axis}", xyzw, turn=False))
        if turns:
            marker.controls.append(_control(f"turn_{axis}", xyzw, turn=True))
    marker.controls.append(_menu_ball(size))
    marker.menu_entries = _entries(mode, solutions)
    return marker


def _control(
    name: str, xyzw: tuple[float, float, float, float], turn: bool
) -> InteractiveMarkerControl:
    kind = InteractiveMarkerControl
    x, y, z, w = xyzw
    return kind(
        name=name,
        orientation=Quaternion(x=x, y=y, z=z, w=w),
        orientation_mode=kind.INHERIT,
        interaction_mode=kind.ROTATE_AXIS if turn else kind.MOVE_AXIS,
        always_visible=False,
    )


def _menu_ball(size: float) -> InteractiveMarkerControl:
    ball = Marker(type=Marker.SPHERE, color=ColorRGBA(r=0.85, g=0.47, b=0.02, a=0.6))
    ball.scale.x = ball.scale.y = ball.scale.z = 0.25 * size
    ball.pose.orientation.w = 1.0
    kind = InteractiveMarkerControl
    return kind(name="menu", interaction_mode=kind.MENU, always_visible=True, markers=[ball])


def _entries(mode: str, solutions: Sequence[str]) -> list[MenuEntry]:
    entries = [
        _entry(LIST_SOLUTIONS, 0, "List solutions"),
        _entry(MODE, 0, "Target"),
        *(
            _entry(FIRST_MODE + value, MODE, f"{'[x]' if name == mode else '[ ]'} {name}")
            for name, value in MODES.items()
        ),
    ]
    if solutions:
        entries.append(_entry(SOLUTIONS, 0, "Solutions"))
        entries += [_entry(FIRST_SOLUTION + i, SOLUTIONS, s) for i, s in enumerate(solutions)]
    return entries


def _entry(number: int, parent: int, title: str) -> MenuEntry:
    return MenuEntry(id=number, parent_id=parent, title=title, command_type=MenuEntry.FEEDBACK)


class InteractiveServer:
    """Serves one interactive marker.

    Args:
        node: The node that serves.
        namespace: The namespace of RViz's display.
        feedback: Takes the user's actions.
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
