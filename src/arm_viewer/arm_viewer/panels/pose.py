# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The folder "Pose": the tool's pose in the file's units, shown and typed; kept poses."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from arm_common.errors import InputError
from arm_common.transforms import Array, matrix_rpy, rpy_matrix
from arm_description.trajectories.files import add_tool_pose, read_tool_poses

from arm_viewer.browser.callbacks import PanelGui
from arm_viewer.browser.panel import status_line
from arm_viewer.control.robot_editing import RobotEditing, changed_at, file_name, is_text
from arm_viewer.errors import ViewerError
from arm_viewer.panels.interface import PanelContext, PanelState

FIELDS = ("x", "y", "z", "roll", "pitch", "yaw")
HOLD = 12  # updates after a user typed a number, in which the fields do not follow the tool
NOTHING = "choose a pose"
MAX_LISTED = 100  # poses of a file


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
        self._files: tuple[Path | None, int] = (None, 1)  # folder of the list, when it changed
        self._listed: dict[str, Array] = {}  # line of the list -> (4, 4), base <- tool

    def build(self, gui: PanelGui) -> None:
        """Add the elements."""
        for name in FIELDS:
            field = gui.elements.add_number(self._label(name), 0.0, step=self._step(name))
            field.precision = self._digits(name)  # else that of the step
            gui.on_user(field.on_update, self._move)
            self._fields.append(field)
        if self._context.editing is not None:
            hint = "A name, then Enter: a button for this posture"
            self._name = gui.line("Keep as posture", self._keep, hint)
            hint = "The name of a file, then Enter: adds this pose to the .csv file"
            gui.line("Add to file of poses", self._add, hint)
            self._list = gui.choice("Files of poses", (NOTHING,), NOTHING, self._go)
        self._answer = gui.elements.add_html("", visible=False)

    def update(self, state: PanelState) -> None:
        """Show where the tool is, unless a number was typed just now; list new poses."""
        self._show_files()
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
        self._say(answer)

    def _add(self, name: str) -> None:
        editing, robot = self._context.editing, self._context.view.store.robot
        frame, positions = self._context.tool_frame, self._context.positions()
        pose = None if robot is None else robot.pose_of(frame, positions)
        assert editing is not None
        if pose is None:
            self._say(f"The pose of {frame} is unknown.")
            return
        try:
            answer = keep_pose(editing, name, pose)
        except (InputError, ViewerError) as error:
            answer = str(error)
        else:
            self._context.redraw()
        self._say(answer)

    def _show_files(self) -> None:
        """List the poses of the files beside the robot's, if the folder has changed."""
        if (editing := self._context.editing) is None:
            return
        files = editing.own_folder, changed_at(editing.own_folder)
        if files != self._files:
            self._files, self._listed = files, _poses_in(editing)
            self._list.options = (NOTHING, *self._listed)
            self._list.value = NOTHING

    def _go(self, line: str) -> None:
        """Move the tool to a pose of the list, which can be chosen again then."""
        if line in self._listed:
            self._context.move_tool(self._listed[line])
            self._say(line)
        self._list.value = NOTHING
        self._context.redraw()

    def _say(self, answer: str) -> None:
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


def keep_pose(editing: RobotEditing, name: str, pose: Array) -> str:
    """Add a pose (4, 4) of the tool to a file of poses beside the robot file; return an answer.

    Raises:
        ViewerError: the robot has no file of its own, or the name is wrong.
        InputError: the file has another form, or cannot be written; it is unchanged.
    """
    name = file_name(name, (".csv",))
    if (folder := editing.own_folder) is None:
        raise ViewerError(
            "Give the robot a file of its own with Save as: files of poses are beside it."
        )
    count = add_tool_pose(folder / name, pose, editing.editor.model.units)
    return f"{name} has {count} {'pose' if count == 1 else 'poses'}."


def _poses_in(editing: RobotEditing) -> dict[str, Array]:
    """Return the poses of the files beside the robot file, by file, number and position."""
    model, folder = editing.editor.model, editing.own_folder
    listed: dict[str, Array] = {}
    files = [] if folder is None else sorted(folder.glob("*.csv"))
    for path in (path for path in files if is_text(path.name)):
        poses: Array | None = None
        with suppress(InputError):  # it is another file
            poses = read_tool_poses(path, model.joint_names)
        for number, pose in enumerate(() if poses is None else poses[:MAX_LISTED], start=1):
            place = ", ".join(model.units.number(value, "prismatic") for value in pose[:3, 3])
            listed[f"{path.name} {number}: {place}"] = pose
    return listed
