# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Moving the arm from the page: sliders, postures, handle, jogging, solutions, stop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from arm_common.transforms import Array

from arm_viewer.browser.callbacks import PageGui, element_id
from arm_viewer.browser.gate import on_read_only
from arm_viewer.browser.texts import answer_line, value_text
from arm_viewer.control.drag_handle import HANDLE_NAME, DragHandle, hide_handle
from arm_viewer.control.ik_follower import STOPPED, IkFollower, default_mode, jogged
from arm_viewer.port import IK_MODES, IkRequest, PagePort, Solution, Where
from arm_viewer.scene.robot import VisualJoint, VisualRobot

if TYPE_CHECKING:
    import viser

STEPS = {"1 mm, 1°": (1e-3, 1.0), "5 mm, 5°": (5e-3, 5.0), "20 mm, 15°": (2e-2, 15.0)}
SIGNS = {"−": -1.0, "+": 1.0}
FRAMES = ("base", "tool")
RED = (220, 38, 38)
# The button stays at the top of the sidebar while it scrolls; its parents must not clip it.
STICKY = """<style>
.mantine-ScrollArea-content div:has([id="{button}"]) {{ overflow: visible !important }}
.mantine-ScrollArea-content div:has(> [id="{button}"]) {{
  position: sticky; top: 0.4em; z-index: 9
}}
[id="{button}"] {{ pointer-events: auto !important }}
</style>"""
POSITION_ONLY = "Target in the panel Tool is Position: choose another one to turn the tool."
UNKNOWN_POSE = "its joints have not been measured yet, or the robot has no such link."


def solution_text(joints: Sequence[VisualJoint], solution: Solution) -> str:
    """Return a solution's joint values in degrees and millimetres."""
    values = solution.joints
    return ", ".join(value_text(j, values[j.name]) for j in joints if j.name in values)


class ToolPanel:
    """The panels "Tool" and "Jog", whose elements call `controls`. Used by one thread."""

    def __init__(self, gui: PageGui, controls: Controls, handle: bool) -> None:
        self._gui, self._controls = gui, controls
        self._joints: tuple[VisualJoint, ...] = ()
        self._buttons: list[Any] = []
        self._answers: dict[str, Any] = {}  # title of the panel -> place of its answers
        with gui.elements.add_folder("Tool", order=1.5):
            gui.checkbox("Drag handle", handle, controls.show_handle)
            self._mode = gui.elements.add_dropdown("Target", IK_MODES)
            with gui.elements.add_folder("Tolerances", expand_by_default=False):
                self._position = self._add_tolerance("Position [mm]")
                self._angle = self._add_tolerance("Angle [°]")
            for field in (self._mode, self._position, self._angle):
                gui.on_user(field.on_update, self._set_request)
            self._solutions = gui.elements.add_folder("Solutions", expand_by_default=False)
            with self._solutions:
                hint = "Every posture that brings the tool to its present pose"
                gui.button("List solutions", controls.list_solutions, hint=hint)
                self._answers["Tool"] = gui.elements.add_html(answer_line(""))
        with gui.elements.add_folder("Jog", order=1.6, expand_by_default=False):
            self._add_jog_buttons()
            self._answers["Jog"] = gui.elements.add_html(answer_line(""))

    def answer(self, panel: str, text: str) -> None:
        """Show a sentence beside the buttons of a panel, by its title."""
        if panel in self._answers:
            self._answers[panel].content = answer_line(text)

    def set_arm(self, joints: tuple[VisualJoint, ...]) -> None:
        """Set the joints between base and tool, and the mode that suits their number."""
        self._joints = joints
        self._mode.value = default_mode(len(joints))
        self.show_solutions(())
        self._set_request()

    def show_solutions(self, solutions: Sequence[Solution]) -> None:
        """Show a button for each solution."""
        for button in self._buttons:
            button.remove()
        with self._solutions:
            self._buttons = [
                self._gui.button(
                    f"{number + 1}: {solution_text(self._joints, solution)}",
                    partial(self._controls.select_solution, number),
                )
                for number, solution in enumerate(solutions)
            ]

    def _add_tolerance(self, label: str) -> Any:
        hint = "Largest accepted error; 0: the solver's own"
        add = self._gui.elements.add_number
        return add(label, 0.0, min=0.0, max=180.0, step=0.1, hint=hint)

    def _set_request(self) -> None:
        angle = math.radians(self._angle.value)
        request = IkRequest(self._mode.value, 1e-3 * self._position.value, angle)
        self._controls.set_request(request)

    def _add_jog_buttons(self) -> None:
        add = self._gui.elements
        self._step = add.add_dropdown("Step", tuple(STEPS), initial_value="5 mm, 5°")
        self._frame = add.add_dropdown("Axes of", FRAMES)
        for (label, prefix), sign in product((("Move", ""), ("Rotate", "r")), SIGNS):
            group = add.add_button_group(f"{label} {sign}", tuple(f"{sign}{a}" for a in "xyz"))
            self._gui.on_user(group.on_click, partial(self._jog, group, prefix))

    def _jog(self, group: Any, prefix: str) -> None:
        sign, axis = group.value
        metres, degrees = STEPS[self._step.value]
        size = SIGNS[sign] * (math.radians(degrees) if prefix else metres)
        self._controls.jog(prefix + axis, size, self._frame.value == "tool")


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
        is_shown = port.where is Where.ALONE
        self._handle = DragHandle(server.scene, gui.queue, self._drag, is_shown)
        self._panel = ToolPanel(gui, self, is_shown)
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

    def show_handle(self, on: bool) -> None:
        """Show or hide the drag handle."""
        self._handle.show(on)

    def set_request(self, request: IkRequest) -> None:
        """Set how targets are to be met."""
        self._follower.request = request
        self._handle.allow_turns(request.mode != "Position")

    def _drag(self, pose: Array) -> None:
        self._begin()
        self._follower.move_to(self._fixed_frame, pose)

    def jog(self, jog: str, step: float, own_axes: bool) -> None:
        """Move the tool by one step [m or rad] along, or about, an axis (one of JOGS)."""
        self._begin("Jog")
        if jog[0] == "r" and self._follower.request.mode == "Position":
            self._report_motion(POSITION_ONLY)
        elif tool := self._present_tool():
            frame, pose = tool
            self._follower.move_to(frame, jogged(pose, jog, step, own_axes))

    def list_solutions(self) -> None:
        """Show a button for each posture that brings the tool to its present pose."""
        self._begin("Tool")
        if tool := self._present_tool():
            self._follower.list_solutions(*tool)

    def select_solution(self, index: int) -> None:
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


class StopPanel:
    """Stops the arm and the page's own motions, and resets both.

    It is built first, and `follow` tells it later what else to stop; so it stops the arm, whatever
    fails in other parts of the page.
    """

    def __init__(self, port: PagePort, gui: PageGui) -> None:
        self._port = port
        self._on_stop: Callable[[], None] = lambda: None
        self._on_reset: Callable[[], None] = lambda: None
        hint = "Stops the arm at once (Space or Esc); it holds its position."
        button = gui.button("STOP", self.stop, color=RED, order=-2, hint=hint)
        command = gui.elements.add_command("STOP", description="Stops the arm", hotkey="escape")
        gui.on_user(command.on_trigger, self.stop)
        for element in (button, command):  # everyone who sees the arm can stop it
            gui.open_to_everyone(element)
        self._reset_button = gui.button(
            "Reset", self.reset, order=-1, hint="Allows motion again.", visible=False
        )
        gui.offer_stop(self.stop)
        ids = f'data-button="{element_id(button)}" data-command="{element_id(command)}"'
        stop = f'<span data-arm="stop" {ids} hidden></span>'
        sticky = STICKY.format(button=element_id(button))
        gui.elements.add_html(sticky + stop, order=99)  # for `browser/link.js`

    def follow(self, on_stop: Callable[[], None], on_reset: Callable[[], None]) -> None:
        """Also stop and reset the motions that the page itself makes."""
        self._on_stop, self._on_reset = on_stop, on_reset

    def stop(self) -> None:
        """Stop everything until a reset."""
        self._port.stop()
        self._on_stop()
        self.offer_reset()

    def offer_reset(self) -> None:
        """Show the button that allows motion again."""
        self._reset_button.visible = True

    def reset(self) -> None:
        """Allow motion again; nothing moves by itself."""
        self._port.reset()
        self._on_reset()
        self._reset_button.visible = False
