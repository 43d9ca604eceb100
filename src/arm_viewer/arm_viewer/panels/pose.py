# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The folder "Pose": the tool's pose in the file's units, shown and typed; kept postures."""

from __future__ import annotations

from typing import Any

import numpy as np
from arm_common.transforms import Array, matrix_rpy, rpy_matrix

from arm_viewer.browser.callbacks import PanelGui
from arm_viewer.browser.panel import status_line
from arm_viewer.control.robot_editing import RobotEditing
from arm_viewer.errors import ViewerError
from arm_viewer.panels.interface import PanelContext, PanelState

FIELDS = ("x", "y", "z", "roll", "pitch", "yaw")
HOLD = 12  # updates after a user typed a number, in which the fields do not follow the tool
DIGITS = 6


class PosePanel:
    """Six numbers that follow the tool; one that is typed moves it by inverse kinematics."""

    title = "Pose"

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._units = context.units
        if context.editing is not None:
            context.editing.observe(self._follow)
        self._fields: list[Any] = []
        self._held = 0  # updates for which the fields stay as typed
        self._pose: Array | None = None  # (4, 4), root <- tool, as shown

    def build(self, gui: PanelGui) -> None:
        """Add the elements."""
        for name in FIELDS:
            field = gui.elements.add_number(self._label(name), 0.0, step=self._step(name))
            gui.on_user(field.on_update, self._move)
            self._fields.append(field)
        if self._context.editing is not None:
            hint = "A name, then Enter: a button for this posture"
            self._name = gui.line("Keep as posture", self._keep, hint)
        self._answer = gui.elements.add_html("", visible=False)

    def update(self, state: PanelState) -> None:
        """Show where the tool is, unless a number was typed just now."""
        if self._held:
            self._held -= 1
            self._context.redraw()
            return
        robot = state.robot
        pose = None if robot is None else robot.pose_of(self._context.tool_frame, state.positions)
        if pose is None or (self._pose is not None and np.allclose(pose, self._pose, atol=1e-7)):
            return
        self._pose = pose
        xyz, rpy = matrix_rpy(pose)
        for name, field, value in zip(FIELDS, self._fields, (*xyz, *rpy), strict=True):
            shown = round(self._units.written(float(value), _kind(name)), self._digits(name)) + 0.0
            if field.value != shown:
                field.value = shown

    def close(self) -> None:
        """Nothing is left."""

    def _follow(self) -> None:
        """Take the units of the file that is edited now."""
        if self._context.units == self._units:
            return
        self._units, self._pose, self._held = self._context.units, None, 0
        for name, field in zip(FIELDS, self._fields, strict=True):
            field.label, field.step = self._label(name), self._step(name)
            field.precision = self._digits(name)
        self._context.redraw()

    def _label(self, name: str) -> str:
        return f"{name} [{self._units.unit(_kind(name))}]"

    def _digits(self, name: str) -> int:
        return 2 if self._step(name) >= 0.1 else 5

    def _step(self, name: str) -> float:
        """Return a step of about a millimetre, or of half a degree."""
        small = self._units.written(1e-3 if _kind(name) == "prismatic" else 8e-3, _kind(name))
        return float(f"{small:.1g}")

    def _move(self) -> None:
        values = [
            self._units.si(float(field.value), _kind(name))
            for name, field in zip(FIELDS, self._fields, strict=True)
        ]
        self._held, self._pose = HOLD, None
        self._context.move_tool(rpy_matrix(values[:3], values[3:]))
        self._context.redraw()

    def _keep(self, name: str) -> None:
        editing = self._context.editing
        assert editing is not None
        try:
            answer = keep_posture(editing, name, dict(self._context.positions()))
            self._name.value = ""
        except ViewerError as error:
            answer = str(error)
        self._answer.content = status_line("kept", "", answer)
        self._answer.visible = True


def _kind(name: str) -> str:
    return "prismatic" if name in "xyz" else "revolute"


def keep_posture(editing: RobotEditing, name: str, positions: dict[str, float]) -> str:
    """Add the present posture to the robot file that is edited; return an answer.

    Args:
        editing: the file.
        name: of the posture; an existing one is replaced.
        positions: of all joints by name [rad or m].

    Raises:
        ViewerError: the name is empty, or the reader refuses the posture.
    """
    if not name.strip():
        raise ViewerError("Give the posture a name.")
    if problem := editing.change(lambda editor: editor.keep_posture(name.strip(), positions)):
        raise ViewerError(problem)
    return f"Kept {name.strip()}; Save writes it into the file."
