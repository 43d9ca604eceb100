# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Pose": the tool's pose in the file's units, shown and typed."""

from __future__ import annotations

from typing import Any

import numpy as np
from arm_common.transforms import Array, matrix_rpy, rpy_matrix

from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.tabs import MOVE
from arm_viewer.panels.interface import Panel, PanelContext, PanelEntry, PanelState
from arm_viewer.port import Where

FIELDS = ("x", "y", "z", "roll", "pitch", "yaw")
HOLD = 12  # updates after a user typed a number, in which the fields do not follow the tool


class PosePanel(Panel):
    """Six numbers that follow the tool; one that is typed moves it by inverse kinematics."""

    title = "Pose"

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._units = context.units
        self._fields: list[Any] = []
        self._held = 0  # updates for which the fields stay as typed
        self._pose: Array | None = None  # (4, 4), root <- tool, as shown

    def build(self, gui: PageGui) -> None:
        """Add the elements."""
        for name in FIELDS:
            field = gui.elements.add_number(self._label(name), 0.0, step=self._step(name))
            field.precision = self._digits(name)  # else that of the step
            gui.on_user(field.on_update, self._move)
            self._fields.append(field)

    def update(self, state: PanelState) -> None:
        """Show where the tool is, unless a number was typed just now."""
        self._follow()
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

    def _follow(self) -> None:
        """Take the units of another robot."""
        if self._context.units == self._units:
            return
        self._units, self._pose, self._held = self._context.units, None, 0
        for name, field in zip(FIELDS, self._fields, strict=True):
            field.label, field.step = self._label(name), self._step(name)
            field.precision = self._digits(name)

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


def _kind(name: str) -> str:
    return "prismatic" if name in "xyz" else "revolute"


ENTRY = PanelEntry(PosePanel, 1.55, Where.MOVING, tab=MOVE)
