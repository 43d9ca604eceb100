# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Moving the arm from the browser: sliders, postures, handle, jogging, solutions, tasks, stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from rclpy.node import Node

from arm_viewer.browser.server import CallbackQueue
from arm_viewer.control.ik_follower import MODES, STOPPED, IkFollower, IkRequest, jogged
from arm_viewer.control.tool_panel import DragHandle, ToolActions, ToolPanel
from arm_viewer.ros.ik_client import IkClient
from arm_viewer.ros.joint_commands import DriverCommander, JointCommander
from arm_viewer.ros.stop_panel import StopPanel
from arm_viewer.ros.task_panel import TaskPanel
from arm_viewer.ros.teach_panel import TeachPanel
from arm_viewer.scene.robot import VisualRobot
from arm_viewer.scene.shapes import Array

if TYPE_CHECKING:
    import viser

_NOWHERE: Array | None = None


class Controls:
    """All of it, together. Its methods are called by one thread.

    Args:
        node: The node that speaks ROS.
        server: viser's server.
        mailbox: Takes the users' actions over to the node's thread.
        commander: Moves the joints.
        tool_frame: The frame to be dragged.
        say: Shows a line under a key of the panel's status.
        hear: Called before it matters where the joints are, so that set_values is up to date.
        handle: Whether the handle is shown at first.
    """

    def __init__(
        self,
        node: Node,
        server: viser.ViserServer,
        mailbox: CallbackQueue,
        commander: JointCommander,
        tool_frame: str,
        say: Callable[[str, str], None],
        hear: Callable[[], None],
        handle: bool,
    ) -> None:
        self._commander, self._tool_frame, self._say = commander, tool_frame, say
        self._hear = hear
        self._values: Mapping[str, float] = {}
        self._fixed, self._tool = "", _NOWHERE
        self._caller = IkClient(node, tool_frame, lambda outcome: self._follower.answered(outcome))
        actions = ToolActions(
            lambda on: self._handle.show(on),
            self._set_wish,
            self._jog,
            self._list_solutions,
            lambda index: self._follower.choose(index),
        )
        self._panel = ToolPanel(server, mailbox, actions, handle)
        self._handle = DragHandle(server.scene, mailbox, self._drag, handle)
        self._follower = IkFollower(
            self._caller,
            self._heard_values,
            self._command,
            lambda text, problem: say("ik", text),
            self._panel.offer,
            time.monotonic,
        )
        teach = TeachPanel(node, server, mailbox)
        self._task_desk = TaskPanel(
            node, server, mailbox, lambda text: say("ik", text), teach.show
        )
        self._stop_desk = StopPanel(
            node, server, mailbox, self._stop, self._reset, lambda text: say("driver", text)
        )
        server.on_client_disconnect(lambda client: mailbox.post(self._handle.release))

    @property
    def stopped(self) -> bool:
        """Whether nothing may move."""
        return self._follower.stopped

    def set_robot(self, robot: VisualRobot) -> None:
        """Take another robot."""
        arm = robot.joints_to(self._tool_frame)
        self._panel.set_arm(arm)
        if isinstance(self._commander, DriverCommander):
            self._commander.set_arm(arm)

    def set_values(self, values: Mapping[str, float]) -> None:
        """Take where the joints are, by name [rad or m]."""
        self._values = values
        if isinstance(self._commander, DriverCommander):
            self._commander.set_here(values)

    def set_tool(self, fixed: str, pose: Array | None, size: float) -> None:
        """Take where the tool is, (4, 4) in the fixed frame, and the robot's size [m]."""
        self._fixed, self._tool = fixed, pose
        self._handle.set_tool(pose, size)

    def move(self, joints: Mapping[str, float]) -> None:
        """Move joints, by name [rad or m]."""
        self._say("ik", STOPPED if self.stopped else self._command(joints))

    def _heard_values(self) -> Mapping[str, float]:
        self._hear()
        return self._values

    def _command(self, joints: Mapping[str, float]) -> str:
        self._hear()
        return self._commander.move(joints)

    def _set_wish(self, wish: IkRequest) -> None:
        self._follower.wish = wish
        self._handle.allow_turns(wish.mode != MODES["Position"])

    def _drag(self, pose: Array) -> None:
        self._follower.reach(self._fixed, pose)

    def _jog(self, jog: str, step: float, own_axes: bool) -> None:
        if self._tool is not None:
            self._follower.reach(self._fixed, jogged(self._tool, jog, step, own_axes))

    def _list_solutions(self) -> None:
        if self._tool is not None:
            self._follower.list_solutions(self._fixed, self._tool)

    def _stop(self) -> None:
        self._follower.stop()
        self._task_desk.stop()
        self._say("ik", STOPPED)

    def _reset(self) -> None:
        self._follower.reset()
        self._say("ik", "")
