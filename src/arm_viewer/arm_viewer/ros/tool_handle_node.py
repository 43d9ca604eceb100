# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""ROS node tool_handle: an interactive marker at the tool for RViz that the arm follows.

Like the browser's handle it uses the node kinematics for inverse kinematics; an unreachable target
is reported above the marker, and the arm does not move.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.ros.graph import Sliders
from arm_common.ros.message_conversions import pose_matrix, pose_message
from arm_common.ros.names import prefix_parameter, remember_positions
from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import STEADY_CLOCK
from arm_common.ros.tf import TfListener, TransformError
from arm_common.transforms import Array
from arm_description.ros.description import DescriptionSubscription
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import InteractiveMarkerFeedback

from arm_viewer.control.controls import solution_text
from arm_viewer.control.drag_handle import POSE_TOLERANCE
from arm_viewer.control.ik_follower import IkFollower, default_mode
from arm_viewer.errors import ViewerError
from arm_viewer.port import IK_MODES, IkRequest, Solution
from arm_viewer.ros.interactive_marker import (
    FIRST_MODE,
    FIRST_SOLUTION,
    LIST_SOLUTIONS,
    InteractiveServer,
    handle_marker,
    text_marker,
)
from arm_viewer.ros.joint_commands import TASK_RUNNING, DriverCommander
from arm_viewer.ros.service_client import IkClient
from arm_viewer.scene.robot import VisualRobot, read_robot

# mypy: disable-error-code="no-untyped-call"

PERIOD = 0.1  # [s] between updates of the marker's pose
HANDLE_SIZE = 0.15  # of the reach: about as long as a tool
FEEDBACK = InteractiveMarkerFeedback


@dataclass(frozen=True)
class ToolHandleParameters:
    """Parameters of the node."""

    prefix: str = prefix_parameter()
    tool_frame: str = parameter("", "Frame that is dragged; empty: tool0, with the prefix.")


class ToolHandleNode(Node):  # type: ignore[misc]
    """Serves the interactive marker tool_handle.

    Subscribes robot_description, arm_hardware/limits, joint_states, tf; publishes to
    arm_controller/joint_trajectory if there is a driver, else to joint_targets, which the
    browser's sliders follow; calls kinematics/solve_ik. Parameter tool_frame: the frame to be
    dragged.
    """

    def __init__(self) -> None:
        super().__init__("tool_handle")
        chosen = declare(self, ToolHandleParameters)
        self._tip = chosen.tool_frame or f"{chosen.prefix}tool0"
        self._robot: VisualRobot | None = None
        self._positions: dict[str, float] = {}
        self._mode, self._text, self._held = "Pose", "", False
        self._solutions: Sequence[str] = ()
        self._shown: Array | None = None
        self._is_hidden = False  # while a task runs
        self._driver = DriverCommander(self, lambda: self._positions, self._on_task)
        self._sliders = Sliders(self)
        self._server = InteractiveServer(self, "tool_handle", self._on_feedback)
        self._follower = IkFollower(
            IkClient(self, self._tip).send,
            lambda: self._positions,
            self._command,
            self._report,
            self._show_solutions,
            time.monotonic,
        )
        self._tf = TfListener(self)
        DescriptionSubscription(self, self._on_robot)
        self.create_subscription(JointState, "joint_states", self._on_joints, 10)
        self.create_timer(PERIOD, self._follow_tool, clock=STEADY_CLOCK)

    def _on_robot(self, message: String) -> None:
        try:
            self._robot = read_robot(message.data)
        except ViewerError as error:
            self.get_logger().warning(str(error))
            return
        arm = self._robot.joints_to(self._tip)
        self._driver.set_arm(arm, self._robot.constraints)
        self._shown, self._solutions = None, ()
        self._set_mode(default_mode(len(arm)))

    def _on_joints(self, message: JointState) -> None:
        remember_positions(self._positions, message.name, message.position)

    def _on_feedback(self, message: InteractiveMarkerFeedback) -> None:
        if self._robot is None:
            return
        kind = message.event_type
        if kind in (FEEDBACK.MOUSE_DOWN, FEEDBACK.MOUSE_UP):
            self._held, self._shown = kind == FEEDBACK.MOUSE_DOWN, None
        elif kind == FEEDBACK.POSE_UPDATE and self._held:
            frame = message.header.frame_id or self._robot.root
            self._follower.move_to(frame, pose_matrix(message.pose))
        elif kind == FEEDBACK.MENU_SELECT:
            self._on_menu(message.menu_entry_id)

    def _on_menu(self, entry: int) -> None:
        if entry == LIST_SOLUTIONS and self._robot is not None:
            tool = self._robot.pose_of(self._tip, self._positions)
            if tool is not None:
                self._follower.list_solutions(self._robot.root, tool)
        elif entry >= FIRST_SOLUTION:
            self._follower.select_solution(entry - FIRST_SOLUTION)
        else:
            for value, name in enumerate(IK_MODES):
                if entry == FIRST_MODE + value:
                    self._set_mode(name)

    def _set_mode(self, mode: str) -> None:
        self._mode = mode
        self._follower.request = IkRequest(mode=mode)
        self._show()

    def _on_task(self) -> None:
        """Hide the handle while a task runs, also if it is being dragged."""
        self._held = False
        self._show()

    def _command(self, joints: Mapping[str, float]) -> str:
        """Move the arm through its driver, else through the sliders."""
        if self._driver.available:
            return self._driver.move(joints)
        if not self._sliders.available:
            return "The arm cannot move: neither a driver nor a view with sliders is running."
        self._sliders.move(joints)
        return ""

    def _show_solutions(self, solutions: Sequence[Solution]) -> None:
        arm = () if self._robot is None else self._robot.joints_to(self._tip)
        self._solutions = [solution_text(arm, solution) for solution in solutions]
        self._show()

    def _report(self, text: str) -> None:
        if text != self._text:
            self._text = text
            if not self._held:  # A new marker would end the dragging in RViz.
                self._show()

    def _show(self) -> None:
        if self._robot is None:
            return
        size = HANDLE_SIZE * max(self._robot.reach, 0.05)
        self._is_hidden = self._driver.task_running
        if self._is_hidden:
            marker = text_marker(self._robot.root, size, TASK_RUNNING)
        else:
            marker = handle_marker(self._robot.root, size, self._mode, self._solutions, self._text)
        tool = self._tool()
        if tool is not None:
            marker.pose = pose_message(tool)
        self._server.show(marker)

    def _tool(self) -> Array | None:
        """Return root <- tool (4, 4), or None while it is unknown."""
        if self._robot is None:
            return None
        try:
            return self._tf.tree.lookup(self._robot.root, self._tip)
        except TransformError:
            return None

    def _follow_tool(self) -> None:
        """Move the marker to the tool, unless the user holds it."""
        tool = self._tool()
        if tool is None or self._held:
            return
        # Compared here too, as a task server that dies publishes nothing.
        if self._shown is None or self._is_hidden != self._driver.task_running:
            self._show()
        elif np.abs(tool - self._shown).max() > POSE_TOLERANCE:
            self._server.move(pose_message(tool))
        self._shown = tool


def main() -> int:
    """Run the node until it is shut down; return the exit code."""
    return run_node(lambda: [ToolHandleNode()])


if __name__ == "__main__":
    sys.exit(main())
