# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panels "Tool" and "Jog", and the drag handle at the tool."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.transforms import Array, pose_to_matrix

from arm_viewer.browser.callbacks import CallbackQueue, PageGui
from arm_viewer.browser.cameras import HANDLE
from arm_viewer.browser.link import present_command
from arm_viewer.browser.shape_drawer import set_pose, viser_pose
from arm_viewer.browser.texts import answer_line, value_text
from arm_viewer.control.ik_follower import default_mode
from arm_viewer.port import IK_MODES, IkRequest, Solution
from arm_viewer.scene.robot import VisualJoint

if TYPE_CHECKING:
    import viser

STEPS = {"1 mm, 1°": (1e-3, 1.0), "5 mm, 5°": (5e-3, 5.0), "20 mm, 15°": (2e-2, 15.0)}
SIGNS = {"−": -1.0, "+": 1.0}
FRAMES = ("base", "tool")
HANDLE_NAME = "/handle"
POSE_TOLERANCE = 1e-5  # of an element of the handle's matrix


@dataclass(frozen=True)
class ToolActions:
    """The actions of the panels' elements; all run in the page's thread."""

    show_handle: Callable[[bool], None]
    set_request: Callable[[IkRequest], None]
    jog: Callable[[str, float, bool], None]  # takes one of JOGS, a step [m or rad], own_axes
    list_solutions: Callable[[], None]
    select_solution: Callable[[int], None]


def solution_text(joints: Sequence[VisualJoint], solution: Solution) -> str:
    """Return a solution's joint values in degrees and millimetres."""
    values = solution.joints
    return ", ".join(value_text(j, values[j.name]) for j in joints if j.name in values)


class ToolPanel:
    """The panels "Tool" and "Jog". Its methods are called by one thread."""

    def __init__(self, gui: PageGui, actions: ToolActions, handle: bool) -> None:
        self._gui, self._actions = gui, actions
        self._joints: tuple[VisualJoint, ...] = ()
        self._buttons: list[Any] = []
        self._answers: dict[str, Any] = {}  # title of the panel -> place of its answers
        with gui.elements.add_folder("Tool", order=1.5):
            gui.checkbox("Drag handle", handle, actions.show_handle)
            self._mode = gui.elements.add_dropdown("Target", IK_MODES)
            with gui.elements.add_folder("Tolerances", expand_by_default=False):
                self._position = self._add_tolerance("Position [mm]")
                self._angle = self._add_tolerance("Angle [°]")
            for field in (self._mode, self._position, self._angle):
                gui.on_user(field.on_update, self._set_request)
            self._solutions = gui.elements.add_folder("Solutions", expand_by_default=False)
            with self._solutions:
                hint = "Every posture that brings the tool to its present pose"
                gui.button("List solutions", actions.list_solutions, hint=hint)
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
                    partial(self._actions.select_solution, number),
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
        self._actions.set_request(request)

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
        self._actions.jog(prefix + axis, size, self._frame.value == "tool")


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
                self._name, HANDLE * size, line_width=3.5, depth_test=False, **viser_pose(pose)
            )
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
