# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Publish a robot file again whenever it is saved, and report its errors.

Works with robot_state_publisher and with the state publisher of this package: both accept a new
``robot_description`` as a parameter at run time.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import rclpy
from arm_common.files.watching import PERIOD, FileWatch
from arm_common.ros.node_runner import run_node, session
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import LATCHED, STEADY_CLOCK
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String

from arm_description.errors import DescriptionError
from arm_description.library import DEFAULT_ROBOT, robot_path
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.sections.attachments import attached_files
from arm_description.robot_model import RobotModel
from arm_description.ros.description import DescriptionSender
from arm_description.urdf.assembly import changed_meshes
from arm_description.urdf.writer import robot_urdf


@dataclass(frozen=True)
class WatcherParameters:
    """Parameters of the node."""

    robot: str = parameter(
        DEFAULT_ROBOT, "Name of a shipped robot, or path of a robot file.", any_time=True
    )
    prefix: str = parameter("", "Prefix of every link and joint name.")
    dh_frames: bool = parameter(False, "Add the frames dh_0 .. dh_n.")
    publisher: str = parameter("robot_state_publisher", "Node that publishes the description.")


class RobotFileWatcher(Node):
    """Node ``robot_file_watcher``.

    Publishes:
        robot_file/status (std_msgs/String, latched): the error in the file after each reading, in
            one sentence; empty if there is none.

    Calls:
        <publisher>/set_parameters (rcl_interfaces/SetParameters), when the robot has changed.

    Raises:
        InputError: there is no such robot, or a parameter is invalid.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("robot_file_watcher", **kwargs)
        parameters = declare(self, WatcherParameters)
        self._path, self._prefix = robot_path(parameters.robot), parameters.prefix
        self._frames, publisher = parameters.dh_frames, parameters.publisher
        self._status = self.create_publisher(String, "robot_file/status", LATCHED)
        self._sender = DescriptionSender(self, publisher, self._on_answer)
        self._watch = self._watch_of(self._path)
        self._first: RobotModel | None = None  # for which the meshes of the file fit
        self.add_on_set_parameters_callback(self._validate)
        self.add_post_set_parameters_callback(self._on_parameters)
        self._problem = ""
        self.create_timer(PERIOD, self._poll, clock=STEADY_CLOCK)

    def _watch_of(self, path: Path) -> FileWatch:
        return FileWatch(path, partial(attached_files, folder=path.parent))

    def _poll(self) -> None:
        try:
            content = self._watch.poll()
            if content is not None:
                model = parse_robot(content, str(self._path))
                self._sender.send(robot_urdf(model, self._prefix, self._frames))
                self._first = self._first or model
                for sentence in changed_meshes(self._first, model):
                    self.get_logger().warning(sentence)
        except DescriptionError as error:
            self._sender.drop()
            self._report(str(error))
        except OSError as error:
            self._report(f"{self._path}: cannot be read ({error.strerror}); save it again")
        self._sender.poll()

    def _on_parameters(self, parameters: list[Parameter]) -> None:
        """Watch another file."""
        for given in parameters:
            if given.name == "robot":
                self._path = robot_path(given.value)
                self._watch, self._first = self._watch_of(self._path), None

    def _validate(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            for given in parameters:
                if given.name == "robot":
                    robot_path(given.value)
        except DescriptionError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _on_answer(self, reason: str) -> None:
        self._report(f"{self._path}: {reason}" if reason else "")

    def _report(self, problem: str) -> None:
        self._status.publish(String(data=problem))
        if problem:
            self.get_logger().warning(f"{problem} (keeping the last valid robot)")
        elif self._problem:
            self.get_logger().info(f"{self._path}: reloaded without errors")
        self._problem = problem


def main() -> int:
    """Run the node until a signal ends it; return the exit code."""
    return run_node(lambda: [RobotFileWatcher()])


def watched_robot(patience: float = 5.0) -> str:
    """Return the robot that a running watcher follows, "" if none answers in time [s]."""
    with session():
        node = rclpy.create_node("robot_file_client")
        client = node.create_client(GetParameters, "robot_file_watcher/get_parameters")
        if not client.wait_for_service(patience):
            return ""
        future = client.call_async(GetParameters.Request(names=["robot"]))
        rclpy.spin_until_future_complete(node, future, timeout_sec=patience)
        response = future.result()
        return str(response.values[0].string_value) if response else ""
