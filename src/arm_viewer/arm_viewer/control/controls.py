# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Moving the arm from the page: sliders, postures, handle, jogging, solutions, stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from arm_common.transforms import Array

from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.gate import on_read_only
from arm_viewer.control.ik_follower import STOPPED, IkFollower, jogged
from arm_viewer.control.tool_panel import (
    HANDLE_NAME,
    DragHandle,
    ToolActions,
    ToolPanel,
    hide_handle,
)
from arm_viewer.port import IkRequest, PagePort, Where
from arm_viewer.scene.robot import VisualRobot

if TYPE_CHECKING:
    import viser

POSITION_ONLY = "Target in the panel Tool is Position: choose another one to turn the tool."
UNKNOWN_POSE = "its joints have not been measured yet, or the robot has no such link."


class Controls:
    """The elements that move the arm through a port. Its methods are called by one thread.

    Args:
        port: of an arm.
        server: viser's.
        gui: of the page.
        tool_frame: the frame that the handle drags.
        report: shows a sentence about the last motion at the top, "" for none.
    """

    def __init__(
        self,
        port: PagePort,
        server: viser.ViserServer,
        gui: PageGui,
        tool_frame: str,
        report: Callable[[str], None],
    ) -> None:
        self._port, self._tool_frame, self._report = port, tool_frame, report
        self._fixed_frame = ""
        self._asked = ""  # the panel of the tool in which the last motion was asked for
        self._robot: VisualRobot | None = None
        actions = ToolActions(
            lambda on: self._handle.show(on),
            self._set_request,
            self._jog,
            self._list_solutions,
            self._select_solution,
        )
        is_shown = port.where is Where.ALONE
        self._panel = ToolPanel(gui, actions, is_shown)
        self._handle = DragHandle(server.scene, gui.queue, self._drag, is_shown)
        gui.on_dropped_drag(HANDLE_NAME, self._handle.put_back)
        self._follower = IkFollower(
            port.solve,
            port.positions,
            port.move,
            self._report_motion,
            self._panel.show_solutions,
            time.monotonic,
        )
        on_read_only(server, hide_handle)

        async def on_disconnect(_: object) -> None:  # as in watch_clients, starts no thread
            gui.queue.post(self._handle.release)

        server.on_client_disconnect(on_disconnect)

    @property
    def stopped(self) -> bool:
        """Whether nothing may move."""
        return self._follower.stopped

    def set_robot(self, robot: VisualRobot) -> None:
        """Control another robot."""
        self._robot = robot
        self._panel.set_arm(robot.joints_to(self._tool_frame))

    def set_tool(self, fixed_frame: str, pose: Array | None, size: float) -> None:
        """Set the tool's pose, (4, 4) in the fixed frame, and the robot's size [m]."""
        self._fixed_frame = fixed_frame
        self._handle.set_tool(pose, size)

    def move(self, joints: Mapping[str, float]) -> str:
        """Move joints, by name [rad or m]; report and return why they cannot move, or ""."""
        self._begin()
        self._follower.drop_requests()
        problem = STOPPED if self.stopped else self._port.move(joints)
        self._report_motion(problem)
        return problem

    def move_tool(self, pose: Array) -> None:
        """Move the tool to a pose (4, 4) in the robot's root, as the handle does."""
        if self._robot is not None:
            self._begin()
            self._follower.move_to(self._robot.root, pose)

    def _begin(self, asked: str = "") -> None:
        """Begin another motion, asked for in a panel of the tool or elsewhere."""
        if asked != self._asked:
            self._panel.answer(self._asked, "")
            self._report("")
            self._asked = asked
        if asked != "Tool":
            self._panel.show_solutions(())  # those of where the tool was

    def _report_motion(self, text: str) -> None:
        """Show a sentence where the motion was asked for; at the top unless by a button."""
        if self._asked:
            self._panel.answer(self._asked, text)
        else:
            self._report(text)

    def _set_request(self, request: IkRequest) -> None:
        self._follower.request = request
        self._handle.allow_turns(request.mode != "Position")

    def _drag(self, pose: Array) -> None:
        self._begin()
        self._follower.move_to(self._fixed_frame, pose)

    def _jog(self, jog: str, step: float, own_axes: bool) -> None:
        self._begin("Jog")
        if jog[0] == "r" and self._follower.request.mode == "Position":
            self._report_motion(POSITION_ONLY)
        elif tool := self._present_tool():
            frame, pose = tool
            self._follower.move_to(frame, jogged(pose, jog, step, own_axes))

    def _list_solutions(self) -> None:
        self._begin("Tool")
        if tool := self._present_tool():
            self._follower.list_solutions(*tool)

    def _select_solution(self, index: int) -> None:
        self._begin("Tool")
        self._follower.select_solution(index)

    def _present_tool(self) -> tuple[str, Array] | None:
        """Return the robot's root and the tool's pose (4, 4) in it; report if it is unknown."""
        robot = self._robot
        pose = None if robot is None else robot.pose_of(self._tool_frame, self._port.positions())
        if robot is None or pose is None:
            self._report_motion(f"The pose of {self._tool_frame} is unknown: {UNKNOWN_POSE}")
            return None
        return robot.root, pose

    def stop(self) -> None:
        """Move nothing until a reset."""
        self._follower.stop()
        self._begin()
        self._report_motion(STOPPED)

    def reset(self) -> None:
        """Allow motion again; nothing moves by itself."""
        self._follower.reset()
        self._begin()
        self._report_motion("")
