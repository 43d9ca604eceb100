# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Subscribes to the topics that describe the scene, and adds the switches of their markers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from arm_common.errors import one_line
from arm_common.ros.executor import QUIET
from arm_common.ros.qos import LATCHED, MARKERS, STEADY_CLOCK
from arm_common.ros.service_client import ServiceClient
from arm_description.ros.description import DescriptionSubscription
from rcl_interfaces.msg import Log, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.subscription import Subscription
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from arm_interfaces.msg import NutState
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.sidebar import PATH
from arm_viewer.browser.tabs import VIEW
from arm_viewer.browser.texts import nut_text
from arm_viewer.port import ShownPage

LOG_SHOWN = 20.0  # [s]
PREFIX = "markers"
FORMER_POSTURES = "former_postures"
BESIDE_PATH = ("trace", FORMER_POSTURES)  # layers in the folder of the tool's path
FRAME_LAYERS = ("link_frames", "dh_frames")  # the page draws and switches these frames itself
CONTACTS = "ground_truth/contacts"
RETRY_PERIOD = 1.0  # [s] between two looks for a node
WARN = int.from_bytes(Log.WARN, "little") if isinstance(Log.WARN, bytes) else int(Log.WARN)


class SceneSubscriptions:
    """Passes received messages on to the page.

    Subscribes robot_description, arm_hardware/limits, robot_file/status, scene_file/status,
    task_text (std_msgs/String, latched); markers (visualization_msgs/MarkerArray, latched);
    nut_world/state (arm_interfaces/NutState); /rosout. The contact forces of a simulation, which
    are published only while someone subscribes, get a checkbox as soon as one offers them.

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
        self._contacts: Subscription | None = None  # while they are shown
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
        self._search = node.create_timer(RETRY_PERIOD, self._find_contacts, clock=STEADY_CLOCK)

    def _find_contacts(self) -> None:
        if self._node.count_publishers(CONTACTS):
            self._search.cancel()
            with _layer_folder(self._page.gui, CONTACTS):
                self._page.gui.checkbox("Contact forces", False, self._switch_contacts)

    def _switch_contacts(self, on: bool) -> None:
        if on:
            self._contacts = self._subscribe_markers(CONTACTS)
        elif self._contacts is not None:
            self._node.destroy_subscription(self._contacts)
            self._contacts = None
            self._on_markers(CONTACTS, MarkerArray(markers=[Marker(action=Marker.DELETEALL)]))

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


def _layer_folder(gui: PageGui, name: str) -> Any:
    """Return the folder with the switch of a layer."""
    title, order = PATH if name in BESIDE_PATH else ("Layers", 5.0)
    return gui.tabs.folder(VIEW, title, order=order)


class LayerSwitches:
    """A checkbox for each layer, added when the kinematics node is there."""

    def __init__(self, node: Node, gui: PageGui) -> None:
        self._gui = gui
        self._list = ServiceClient(node, ListParameters, "kinematics/list_parameters")
        self._get = ServiceClient(node, GetParameters, "kinematics/get_parameters")
        self._set = ServiceClient(node, SetParameters, "kinematics/set_parameters")
        self._timer = node.create_timer(RETRY_PERIOD, self._request_names, clock=STEADY_CLOCK)

    def _request_names(self) -> None:
        if self._get.is_ready and self._set.is_ready:
            self._list.send(self._on_names, prefixes=[PREFIX])

    def _on_names(self, response: ListParameters.Response) -> None:
        names = list(response.result.names)
        if names:
            self._get.send(lambda reply: self._add_switches(names, reply.values), names=names)

    def _add_switches(self, names: Sequence[str], values: Sequence[ParameterValue]) -> None:
        if self._timer.is_canceled():
            return  # An earlier response has already been used.
        self._timer.cancel()
        for name, value in zip(names, values, strict=True):
            layer = name.removeprefix(f"{PREFIX}.")
            if value.type == ParameterType.PARAMETER_BOOL and layer not in FRAME_LAYERS:
                with _layer_folder(self._gui, layer):
                    self._add_switch(name, layer, value.bool_value)

    def _add_switch(self, name: str, layer: str, on: bool) -> None:
        label = layer.replace("_", " ").capitalize()
        box = self._gui.checkbox(label, on, partial(self._switch, name))
        if layer == FORMER_POSTURES:
            self._gui.button("Clear former postures", partial(self._clear, name, box))

    def _switch(self, name: str, *states: bool) -> None:
        """Switch a layer to each of some states in turn."""
        self._set.send(parameters=[Parameter(name, value=on).to_parameter_msg() for on in states])

    def _clear(self, name: str, box: Any) -> None:
        """Clear a layer that is cleared when it is switched off."""
        if box.value:
            self._switch(name, False, True)
