# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Publishes the scene: frames on tf, things and nut as markers, what the task is doing."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import TransformStamped
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from arm_interfaces.msg import NutState
from arm_tasks.ros_conversions import LATCHED, transform_matrix, transform_message
from arm_tasks.scene import BASE_FRAME, Scene
from arm_tasks.scene_markers import NUT_FRAME, scene_markers, text_marker

TEXT_HEIGHT = 0.33  # m above the base, clear of the arm
SECOND = 1.0  # s on the wall
GREETED = 2  # s after which who came gets all once more: by then it has heard of the frames
SETTLED = 5  # s without another text until all is sent, for the latched message to be complete


class SceneNode(Node):
    """Shows the scene.

    Publishers:
        tf_static: frames of bolts, boxes and named places.
        tf: the frame `nut`, as nut_world/state has it, and those of payloads, as
            payload_world/poses has them; where there is no nut_world, as the scene.
        scene_markers: latched. Whoever comes gets all of them; when the text changes, only it is
            sent, and all when it has not changed for a while.

    Subscribers:
        nut_world/state, payload_world/poses, task_text.
    """

    def __init__(self, scene: Scene) -> None:
        # its own name, although it shares a process whose command line names another node
        super().__init__("scene", cli_args=["--ros-args", "-r", "__node:=scene"])
        self._scene = scene
        self._static = self.create_publisher(TFMessage, "tf_static", LATCHED)
        self._tf = self.create_publisher(TFMessage, "tf", QoSProfile(depth=100))
        self._whole_in = 0  # s
        self._markers = self.create_publisher(
            MarkerArray,
            "scene_markers",
            LATCHED,
            event_callbacks=PublisherEventCallbacks(matched=self._on_matched),
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(SECOND, self._each_second, clock=steady)
        self._text = ""
        self._nut: TransformStamped | None = None
        if scene.nut is not None:
            start = transform_message(
                BASE_FRAME, NUT_FRAME, scene.nut_start(), self.get_clock().now().to_msg()
            )
            self._send_nut(start)
            self.create_timer(1.0, self._repeat_nut)
        self._payloads = {k: t.pose for k, t in scene.things.items() if t.is_payload}
        if self._payloads:
            self._send_payloads()
            self.create_timer(1.0, self._send_payloads)  # for those who come late
        self._publish_frames()
        self._publish_markers()
        self.create_subscription(NutState, "nut_world/state", self._on_nut, 10)
        self.create_subscription(TFMessage, "payload_world/poses", self._on_payloads, LATCHED)
        self.create_subscription(String, "task_text", self._on_text, LATCHED)

    def show(self, scene: Scene) -> None:
        """Show another scene, such as one of which a bolt was moved."""
        self._scene = scene
        self._publish_frames()
        self._publish_markers(anew=True)

    def _publish_frames(self) -> None:
        """Publish every frame of the scene that stays, once."""
        stamp = self.get_clock().now().to_msg()
        still = [(k, T) for k, T in self._scene.frames.items() if k not in self._payloads]
        frames = [transform_message(BASE_FRAME, name, T, stamp) for name, T in still]
        self._static.publish(TFMessage(transforms=frames))

    def _publish_markers(self, anew: bool = False) -> None:
        """Publish the whole picture, so that the latched message is complete.

        Args:
            anew: Take away what is there; some of it may be of another scene.
        """
        old = [Marker(action=Marker.DELETEALL)] if anew else []
        markers = [*scene_markers(self._scene), text_marker(self._text, TEXT_HEIGHT)]
        self._markers.publish(MarkerArray(markers=[*old, *markers]))

    def _on_matched(self, status: Any) -> None:
        """Send all to who came."""
        if status.current_count_change > 0:
            self._publish_markers()
            self._whole_in = GREETED

    def _each_second(self) -> None:
        if self._whole_in:
            self._whole_in -= 1
            if not self._whole_in:
                self._publish_markers()

    def _on_nut(self, state: NutState) -> None:
        """Move the nut's frame."""
        message = TransformStamped()
        message.header = state.pose.header
        message.child_frame_id = NUT_FRAME
        translation, position = message.transform.translation, state.pose.pose.position
        translation.x, translation.y, translation.z = position.x, position.y, position.z
        message.transform.rotation = state.pose.pose.orientation
        self._send_nut(message)

    def _on_payloads(self, message: TFMessage) -> None:
        """Move the frames of payloads."""
        for frame in message.transforms:
            if frame.child_frame_id in self._payloads:
                self._payloads[frame.child_frame_id] = transform_matrix(frame.transform)
        self._send_payloads()

    def _send_payloads(self) -> None:
        """Publish where the payloads are."""
        stamp = self.get_clock().now().to_msg()
        poses = self._payloads.items()
        frames = [transform_message(BASE_FRAME, name, T, stamp) for name, T in poses]
        if frames:
            self._tf.publish(TFMessage(transforms=frames))

    def _repeat_nut(self) -> None:
        """Tell those who came late where the nut is."""
        if self._nut is not None:
            self._nut.header.stamp = self.get_clock().now().to_msg()
            self._send_nut(self._nut)

    def _send_nut(self, message: TransformStamped) -> None:
        """Publish where the nut is."""
        self._nut = message
        self._tf.publish(TFMessage(transforms=[message]))

    def _on_text(self, message: String) -> None:
        """Show what the task is doing."""
        if message.data != self._text:
            self._text = message.data
            text = text_marker(self._text, TEXT_HEIGHT)
            self._markers.publish(MarkerArray(markers=[text]))
            self._whole_in = SETTLED
