# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What RViz shows as the handle at the tool: arrows, rings, and a menu on a ball."""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import Quaternion
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import InteractiveMarker, InteractiveMarkerControl, Marker, MenuEntry

from .tool_wish import MODES

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
