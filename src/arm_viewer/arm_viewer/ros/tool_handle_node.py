# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""ROS node tool_handle: an interactive marker at the tool for RViz that the arm follows.

Like the browser's handle it uses the node kinematics for inverse kinematics; an unreachable target
is reported above the marker, and the arm does not move.

The marker follows the protocol of the package interactive_markers: a server publishes
<namespace>/update with rising sequence numbers and answers <namespace>/get_interactive_markers
with all markers and the number of the last update; RViz sends <namespace>/feedback
(visualization_msgs/msg/InteractiveMarkerUpdate.msg, ...Feedback.msg and
srv/GetInteractiveMarkers.srv).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.ros.graph import Sliders
from arm_common.ros.message_conversions import pose_matrix, pose_message
from arm_common.ros.names import prefix_parameter, remember_positions
from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import CALLS, STEADY_CLOCK
from arm_common.ros.tf import TfListener, TransformError
from arm_common.transforms import Array
from arm_description.ros.description import DescriptionSubscription
from geometry_msgs.msg import Pose, Quaternion
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA, String
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerFeedback,
    InteractiveMarkerPose,
    InteractiveMarkerUpdate,
    Marker,
    MenuEntry,
)
from visualization_msgs.msg import InteractiveMarkerControl as Control
from visualization_msgs.srv import GetInteractiveMarkers

from arm_viewer.control.controls import solution_text
from arm_viewer.control.ik_follower import IkFollower, default_mode
from arm_viewer.errors import ViewerError
from arm_viewer.port import IK_MODES, IkRequest, Solution
from arm_viewer.ros.joint_commands import TASK_RUNNING, DriverCommander
from arm_viewer.ros.page_services import IkClient
from arm_viewer.scene.robot import VisualRobot, read_robot
from arm_viewer.scene.store import POSE_TOLERANCE

# mypy: disable-error-code="no-untyped-call"

PERIOD = 0.1  # [s] between updates of the marker's pose
HANDLE_SIZE = 0.15  # of the reach: about as long as a tool
FEEDBACK = InteractiveMarkerFeedback
NAME = "tool"
LIST_SOLUTIONS, MODE, SOLUTIONS = 1, 2, 3  # menu entries; modes and solutions follow
FIRST_MODE, FIRST_SOLUTION = 10, 100
_INK = ColorRGBA(r=0.12, g=0.14, b=0.18, a=1.0)
_HALF = 0.7071067811865476
# Rotations of a control's x axis to the marker's x, y, z.
_ROTATIONS = {
    "x": Quaternion(w=1.0),
    "y": Quaternion(z=_HALF, w=_HALF),
    "z": Quaternion(y=_HALF, w=_HALF),
}


def text_marker(frame: str, size: float, text: str) -> InteractiveMarker:
    """Return a marker at its frame's origin that shows a text and cannot be moved.

    RViz would draw a description in white, and ends its subscription when a marker has no control.
    """
    marker = InteractiveMarker(name=NAME, scale=float(size))
    marker.header.frame_id = frame
    height = 0.15 * size
    letters = Marker(type=Marker.TEXT_VIEW_FACING, text=text, color=_INK)
    letters.scale.x, letters.scale.z = 0.35 * height, height  # x is the width of a space
    letters.pose.position.z = 1.4 * size
    letters.pose.orientation.w = 1.0
    marker.controls = [
        Control(
            name="text",
            orientation_mode=Control.VIEW_FACING,
            interaction_mode=Control.NONE,
            always_visible=True,
            markers=[letters] if text else [],
        )
    ]
    return marker


def handle_marker(
    frame: str, size: float, mode: str, solutions: Sequence[str], text: str
) -> InteractiveMarker:
    """Return the marker at its frame's origin: arrows, rings, and a ball with a menu.

    `size` is the length of an arrow [m]; the menu has `mode`, one of IK_MODES, checked and
    lists the solutions.
    """
    marker = text_marker(frame, size, text)
    motions = {"shift": Control.MOVE_AXIS, "turn": Control.ROTATE_AXIS}
    if mode == "Position":
        del motions["turn"]
    marker.controls += [
        Control(name=f"{motion}_{axis}", orientation=rotation, interaction_mode=kind)
        for axis, rotation in _ROTATIONS.items()
        for motion, kind in motions.items()
    ]
    ball = Marker(type=Marker.SPHERE, color=ColorRGBA(r=0.85, g=0.47, b=0.02, a=0.6))
    ball.scale.x = ball.scale.y = ball.scale.z = 0.2 * size
    ball.pose.orientation.w = 1.0
    marker.controls.append(
        Control(name="menu", interaction_mode=Control.MENU, always_visible=True, markers=[ball])
    )
    marker.menu_entries = _entries(mode, solutions)
    return marker


def _entries(mode: str, solutions: Sequence[str]) -> list[MenuEntry]:
    rows = [(LIST_SOLUTIONS, 0, "List solutions"), (MODE, 0, "Target")]
    for value, name in enumerate(IK_MODES):
        rows.append((FIRST_MODE + value, MODE, f"{'[x]' if name == mode else '[ ]'} {name}"))
    if solutions:
        rows.append((SOLUTIONS, 0, "Solutions"))
    rows += [(FIRST_SOLUTION + i, SOLUTIONS, text) for i, text in enumerate(solutions)]
    return [
        MenuEntry(id=number, parent_id=parent, title=title, command_type=MenuEntry.FEEDBACK)
        for number, parent, title in rows
    ]


class InteractiveServer:
    """Serves one interactive marker; `feedback` takes the user's actions."""

    def __init__(
        self,
        node: Node,
        namespace: str,
        feedback: Callable[[InteractiveMarkerFeedback], None],
    ) -> None:
        self._id = f"{node.get_fully_qualified_name()}/{namespace}"
        self._marker: InteractiveMarker | None = None
        self._number = 0
        self._publisher = node.create_publisher(
            InteractiveMarkerUpdate, f"{namespace}/update", 100
        )
        node.create_subscription(InteractiveMarkerFeedback, f"{namespace}/feedback", feedback, 100)
        name = f"{namespace}/get_interactive_markers"
        node.create_service(GetInteractiveMarkers, name, self._on_get, qos_profile=CALLS)

    def show(self, marker: InteractiveMarker) -> None:
        """Show the marker, new or changed."""
        self._marker = marker
        self._send(InteractiveMarkerUpdate(markers=[marker]))

    def move(self, pose: Pose) -> None:
        """Move the marker in its frame."""
        if self._marker is not None:
            self._marker.pose = pose
            moved = InteractiveMarkerPose(
                header=self._marker.header, pose=pose, name=self._marker.name
            )
            self._send(InteractiveMarkerUpdate(poses=[moved]))

    def _send(self, update: InteractiveMarkerUpdate) -> None:
        self._number += 1
        update.server_id, update.seq_num = self._id, self._number
        update.type = InteractiveMarkerUpdate.UPDATE
        self._publisher.publish(update)

    def _on_get(
        self,
        request: GetInteractiveMarkers.Request,
        response: GetInteractiveMarkers.Response,
    ) -> GetInteractiveMarkers.Response:
        response.sequence_number = self._number
        response.markers = [] if self._marker is None else [self._marker]
        return response


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
        self._follower.check_response()
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
