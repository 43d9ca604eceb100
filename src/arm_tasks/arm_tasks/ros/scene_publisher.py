# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Publishes the scene: frames on tf; objects, nut and the task's message as markers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from arm_common.ros.messages import pose_message, transform_matrix, transform_message
from arm_common.ros.qos import LATCHED
from arm_common.transforms import Array, shift_z
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, TransformStamped
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import ColorRGBA, String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from arm_interfaces.msg import NutState
from arm_tasks.scene.objects import SceneObject
from arm_tasks.scene.scene import BASE_FRAME, Bolt, Nut, Scene

_STEEL = (0.62, 0.65, 0.70, 1.0)
_BRASS = (0.90, 0.66, 0.18, 1.0)
_INK = (0.12, 0.14, 0.18, 1.0)
_THREAD_POINTS = 24  # per turn
_NUT_SECTORS = 24
NUT_FRAME = "nut"
_TEXT_HEIGHT = 0.33  # [m] above the base, clear of the arm
_PERIOD = 1.0  # [s] of wall time
_LATE_JOINER_DELAY = 2  # [s] republish once the new subscriber has received tf
_SETTLING_TIME = 5  # [s] without a new text until the latched message is completed


def _scene_markers(scene: Scene) -> list[Marker]:
    """Return the markers of objects, bolts and nut, each in its frame."""
    markers = [part for thing in scene.things.values() for part in _object_markers(thing)]
    for bolt in scene.bolts.values():
        markers += [_shaft_marker(bolt), _thread_marker(bolt), _name_marker(bolt)]
    if scene.nut is not None:
        markers.append(_nut_marker(scene.nut, max(b.diameter for b in scene.bolts.values())))
    return markers


def _marker(frame: str, namespace: str, kind: int, color: tuple[float, ...], T: Array) -> Marker:
    message = Marker()
    message.header.frame_id = frame
    message.ns = namespace
    message.type = kind
    message.action = Marker.ADD
    message.frame_locked = True
    message.pose = pose_message(T)
    message.color = ColorRGBA(**dict(zip("rgba", map(float, color), strict=True)))
    return message


def _set_scale(message: Marker, x: float, y: float, z: float) -> Marker:
    message.scale.x, message.scale.y, message.scale.z = float(x), float(y), float(z)
    return message


def _object_markers(thing: SceneObject) -> list[Marker]:
    kinds = {"box": Marker.CUBE, "cylinder": Marker.CYLINDER}
    markers = []
    for i, part in enumerate(thing.parts):
        name = f"{thing.kind}/{thing.name}"
        message = _marker(thing.name, name, kinds[part.kind], part.color, part.pose)
        message.id = i
        size = part.size
        if part.kind == "cylinder":
            size = (2.0 * size[0], 2.0 * size[0], size[1])
        markers.append(_set_scale(message, *size))
    return markers


def _shaft_marker(bolt: Bolt) -> Marker:
    """Return the core of a bolt, with the minor diameter (ISO 68-1: d - 1.0825 p)."""
    middle = bolt.pose @ shift_z(bolt.length / 2.0)
    core = bolt.diameter - 1.0825 * bolt.pitch
    message = _marker(BASE_FRAME, f"bolt/{bolt.name}", Marker.CYLINDER, _STEEL, middle)
    return _set_scale(message, core, core, bolt.length)


def _thread_marker(bolt: Bolt) -> Marker:
    """Return the crest of a bolt's thread as a line."""
    count = int(_THREAD_POINTS * bolt.length / bolt.pitch)
    angle = np.arange(count + 1) * (2.0 * math.pi / _THREAD_POINTS)
    depth = angle / (2.0 * math.pi) * bolt.pitch
    radius = bolt.diameter / 2.0 - bolt.pitch / 8.0
    turned = bolt.hand * angle
    message = _marker(BASE_FRAME, f"thread/{bolt.name}", Marker.LINE_STRIP, _STEEL, bolt.pose)
    message.points = [
        Point(x=radius * math.cos(a), y=radius * math.sin(a), z=float(d))
        for a, d in zip(turned, depth, strict=True)
    ]
    return _set_scale(message, bolt.pitch / 2.0, 0.0, 0.0)


def _name_marker(bolt: Bolt) -> Marker:
    above = np.array(bolt.pose)
    above[2, 3] += 0.022
    message = _marker(BASE_FRAME, f"name/{bolt.name}", Marker.TEXT_VIEW_FACING, _INK, above)
    message.text = bolt.name.replace("_", " ")
    return _set_scale(message, 0.0, 0.0, 0.008)


def _nut_marker(nut: Nut, hole: float) -> Marker:
    message = _marker(NUT_FRAME, "nut", Marker.TRIANGLE_LIST, _BRASS, np.eye(4))
    message.points = [Point(x=x, y=y, z=z) for x, y, z in _nut_triangles(nut, hole).tolist()]
    return _set_scale(message, 1.0, 1.0, 1.0)


def _nut_triangles(nut: Nut, hole: float) -> Array:
    """Return the corners of a nut's triangles (3 k, 3) [m], counter-clockwise seen from outside.

    Each sector of the wall between hexagon and hole is one section.
    """
    count = _NUT_SECTORS
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


def _text_marker(text: str, height: float) -> Marker:
    T = np.eye(4)
    T[2, 3] = height
    message = _marker(BASE_FRAME, "task_text", Marker.TEXT_VIEW_FACING, _INK, T)
    message.text = text
    if not text:
        message.action = Marker.DELETE
    return _set_scale(message, 0.0, 0.0, 0.012)


def tf_message(frames: Iterable[tuple[str, Array]], stamp: Time) -> TFMessage:
    """Return base_link <- frame (4, 4) [m] of each named frame as one message of tf."""
    transforms = [transform_message(BASE_FRAME, name, T, stamp) for name, T in frames]
    return TFMessage(transforms=transforms)


class SceneNode(Node):
    """Publishes the scene.

    Publishers:
        tf_static: fixed frames: bolts, objects and named frames.
        tf: the nut from nut_world/state and payloads from payload_world/poses, or both from the
            scene without a simulated world.
        scene_markers: latched. New subscribers get all markers. A new text is published alone,
            and all markers once it has not changed for a while.

    Subscribers:
        nut_world/state, payload_world/poses, task_text.
    """

    def __init__(self, scene: Scene) -> None:
        # the command line of the shared process names another node
        super().__init__("scene", cli_args=["--ros-args", "-r", "__node:=scene"])
        self._scene = scene
        self._static = self.create_publisher(TFMessage, "tf_static", LATCHED)
        self._tf = self.create_publisher(TFMessage, "tf", QoSProfile(depth=100))
        self._republish_in = 0  # s
        self._markers = self.create_publisher(
            MarkerArray,
            "scene_markers",
            LATCHED,
            event_callbacks=PublisherEventCallbacks(matched=self._on_matched),
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(_PERIOD, self._on_timer, clock=steady)
        self._text = ""
        self._nut: TransformStamped | None = None
        if scene.nut is not None:
            start = transform_message(
                BASE_FRAME, NUT_FRAME, scene.nut_start(), self.get_clock().now().to_msg()
            )
            self._publish_nut(start)
            self.create_timer(1.0, self._repeat_nut)
        self._payloads = {k: t.pose for k, t in scene.things.items() if t.is_payload}
        self._publish_payloads()
        self.create_timer(1.0, self._publish_payloads)  # for late subscribers
        self._publish_frames()
        self._publish_markers()
        self.create_subscription(NutState, "nut_world/state", self._on_nut, 10)
        self.create_subscription(TFMessage, "payload_world/poses", self._on_payloads, LATCHED)
        self.create_subscription(String, "task_text", self._on_text, LATCHED)

    def show(self, scene: Scene) -> None:
        """Publish another scene, such as one with a moved bolt."""
        self._scene = scene
        self._publish_frames()
        self._publish_markers(replace=True)

    def _publish_frames(self) -> None:
        stamp = self.get_clock().now().to_msg()
        fixed = [(k, T) for k, T in self._scene.frames.items() if k not in self._payloads]
        self._static.publish(tf_message(fixed, stamp))

    def _publish_markers(self, replace: bool = False) -> None:
        old = [Marker(action=Marker.DELETEALL)] if replace else []
        markers = [*_scene_markers(self._scene), _text_marker(self._text, _TEXT_HEIGHT)]
        self._markers.publish(MarkerArray(markers=[*old, *markers]))

    def _on_matched(self, status: Any) -> None:
        if status.current_count_change > 0:
            self._publish_markers()
            self._republish_in = _LATE_JOINER_DELAY

    def _on_timer(self) -> None:
        if self._republish_in:
            self._republish_in -= 1
            if not self._republish_in:
                self._publish_markers()

    def _on_nut(self, state: NutState) -> None:
        message = TransformStamped()
        message.header = state.pose.header
        message.child_frame_id = NUT_FRAME
        translation, position = message.transform.translation, state.pose.pose.position
        translation.x, translation.y, translation.z = position.x, position.y, position.z
        message.transform.rotation = state.pose.pose.orientation
        self._publish_nut(message)

    def _on_payloads(self, message: TFMessage) -> None:
        for frame in message.transforms:
            if frame.child_frame_id in self._payloads:
                self._payloads[frame.child_frame_id] = transform_matrix(frame.transform)
        self._publish_payloads()

    def _publish_payloads(self) -> None:
        if self._payloads:
            stamp = self.get_clock().now().to_msg()
            self._tf.publish(tf_message(self._payloads.items(), stamp))

    def _repeat_nut(self) -> None:
        if self._nut is not None:
            self._nut.header.stamp = self.get_clock().now().to_msg()
            self._publish_nut(self._nut)

    def _publish_nut(self, message: TransformStamped) -> None:
        self._nut = message
        self._tf.publish(TFMessage(transforms=[message]))

    def _on_text(self, message: String) -> None:
        if message.data != self._text:
            self._text = message.data
            text = _text_marker(self._text, _TEXT_HEIGHT)
            self._markers.publish(MarkerArray(markers=[text]))
            self._republish_in = _SETTLING_TIME
