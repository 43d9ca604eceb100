# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Shows a robot that is being edited: to the state publisher, before its file is saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from arm_common.ros.qos import STEADY_CLOCK
from arm_description.ros.robot_file_watcher import PERIOD, DescriptionSender
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node

from arm_description import RobotModel
from arm_viewer.ros.service_client import ServiceClient
from arm_viewer.scene.robot import PostureBook


class RobotDisplay:
    """Sends robots to robot_state_publisher, and files to robot_file_watcher.

    `report` takes why a robot cannot be shown, in one sentence, or ""; `on_postures` is called
    when its postures have changed.
    """

    def __init__(
        self,
        node: Node,
        postures: PostureBook,
        prefix: str,
        report: Callable[[str], None],
        on_postures: Callable[[], None],
    ) -> None:
        self._postures, self._prefix, self._on_postures = postures, prefix, on_postures
        self._sender = DescriptionSender(node, "robot_state_publisher", report)
        self._watcher = ServiceClient(node, SetParameters, "robot_file_watcher/set_parameters")
        node.create_timer(PERIOD, self._sender.poll, clock=STEADY_CLOCK)

    def show(self, model: RobotModel) -> None:
        """Show a robot with its postures."""
        if self._postures.take(model):
            self._on_postures()
        self._sender.send(model.to_urdf(self._prefix))

    def watch(self, path: Path) -> None:
        """Let the watcher follow another file."""
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=str(path))
        request = SetParameters.Request(parameters=[Parameter(name="robot", value=value)])
        self._watcher.call(request)
