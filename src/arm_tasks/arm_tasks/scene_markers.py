# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The scene as visualization_msgs markers, which RViz and the browser draw alike."""

from __future__ import annotations

import math

import numpy as np
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from arm_tasks.geometry import Array, shift_z
from arm_tasks.ros_conversions import pose_message
from arm_tasks.scene import BASE_FRAME, Bolt, Nut, Scene
from arm_tasks.things import Thing

STEEL = (0.62, 0.65, 0.70, 1.0)
BRASS = (0.90, 0.66, 0.18, 1.0)
INK = (0.12, 0.14, 0.18, 1.0)
GROOVE_POINTS = 24  # a turn of the thread, as drawn
NUT_FRAME = "nut"


def scene_markers(scene: Scene) -> list[Marker]:
    """Return the markers of all that does not change: things, bolts, the nut in its frame."""
    markers = [part for thing in scene.things.values() for part in thing_markers(thing)]
    for bolt in scene.bolts.values():
        markers += [shaft_marker(bolt), groove_marker(bolt), name_marker(bolt)]
    if scene.nut is not None:
        markers.append(nut_marker(scene.nut, max(b.diameter for b in scene.bolts.values())))
    return markers


def marker(frame: str, namespace: str, kind: int, color: tuple[float, ...], T: Array) -> Marker:
    """Return a marker that stays with its frame.

    Args:
        frame: tf frame that it is given in.
        namespace: Marker namespace.
        kind: A type constant of Marker.
        color: Red, green, blue, opacity.
        T: frame <- marker (4, 4) [m].
    """
    message = Marker()
    message.header.frame_id = frame
    message.ns = namespace
    message.type = kind
    message.action = Marker.ADD
    message.frame_locked = True
    message.pose = pose_message(T)
    message.color = ColorRGBA(**dict(zip("rgba", map(float, color), strict=True)))
    return message


def set_scale(message: Marker, x: float, y: float, z: float) -> Marker:
    """Set the size of a marker [m] and return it."""
    message.scale.x, message.scale.y, message.scale.z = float(x), float(y), float(z)
    return message


def thing_markers(thing: Thing) -> list[Marker]:
    """Return the parts of a thing, in its own frame, with which they move if it is carried."""
    kinds = {"box": Marker.CUBE, "cylinder": Marker.CYLINDER}
    markers = []
    for i, part in enumerate(thing.parts):
        name = f"{thing.kind}/{thing.name}"
        message = marker(thing.name, name, kinds[part.kind], part.color, part.pose)
        message.id = i
        size = part.size
        if part.kind == "cylinder":
            size = (2.0 * size[0], 2.0 * size[0], size[1])
        markers.append(set_scale(message, *size))
    return markers


def shaft_marker(bolt: Bolt) -> Marker:
    """Return the core of a bolt, of the thread's minor diameter (ISO 68-1: d - 1.0825 p)."""
    middle = bolt.pose @ shift_z(bolt.length / 2.0)
    core = bolt.diameter - 1.0825 * bolt.pitch
    message = marker(BASE_FRAME, f"bolt/{bolt.name}", Marker.CYLINDER, STEEL, middle)
    return set_scale(message, core, core, bolt.length)


def groove_marker(bolt: Bolt) -> Marker:
    """Return the crest of a bolt's thread as a line."""
    count = int(GROOVE_POINTS * bolt.length / bolt.pitch)
    angle = np.arange(count + 1) * (2.0 * math.pi / GROOVE_POINTS)
    depth = angle / (2.0 * math.pi) * bolt.pitch
    radius = bolt.diameter / 2.0 - bolt.pitch / 8.0
    turn = bolt.hand * angle
    message = marker(BASE_FRAME, f"thread/{bolt.name}", Marker.LINE_STRIP, STEEL, bolt.pose)
    message.points = [
        Point(x=radius * math.cos(a), y=radius * math.sin(a), z=float(d))
        for a, d in zip(turn, depth, strict=True)
    ]
    return set_scale(message, bolt.pitch / 2.0, 0.0, 0.0)


def name_marker(bolt: Bolt) -> Marker:
    """Return the name of a bolt, written above its free end."""
    above = np.array(bolt.pose)
    above[2, 3] += 0.022
    message = marker(BASE_FRAME, f"name/{bolt.name}", Marker.TEXT_VIEW_FACING, INK, above)
    message.text = bolt.name.replace("_", " ")
    return set_scale(message, 0.0, 0.0, 0.008)


def nut_marker(nut: Nut, hole: float) -> Marker:
    """Return the hexagon nut in its own frame, as triangles.

    Args:
        nut: The nut.
        hole: Diameter of its hole [m].
    """
    message = marker(NUT_FRAME, "nut", Marker.TRIANGLE_LIST, BRASS, np.eye(4))
    message.points = [Point(x=x, y=y, z=z) for x, y, z in nut_triangles(nut, hole).tolist()]
    return set_scale(message, 1.0, 1.0, 1.0)


def nut_triangles(nut: Nut, hole: float) -> Array:
    """Return the corners of a nut's triangles (3 k, 3) [m], seen from outside counter-clockwise.

    The wall between the hexagon and the hole is cut into 24 sectors of one section each.
    """
    count = 24
    angles = np.arange(count + 1) * (2.0 * math.pi / count)
    from_flat = (angles + math.pi / 6.0) % (math.pi / 3.0) - math.pi / 6.0
    outer = nut.across_flats / 2.0 / np.cos(from_flat)
    around = np.column_stack([np.cos(angles), np.sin(angles)])
    half = nut.thickness / 2.0
    rings = [
        np.column_stack([around * radius, np.full(count + 1, z)])
        for radius, z in (
            (outer[:, None], half),
            (outer[:, None], -half),
            (hole / 2.0, -half),
            (hole / 2.0, half),
        )
    ]
    triangles = []
    for a, b in zip(rings, rings[1:] + rings[:1], strict=True):
        for i in range(count):
            triangles += [a[i], b[i], b[i + 1], a[i], b[i + 1], a[i + 1]]
    return np.array(triangles)


def text_marker(text: str, height: float) -> Marker:
    """Return a line of text above the arm, at a height [m] over the base."""
    T = np.eye(4)
    T[2, 3] = height
    message = marker(BASE_FRAME, "task_text", Marker.TEXT_VIEW_FACING, INK, T)
    message.text = text
    if not text:
        message.action = Marker.DELETE
    return set_scale(message, 0.0, 0.0, 0.012)
