# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Switches for the layers of kinematics_markers: parameters markers.* of the kinematics node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from arm_viewer.browser.server import CallbackQueue, on_user

if TYPE_CHECKING:
    import viser

# mypy: disable-error-code="no-untyped-call"


PREFIX = "markers"
LOOK_AGAIN = 1.0  # [s] until the node is there


class LayerSwitches:
    """A folder with a checkbox for each layer, made when the kinematics node is there.

    Args:
        node: The node that speaks ROS.
        server: viser's server.
        mailbox: Takes the users' actions over to the node's thread.
    """

    def __init__(self, node: Node, server: viser.ViserServer, mailbox: CallbackQueue) -> None:
        self._gui, self._mailbox = server.gui, mailbox
        self._boxes: dict[str, Any] = {}
        self._list = node.create_client(ListParameters, "kinematics/list_parameters")
        self._get = node.create_client(GetParameters, "kinematics/get_parameters")
        self._set = node.create_client(SetParameters, "kinematics/set_parameters")
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(LOOK_AGAIN, self._look, clock=steady)

    def _look(self) -> None:
        if all(c.service_is_ready() for c in (self._list, self._get, self._set)):
            request = ListParameters.Request(prefixes=[PREFIX])
            self._list.call_async(request).add_done_callback(self._on_names)

    def _on_names(self, future: Any) -> None:
        names = list(future.result().result.names)
        if self._boxes or not names:
            return
        request = GetParameters.Request(names=names)
        self._get.call_async(request).add_done_callback(
            lambda done: self._on_values(names, done.result().values)
        )

    def _on_values(self, names: list[str], values: list[ParameterValue]) -> None:
        if self._boxes:
            return
        self._timer.cancel()
        with self._gui.add_folder("Kinematics", order=5, expand_by_default=False):
            for name, value in zip(names, values, strict=True):
                if value.type == ParameterType.PARAMETER_BOOL:
                    self._add(name, value.bool_value)

    def _add(self, name: str, on: bool) -> None:
        label = name.removeprefix(f"{PREFIX}.").replace("_", " ").capitalize()
        box = self._boxes[name] = self._gui.add_checkbox(label, on)
        on_user(self._mailbox, box.on_update, lambda: self._switch(name, box.value))

    def _switch(self, name: str, on: bool) -> None:
        value = ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=on)
        request = SetParameters.Request(parameters=[Parameter(name=name, value=value)])
        self._set.call_async(request)
