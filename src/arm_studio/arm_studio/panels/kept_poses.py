# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/panels/test_table.py
"""The panel "Pose" goes on: postures are kept in the robot file, and poses in files beside it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from arm_common.errors import InputError, is_utf8
from arm_common.transforms import Array
from arm_description.robot_file.editor import NAME_ITSELF
from arm_description.trajectories.files import add_tool_pose, read_tool_poses
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.tabs import MOVE
from arm_viewer.browser.texts import status_line
from arm_viewer.errors import ViewerError
from arm_viewer.panels.interface import Panel, PanelContext, PanelState

from arm_studio.editing.file_editing import changed_at, file_name
from arm_studio.editing.grid import Entry, Grid, RowButton, cell_of
from arm_studio.editing.model_chain import file_positions
from arm_studio.editing.robot_editing import RobotEditing, editing_entry

NOTHING = "choose a pose"
MAX_LISTED = 100  # poses of a file


class KeptPosesPanel(Panel):
    """Keeps where the arm is, under a name, and brings it there again."""

    title = "Pose"

    def __init__(self, context: PanelContext, editing: RobotEditing) -> None:
        self._context, self._editing = context, editing
        self._files: tuple[Path | None, int] = (None, 1)  # folder of the list, when it changed
        self._listed: dict[str, Array] = {}  # line of the list -> (4, 4), base <- tool
        editing.observe(self._show)

    def build(self, gui: PageGui) -> None:
        """Add the elements."""
        hint = "A name, then Enter: a button for this posture"
        self._name = gui.line("Keep as posture", self._keep, hint)
        hint = "The name of a file, then Enter: adds this pose to the .csv file"
        gui.line("Add to file of poses", self._add, hint)
        self._list = gui.choice("Files of poses", (NOTHING,), NOTHING, self._go)
        self._answer = gui.elements.add_html("", visible=False)
        self._grid = Grid(
            gui, {"set": self._rename, "remove": lambda key, _: self._rename(key, "")}
        )
        self._show()

    def _show(self) -> None:
        """List the postures of the robot file."""
        editor = self._editing.editor
        rows: list[list[list[Entry]]] = [
            [
                [cell_of(editor, str(number), ("postures", name, NAME_ITSELF))],
                [RowButton("remove", str(number), "×", f"Remove {name}")],
            ]
            for number, name in enumerate(editor.postures())
        ]
        self._grid.show(("postures of the file", ""), rows)

    def _rename(self, key: str, name: str) -> None:
        editing = self._editing
        editing.set(("postures", editing.editor.postures()[int(key)], NAME_ITSELF), name)

    def update(self, state: PanelState) -> None:
        """List the poses of the files beside the robot's, if the folder has changed."""
        editing = self._editing
        files = editing.own_folder, changed_at(editing.own_folder)
        if files != self._files:
            self._files, self._listed = files, _poses_in(editing)
            self._list.options = (NOTHING, *self._listed)
            self._list.value = NOTHING

    def _keep(self, name: str) -> None:
        try:
            positions = file_positions(self._context.prefix, self._context.positions())
            answer = keep_posture(self._editing, name, positions)
            self._name.value = ""
        except ViewerError as error:
            answer = str(error)
        self._say(answer)

    def _add(self, name: str) -> None:
        robot = self._context.view.store.robot
        frame, positions = self._context.tool_frame, self._context.positions()
        pose = None if robot is None else robot.pose_of(frame, positions)
        if pose is None:
            self._say(f"The pose of {frame} is unknown.")
            return
        try:
            answer = keep_pose(self._editing, name, pose)
        except (InputError, ViewerError) as error:
            answer = str(error)
        else:
            self._context.redraw()
        self._say(answer)

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
    for path in (path for path in files if is_utf8(path.name)):
        poses: Array | None = None
        with suppress(InputError):  # it is another file
            poses = read_tool_poses(path, model.joint_names)
        for number, pose in enumerate(() if poses is None else poses[:MAX_LISTED], start=1):
            place = ", ".join(model.units.number(value, "prismatic") for value in pose[:3, 3])
            listed[f"{path.name} {number}: {place}"] = pose
    return listed


ENTRY = editing_entry(KeptPosesPanel, 1.56, MOVE)
