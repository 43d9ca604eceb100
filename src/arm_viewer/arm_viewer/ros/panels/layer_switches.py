# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Switches for kinematics_markers, by the parameters markers.* of its node, and for contacts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from arm_common.ros.qos import STEADY_CLOCK
from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter

from arm_viewer.browser.callbacks import PageGui
from arm_viewer.ros.service_client import ServiceClient

PREFIX = "markers"
FORMER_POSTURES = f"{PREFIX}.former_postures"
CONTACTS = "ground_truth/contacts"
RETRY_PERIOD = 1.0  # [s] until the kinematics node is there


class LayerSwitches:
    """A folder with a checkbox for each layer, added when the kinematics node is there."""

    def __init__(self, node: Node, gui: PageGui) -> None:
        self._gui = gui
        self._list = ServiceClient(node, ListParameters, "kinematics/list_parameters")
        self._get = ServiceClient(node, GetParameters, "kinematics/get_parameters")
        self._set = ServiceClient(node, SetParameters, "kinematics/set_parameters")
        self._timer = node.create_timer(RETRY_PERIOD, self._request_names, clock=STEADY_CLOCK)

    def _request_names(self) -> None:
        if self._get.ready and self._set.ready:
            self._list.call(self._on_names, prefixes=[PREFIX])

    def _on_names(self, response: ListParameters.Response) -> None:
        names = list(response.result.names)
        if names:
            self._get.call(lambda found: self._add_folder(names, found.values), names=names)

    def _add_folder(self, names: Sequence[str], values: Sequence[ParameterValue]) -> None:
        if self._timer.is_canceled():
            return  # An earlier response has already been used.
        self._timer.cancel()
        with self._gui.elements.add_folder("Kinematics", order=5, expand_by_default=False):
            for name, value in zip(names, values, strict=True):
                if value.type == ParameterType.PARAMETER_BOOL:
                    label = name.removeprefix(f"{PREFIX}.").replace("_", " ").capitalize()
                    box = self._gui.checkbox(label, value.bool_value, partial(self._switch, name))
                    if name == FORMER_POSTURES:
                        self._gui.button("Clear former postures", partial(self._clear, name, box))

    def _switch(self, name: str, *states: bool) -> None:
        """Switch a layer to each of some states in turn."""
        self._set.call(parameters=[Parameter(name, value=on).to_parameter_msg() for on in states])

    def _clear(self, name: str, box: Any) -> None:
        """Clear a layer that is cleared when it is switched off."""
        if box.value:
            self._switch(name, False, True)


class ContactSwitch:
    """A checkbox for the contact forces of a simulation, added when one publishes them.

    They are published only while someone subscribes; `switch` is called with the topic.
    """

    def __init__(self, node: Node, gui: PageGui, switch: Callable[[str, bool], None]) -> None:
        self._node, self._gui, self._switch = node, gui, switch
        self._timer = node.create_timer(RETRY_PERIOD, self._find, clock=STEADY_CLOCK)

    def _find(self) -> None:
        if self._node.count_publishers(CONTACTS):
            self._timer.cancel()
            with self._gui.elements.add_folder("Simulation", order=6):
                self._gui.checkbox("Contact forces", False, partial(self._switch, CONTACTS))
