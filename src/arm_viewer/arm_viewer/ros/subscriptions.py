# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is to be seen, from topics onto the stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from arm_common.ros.executor import QUIET
from rcl_interfaces.msg import Log
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from arm_interfaces.msg import NutState
from arm_viewer.browser import panel
from arm_viewer.browser.view import SceneView
from arm_viewer.errors import ViewerError
from arm_viewer.scene.robot import read_robot

LOUD = int.from_bytes(Log.WARN, "little") if isinstance(Log.WARN, bytes) else int(Log.WARN)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# A message of markers may hold a part of them only: none must be lost in the queue.
MARKERS = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class SceneSubscriptions:
    """Subscribes what needs no answer.

    robot_description, robot_file/status, task_text (std_msgs/String, latched); markers
    (visualization_msgs/MarkerArray, latched); nut_world/state (arm_interfaces/NutState); /rosout.

    Args:
        node: The node that hears.
        stage: Takes what is heard.
        marker_topics: Where markers come from.
        touch: Called after each message that changed something.
        saved: Called when the robot's file was saved and is right.
        complain: Called with what cannot be shown.
    """

    def __init__(
        self,
        node: Node,
        stage: SceneView,
        marker_topics: Sequence[str],
        touch: Callable[[], None],
        saved: Callable[[], None],
        complain: Callable[[ViewerError], None],
    ) -> None:
        self._node, self._stage = node, stage
        self._touch, self._saved, self._complain = touch, saved, complain
        hear = partial(node.create_subscription, event_callbacks=QUIET)
        hear(String, "robot_description", self._on_robot, LATCHED)
        hear(String, "robot_file/status", self._on_file, LATCHED)
        hear(String, "task_text", self._on_task, LATCHED)
        hear(NutState, "nut_world/state", self._on_nut, 10)
        hear(Log, "/rosout", self._on_log, 10)
        for topic in marker_topics:
            hear(MarkerArray, topic, partial(self._on_markers, topic), MARKERS)

    def _on_robot(self, message: String) -> None:
        try:
            self._stage.store.set_robot(read_robot(message.data))
            self._stage.refusal = ""
        except ViewerError as error:
            self._stage.refusal = str(error)
            self._complain(error)
        self._touch()

    def _on_file(self, message: String) -> None:
        self._stage.store.set_text("file", message.data)
        if not message.data:
            self._saved()
        self._touch()

    def _on_task(self, message: String) -> None:
        self._stage.store.set_text("task", message.data)
        self._touch()

    def _on_log(self, message: Log) -> None:
        """Show the last warning or error that any other node has logged."""
        if message.level >= LOUD and message.name != self._node.get_name():
            self._stage.store.set_text("log", f"{message.name}: {message.msg}")
            self._touch()

    def _on_nut(self, message: NutState) -> None:
        self._stage.store.set_text("nut", panel.nut_text(message))
        self._touch()

    def _on_markers(self, topic: str, message: MarkerArray) -> None:
        now = 1e-9 * float(self._node.get_clock().now().nanoseconds)
        for error in self._stage.store.markers.apply(topic, message.markers, now):
            self._complain(error)
        self._touch()
