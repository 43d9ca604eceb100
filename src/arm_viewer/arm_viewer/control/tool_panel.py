# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The folder of the panel from which the tool is moved: handle, modes, jogging, solutions.

The handle at the tool: drag it, and the arm follows; let go, and it is at the tool again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from arm_common.transforms import pose_to_matrix

from arm_viewer.browser.panel import value_text
from arm_viewer.browser.server import CallbackQueue, on_user
from arm_viewer.browser.shape_drawer import place
from arm_viewer.control.ik_follower import MODES, IkRequest, Solution, default_mode
from arm_viewer.scene.robot import VisualJoint
from arm_viewer.scene.shapes import Array

if TYPE_CHECKING:
    import viser

STEPS = {"1 mm, 1°": (1e-3, 1.0), "5 mm, 5°": (5e-3, 5.0), "20 mm, 15°": (2e-2, 15.0)}
SIGNS = {"−": -1.0, "+": 1.0}
FRAMES = ("base", "tool")


@dataclass(frozen=True)
class ToolActions:
    """What the folder's elements do; all are called in the node's thread.

    Attributes:
        show_handle: Whether the handle is to be seen.
        wish: How poses are to be met from now on.
        jog: One of tool_wish.JOGS, a step [m or rad], and whether along the tool's own axes.
        list_solutions: Without arguments.
        choose: Number of a solution.
    """

    show_handle: Callable[[bool], None]
    wish: Callable[[IkRequest], None]
    jog: Callable[[str, float, bool], None]
    list_solutions: Callable[[], None]
    choose: Callable[[int], None]


class ToolPanel:
    """The folder "Tool". Its methods are called by one thread.

    Args:
        server: viser's server.
        mailbox: Takes the users' actions over to the node's thread.
        actions: What to do then.
        handle: Whether the handle is shown at first.
    """

    def __init__(
        self, server: viser.ViserServer, mailbox: CallbackQueue, actions: ToolActions, handle: bool
    ) -> None:
        self._gui, self._mailbox, self._actions = server.gui, mailbox, actions
        self._joints: tuple[VisualJoint, ...] = ()
        self._buttons: list[Any] = []
        with self._gui.add_folder("Tool", order=1.5):
            box = self._gui.add_checkbox("Drag handle", handle)
            self._on(box.on_update, lambda: actions.show_handle(box.value))
            self._add_wish()
            button = self._gui.add_button(
                "Solutions", color="gray", hint="Every posture that brings the tool where it is"
            )
            self._on(button.on_click, actions.list_solutions)
            self._list = self._gui.add_folder("Postures that reach it", visible=False)
        with self._gui.add_folder("Jog", order=1.6, expand_by_default=False):
            self._add_jogs()

    def set_arm(self, joints: tuple[VisualJoint, ...]) -> None:
        """Take the joints between base and tool, and the mode that suits so many."""
        self._joints = joints
        self._mode.value = default_mode(len(joints))
        self.offer(())
        self._actions.wish(self._wish())

    def offer(self, solutions: Sequence[Solution]) -> None:
        """Show a button for each solution."""
        for button in self._buttons:
            button.remove()
        self._buttons = []
        self._list.visible = bool(solutions)
        with self._list:
            for number, solution in enumerate(solutions):
                self._buttons.append(self._add_solution(number, solution))

    def _add_solution(self, number: int, solution: Solution) -> Any:
        values = ", ".join(
            value_text(joint, solution.joints[joint.name])
            for joint in self._joints
            if joint.name in solution.joints
        )
        button = self._gui.add_button(f"{number + 1}: {values}", color="gray")
        self._on(button.on_click, lambda: self._actions.choose(number))
        return button

    def _add_wish(self) -> None:
        self._mode: Any = self._gui.add_dropdown("Meet", tuple(MODES), initial_value="Pose")
        self._position = self._tolerance("Within [mm]")
        self._angle = self._tolerance("Within [°]")
        for field in (self._mode, self._position, self._angle):
            self._on(field.on_update, lambda: self._actions.wish(self._wish()))

    def _tolerance(self, label: str) -> Any:
        hint = "Largest accepted error; 0: as exact as the solver is"
        return self._gui.add_number(label, 0.0, min=0.0, max=180.0, step=0.1, hint=hint)

    def _wish(self) -> IkRequest:
        angle = math.radians(self._angle.value)
        return IkRequest(MODES[self._mode.value], 1e-3 * self._position.value, angle)

    def _add_jogs(self) -> None:
        step = self._gui.add_dropdown("Step", tuple(STEPS), initial_value="5 mm, 5°")
        frame = self._gui.add_dropdown("Along axes of", FRAMES, initial_value="base")
        for (label, prefix), sign in product((("Shift", ""), ("Turn", "r")), SIGNS):
            group = self._gui.add_button_group(
                f"{label} {sign}", tuple(f"{sign}{a}" for a in "xyz")
            )

            def jog(group: Any = group, prefix: str = prefix, sign: str = sign) -> None:
                metres, degrees = STEPS[step.value]
                size = SIGNS[sign] * (math.radians(degrees) if prefix else metres)
                self._actions.jog(prefix + group.value[1:], size, frame.value == "tool")

            self._on(group.on_click, jog)

    def _on(self, register: Callable[[Any], Any], action: Callable[[], None]) -> None:
        on_user(self._mailbox, register, action)


NAME = "/handle"
MOVED = 1e-5  # of an element of the pose's matrix


class DragHandle:
    """viser's transform controls, one for all browsers.

    Args:
        scene: viser's scene.
        mailbox: Takes what users do over to the node's thread.
        dragged: Called there with the pose (4, 4) of the handle in the fixed frame.
        shown: Whether it is seen at first.
    """

    def __init__(
        self,
        scene: viser.SceneApi,
        mailbox: CallbackQueue,
        dragged: Callable[[Array], None],
        shown: bool,
    ) -> None:
        self._scene, self._mailbox, self._dragged = scene, mailbox, dragged
        self._shown, self._held = shown, False
        self._turns = True
        self._tool: Array | None = None
        self._handle: Any = None

    def set_tool(self, pose: Array | None, size: float) -> None:
        """Put the handle where the tool is, (4, 4) in the fixed frame, unless it is held.

        Args:
            pose: None if the tool is nowhere.
            size: A length that characterises the robot [m].
        """
        if pose is None or (self._tool is not None and np.abs(pose - self._tool).max() < MOVED):
            return
        self._tool = pose.copy()
        if self._handle is None:
            self._handle = self._scene.add_transform_controls(
                NAME, scale=0.28 * size, line_width=3.5, depth_test=False, **place(pose)
            )
            self._handle.visible = self._shown
            self._handle.disable_rotations = not self._turns
            self._handle.on_update(self._on_update)
        elif not self._held:
            self._put(pose)

    def show(self, on: bool) -> None:
        """Show or hide the handle."""
        self._shown = on
        if self._handle is not None:
            self._handle.visible = on

    def allow_turns(self, on: bool) -> None:
        """Let the handle be turned, or only shifted."""
        self._turns = on
        if self._handle is not None:
            self._handle.disable_rotations = not on

    def release(self) -> None:
        """Take it that nobody holds the handle, e.g. because a browser went."""
        self._on_user("end", np.eye(4))

    async def _on_update(self, event: Any) -> None:
        w, x, y, z = event.target.wxyz
        pose = pose_to_matrix(event.target.position, (x, y, z, w))
        phase = event.phase
        self._mailbox.post(lambda: self._on_user(phase, pose))

    def _on_user(self, phase: str, pose: Array) -> None:
        self._held = phase != "end"
        if phase == "update":
            self._dragged(pose)
        elif phase == "end" and self._tool is not None:
            self._put(self._tool)

    def _put(self, pose: Array) -> None:
        for key, value in place(pose).items():
            setattr(self._handle, key, value)
