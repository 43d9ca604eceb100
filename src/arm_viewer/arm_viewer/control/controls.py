# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_viewer/test/browser/test_view.py
"""Moving the arm from the page: sliders, postures, handle, jogging, solutions."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.transforms import Array, pose_to_matrix

from arm_viewer.browser.access import present_command
from arm_viewer.browser.callbacks import CallbackQueue, PageGui
from arm_viewer.browser.cameras import HANDLE
from arm_viewer.browser.gate import on_read_only
from arm_viewer.browser.shape_drawer import set_pose, settled
from arm_viewer.browser.tabs import MOVE
from arm_viewer.browser.texts import answer_line, value_text
from arm_viewer.control.ik_follower import STOPPED, IkFollower, default_mode, jogged
from arm_viewer.port import IK_MODES, IkRequest, PagePort, Solution, Where
from arm_viewer.scene.robot import VisualJoint, VisualRobot
from arm_viewer.scene.store import POSE_TOLERANCE

if TYPE_CHECKING:
    import viser

HANDLE_NAME = "/handle"
STEPS = {"1 mm, 1°": (1e-3, 1.0), "5 mm, 5°": (5e-3, 5.0), "20 mm, 15°": (2e-2, 15.0)}
SIGNS = {"−": -1.0, "+": 1.0}
FRAMES = ("base", "tool")
POSITION_ONLY = "Target in the panel Tool is Position: choose another one to turn the tool."
RESPONSE_CHECKS = 0.5  # [s] between two
UNKNOWN_POSE = "its joints have not been measured yet, or the robot has no such link."


def hide_handle(client: viser.ClientHandle) -> None:
    """Hide the handle in one browser: its own invisible node replaces it there."""
    client.scene.add_frame(HANDLE_NAME, show_axes=False, visible=False)


class DragHandle:
    """viser's transform controls, shared by all browsers.

    While a user drags it, `on_drag` is called through the queue with its pose (4, 4) in the fixed
    frame.
    """

    def __init__(
        self,
        scene: viser.SceneApi,
        queue: CallbackQueue,
        on_drag: Callable[[Array], None],
        shown: bool,
        name: str = HANDLE_NAME,
    ) -> None:
        self._name = name
        self._scene, self._queue, self._on_drag = scene, queue, on_drag
        self._shown, self._held, self._turns = shown, False, True
        self._tool: Array | None = None
        self._handle: Any = None

    def set_tool(self, pose: Array | None, size: float) -> None:
        """Put the handle at the tool (4, 4), fixed <- tool, unless unknown or a user holds it.

        A handle is sized by a length that characterises the robot [m].
        """
        if pose is None:
            return
        if self._handle is not None and self._handle.scale != HANDLE * size:
            self._handle.scale = HANDLE * size
        former = self._tool
        if former is not None and np.abs(pose - former).max() < POSE_TOLERANCE:
            return
        self._tool = pose.copy()
        if self._handle is None:
            self._handle = self._scene.add_transform_controls(
                self._name, HANDLE * size, line_width=3.5, depth_test=False
            )
            settled(self._handle, pose)
            self.show(self._shown)
            self.allow_turns(self._turns)
            self._handle.on_update(self._on_update)
        elif not self._held:
            set_pose(self._handle, pose)

    def show(self, on: bool) -> None:
        """Show or hide the handle."""
        self._shown = on
        if self._handle is not None:
            self._handle.visible = on

    def allow_turns(self, on: bool) -> None:
        """Allow rotating the handle, or only moving it."""
        self._turns = on
        if self._handle is not None:
            self._handle.disable_rotations = not on

    def release(self) -> None:
        """Put the handle back to the tool, e.g. because the browser that held it went away."""
        self._held = False
        if self._handle is not None and self._tool is not None:
            set_pose(self._handle, self._tool)

    def put_back(self) -> None:
        """Let all browsers show it where it belongs, also one that has dragged it in vain."""
        if self._handle is not None and (pose := self._tool) is not None:
            size = self._handle.scale / HANDLE
            self._handle.remove()
            self._handle = self._tool = None
            self.set_tool(pose, size)

    async def _on_update(self, event: Any) -> None:
        w, x, y, z = event.target.wxyz
        pose = pose_to_matrix(event.target.position, (x, y, z, w))
        phase = event.phase
        self._queue.post(lambda: self._drag(phase, pose), present_command.get())

    def _drag(self, phase: str, pose: Array) -> None:
        if phase == "end":
            self.release()
            return
        self._held = True
        if phase == "update":
            self._on_drag(pose)


def solution_text(joints: Sequence[VisualJoint], solution: Solution) -> str:
    """Return a solution's joint values in degrees and millimetres."""
    return ", ".join(_values(joints, solution).values())


def _values(joints: Sequence[VisualJoint], solution: Solution) -> dict[str, str]:
    values = solution.joints
    return {j.name: value_text(j, values[j.name]) for j in joints if j.name in values}


class Controls:
    """Moves the arm through a port: by the panels "Tool" and "Jog", the handle, and for others.

    Its methods are called by one thread.

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
        self._port, self._gui = port, gui
        self._tool_frame, self._report = tool_frame, report
        self._fixed_frame = ""
        self._asked = ""  # the panel of the tool in which the last motion was asked for
        self._robot: VisualRobot | None = None
        self._joints: tuple[VisualJoint, ...] = ()  # between base and tool
        self._buttons: list[Any] = []  # of the solutions
        self._answers: dict[str, Any] = {}  # title of the panel -> place of its answers
        is_shown = port.where is Where.ALONE
        self._handle = DragHandle(server.scene, gui.queue, self._drag, is_shown)
        self._follower = IkFollower(
            port.solve,
            port.positions,
            port.move,
            self._report_motion,
            self._show_solutions,
            time.monotonic,
        )
        port.every(RESPONSE_CHECKS, self._follower.check_response)
        self._add_tool_panel(is_shown)
        self._add_jog_panel()
        gui.on_dropped_drag(HANDLE_NAME, self._handle.put_back)
        on_read_only(server, hide_handle)

        async def on_disconnect(_: object) -> None:  # as in watch_clients, starts no thread
            gui.queue.post(self._handle.release)

        server.on_client_disconnect(on_disconnect)

    def _add_tool_panel(self, is_shown: bool) -> None:
        gui, add = self._gui, self._gui.elements
        with gui.tabs.folder(MOVE, "Tool", order=1.5):
            gui.checkbox("Drag handle", is_shown, self._handle.show)
            self._mode = add.add_dropdown("Target", IK_MODES)
            with add.add_folder("Tolerances", expand_by_default=False):
                self._position = self._add_tolerance("Position [mm]")
                self._angle = self._add_tolerance("Angle [°]")
            for field in (self._mode, self._position, self._angle):
                gui.on_user(field.on_update, self._set_request)
            self._solutions = add.add_folder("Solutions", expand_by_default=False)
            with self._solutions:
                hint = "Every posture that brings the tool to its present pose"
                gui.button("List solutions", self._list_solutions, hint=hint)
                self._answers["Tool"] = add.add_html(answer_line(""))

    def _add_tolerance(self, label: str) -> Any:
        hint = "Largest accepted error; 0: the solver's own"
        add = self._gui.elements.add_number
        return add(label, 0.0, min=0.0, max=180.0, step=0.1, hint=hint)

    def _add_jog_panel(self) -> None:
        add = self._gui.elements
        with self._gui.tabs.folder(MOVE, "Jog", order=1.6, expand_by_default=False):
            self._step = add.add_dropdown("Step", tuple(STEPS), initial_value="5 mm, 5°")
            self._frame = add.add_dropdown("Axes of", FRAMES)
            for (label, prefix), sign in product((("Move", ""), ("Rotate", "r")), SIGNS):
                axes = tuple(f"{sign}{axis}" for axis in "xyz")
                group = add.add_button_group(f"{label} {sign}", axes)
                self._gui.on_user(group.on_click, partial(self._jog, group, prefix))
            self._answers["Jog"] = add.add_html(answer_line(""))

    @property
    def stopped(self) -> bool:
        """Whether nothing may move."""
        return self._follower.stopped

    def set_robot(self, robot: VisualRobot) -> None:
        """Control another robot, in the mode that suits the number of its joints."""
        self._robot, self._joints = robot, robot.joints_to(self._tool_frame)
        self._mode.value = default_mode(len(self._joints))
        self._show_solutions(())
        self._set_request()

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
            if self._asked:
                self._report_motion("")
            self._report("")
            self._asked = asked
        if asked != "Tool":
            self._show_solutions(())  # those of where the tool was

    def _report_motion(self, text: str) -> None:
        """Show a sentence where the motion was asked for; at the top unless by a button."""
        if self._asked:
            self._answers[self._asked].content = answer_line(text)
        else:
            self._report(text)

    def _set_request(self) -> None:
        """Set how targets are to be met."""
        mode, angle = self._mode.value, math.radians(self._angle.value)
        self._follower.request = IkRequest(mode, 1e-3 * self._position.value, angle)
        self._handle.allow_turns(mode != "Position")

    def _drag(self, pose: Array) -> None:
        self._begin()
        self._follower.move_to(self._fixed_frame, pose)

    def _jog(self, group: Any, prefix: str) -> None:
        """Move the tool by one step along, or about, an axis, as a pressed button says."""
        self._begin("Jog")
        sign, axis = group.value
        metres, degrees = STEPS[self._step.value]
        step = SIGNS[sign] * (math.radians(degrees) if prefix else metres)
        if prefix and self._follower.request.mode == "Position":
            self._report_motion(POSITION_ONLY)
        elif tool := self._present_tool():
            frame, pose = tool
            target = jogged(pose, prefix + axis, step, self._frame.value == "tool")
            self._follower.move_to(frame, target)

    def _list_solutions(self) -> None:
        """Show a button for each posture that brings the tool to its present pose."""
        self._begin("Tool")
        if tool := self._present_tool():
            self._follower.list_solutions(*tool)

    def _show_solutions(self, solutions: Sequence[Solution]) -> None:
        """Show a button for each solution."""
        for button in self._buttons:
            button.remove()
        with self._solutions:
            self._buttons = [
                self._gui.button(
                    f"{number + 1}: {solution_text(self._joints, solution)}",
                    partial(self._select_solution, number),
                    hint=", ".join(map(" ".join, _values(self._joints, solution).items())),
                )
                for number, solution in enumerate(solutions)
            ]

    def _select_solution(self, index: int) -> None:
        """Move to one of the solutions shown last."""
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
