# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What RViz shows as the handle at the tool: arrows, rings, and a menu on a ball.

One interactive marker for RViz, by the protocol of the package interactive_markers.

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

NAME = "tool"
LIST, MEET, POSTURES = 1, 2, 3  # menu entries; modes and postures follow
FIRST_MODE, FIRST_POSTURE = 10, 100
_HALF = 0.7071067811865476
# Turns of a control's x axis to the marker's x, y, z.
_TURNS = {
    "x": (0.0, 0.0, 0.0, 1.0),
    "y": (0.0, 0.0, _HALF, _HALF),
    "z": (0.0, _HALF, 0.0, _HALF),
}


def handle_marker(
    frame: str, size: float, mode: str, postures: Sequence[str], said: str
) -> InteractiveMarker:
    """Return the marker, at its frame's origin.

    Args:
        frame: The frame that it is given in.
        size: Length of an arrow [m].
        mode: The one of MODES that is ticked in the menu.
        postures: Lines of the menu from which one is picked.
        said: One sentence that is written above it.
    """
    marker = InteractiveMarker(name=NAME, description=said, scale=float(size))
    marker.header.frame_id = frame
    turns = mode != "Position"
    for axis, xyzw in _TURNS.items():
        marker.controls.append(_control(f"shift_{axis}", xyzw, turn=False))
        if turns:
            marker.controls.append(_control(f"turn_{axis}", xyzw, turn=True))
    marker.controls.append(_menu_ball(size))
    marker.menu_entries = _entries(mode, postures)
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


def _entries(mode: str, postures: Sequence[str]) -> list[MenuEntry]:
    entries = [
        _entry(LIST, 0, "List postures that reach this place"),
        _entry(MEET, 0, "Meet"),
        *(
            _entry(FIRST_MODE + value, MEET, f"{'[x]' if name == mode else '[ ]'} {name}")
            for name, value in MODES.items()
        ),
    ]
    if postures:
        entries.append(_entry(POSTURES, 0, "Postures"))
        entries += [_entry(FIRST_POSTURE + i, POSTURES, p) for i, p in enumerate(postures)]
    return entries


def _entry(number: int, parent: int, title: str) -> MenuEntry:
    return MenuEntry(id=number, parent_id=parent, title=title, command_type=MenuEntry.FEEDBACK)


# mypy: disable-error-code="no-untyped-call"


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
