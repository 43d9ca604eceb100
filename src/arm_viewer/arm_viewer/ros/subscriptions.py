# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Subscribes to the topics that describe the scene."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from arm_common.errors import one_line
from arm_common.ros.executor import QUIET
from arm_common.ros.qos import LATCHED, MARKERS, STEADY_CLOCK
from arm_description.ros.description import DescriptionSubscription
from rcl_interfaces.msg import Log
from rclpy.node import Node
from rclpy.subscription import Subscription
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from arm_interfaces.msg import NutState
from arm_viewer.browser.texts import nut_text
from arm_viewer.port import ShownPage

LOG_SHOWN = 20.0  # [s]
WARN = int.from_bytes(Log.WARN, "little") if isinstance(Log.WARN, bytes) else int(Log.WARN)


class SceneSubscriptions:
    """Passes received messages on to the page.

    Subscribes robot_description, arm_hardware/limits, robot_file/status, scene_file/status,
    task_text (std_msgs/String, latched); markers (visualization_msgs/MarkerArray, latched);
    nut_world/state (arm_interfaces/NutState); /rosout.

    Args:
        node: of the page.
        page: shows what they contain.
        marker_topics: those that are shown at first.
        is_drawn: returns whether a robot description is drawn already.
    """

    def __init__(
        self,
        node: Node,
        page: ShownPage,
        marker_topics: Sequence[str],
        is_drawn: Callable[[str], bool],
    ) -> None:
        self._node, self._page, self._is_drawn = node, page, is_drawn
        self._switched: dict[str, Subscription] = {}
        self._log_end = node.create_timer(LOG_SHOWN, self._forget_log, clock=STEADY_CLOCK)
        self._log_end.cancel()
        subscribe = partial(node.create_subscription, event_callbacks=QUIET)
        DescriptionSubscription(node, self._on_robot, event_callbacks=QUIET)
        subscribe(String, "robot_file/status", self._on_file, LATCHED)
        subscribe(String, "scene_file/status", self._on_scene_file, LATCHED)
        subscribe(String, "task_text", self._on_task, LATCHED)
        subscribe(NutState, "nut_world/state", self._on_nut, 10)
        subscribe(Log, "/rosout", self._on_log, 10)
        for topic in marker_topics:
            self._subscribe_markers(topic)

    def switch_markers(self, topic: str, on: bool) -> None:
        """Draw the markers of a topic from now on, or no longer."""
        if on:
            self._switched[topic] = self._subscribe_markers(topic)
        elif topic in self._switched:
            self._node.destroy_subscription(self._switched.pop(topic))
            self._on_markers(topic, MarkerArray(markers=[Marker(action=Marker.DELETEALL)]))

    def _subscribe_markers(self, topic: str) -> Subscription:
        callback = partial(self._on_markers, topic)
        return self._node.create_subscription(
            MarkerArray, topic, callback, MARKERS, event_callbacks=QUIET
        )

    def _on_robot(self, message: String) -> None:
        if not self._is_drawn(message.data):
            self._page.show_robot(message.data)

    def _on_file(self, message: String) -> None:
        self._page.show_text("file", message.data or self._page.robot_file_changed())

    def _on_scene_file(self, message: String) -> None:
        self._page.scene_file_changed()
        self._page.show_text("scene", message.data)

    def _on_task(self, message: String) -> None:
        self._page.show_text("task", message.data)

    def _on_nut(self, message: NutState) -> None:
        self._page.work_on_nut(bool(message.grasped))
        self._page.show_text("nut", nut_text(message))

    def _on_log(self, message: Log) -> None:
        """Show the last warning or error of any other node, without a traceback."""
        if message.level >= WARN and message.name != self._node.get_name():
            text = one_line(message.msg.partition("\n")[0])
            name = one_line(message.name, 100).replace("_", " ")
            self._page.show_text("log", f"{name}: {text}")
            self._log_end.reset()

    def _forget_log(self) -> None:
        self._log_end.cancel()
        self._page.show_text("log", "")

    def _on_markers(self, topic: str, message: MarkerArray) -> None:
        self._page.show_markers(topic, message.markers)
