# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Find, read and write trajectory files; the ending of the name selects the format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from arm_common.files.access import ANY_FILE, FileAccess, read_text
from arm_common.files.saving import contents, save_edit, write_bytes
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, matrix_rpy

from arm_description.errors import DescriptionError
from arm_description.library import given_path
from arm_description.model.units import Units
from arm_description.robot_model import RobotModel
from arm_description.trajectories import formats
from arm_description.trajectories.drawing import SVG, pen_path, read_svg, text_path
from arm_description.trajectories.lines import MAX_BYTES
from arm_description.trajectories.trajectory import (
    AS_DRAWN,
    DrawingOptions,
    JointTrajectory,
    ToolTrajectory,
    shipped_trajectories,
    validated,
)

FORMS = {
    ".csv": (formats.read_csv, formats.check_csv),
    ".yaml": (formats.read_trajectory_yaml, formats.check_trajectory_yaml),
    ".yml": (formats.read_trajectory_yaml, formats.check_trajectory_yaml),
    ".txt": (formats.read_rows, formats.check_rows),
}
"""What reads and what checks the files with an ending."""


def read_trajectory(
    file: str | os.PathLike[str],
    model: RobotModel,
    fit: bool = False,
    files: FileAccess = ANY_FILE,
    without: Sequence[str] = (),
) -> JointTrajectory:
    """Read a trajectory of all joints that starts at time 0 and keeps position and speed limits.

    Args:
        file: path of a .csv, .yaml or .txt (rows of positions) file, or the name of a shipped
            trajectory of this robot.
        model: the robot, which determines the order of the joints.
        fit: stretch all times if a joint is too fast, in place of an error.
        files: the files that a path may refer to.
        without: names of columns of a CSV file to leave out, such as that of the jaws.

    Raises:
        DescriptionError: there is no such file or column, or it is invalid; names the line.
    """
    path = _path(file, model, files)
    read = FORMS[trajectory_form(path)][0]
    if without and read is not formats.read_csv:
        raise DescriptionError("has no columns with names", remedy="use .csv", file=str(path))
    if without:
        read = partial(formats.read_csv, without=without)
    return validated(read(path, model, files), model, fit)


def read_tool_trajectory(
    file: str | os.PathLike[str],
    joints: Sequence[str],
    files: FileAccess = ANY_FILE,
    drawing: DrawingOptions = AS_DRAWN,
) -> ToolTrajectory | None:
    """Read poses of the tool from a CSV file, or the path of a pen from a drawing.

    Returns None if the file is another trajectory.

    Args:
        file: path of the file, or the name of a shipped trajectory, which is one of joints.
        joints: names of the robot's joints; a file with just these columns is one of joints.
        files: the files that a path may refer to.
        drawing: where and how an SVG file is drawn.

    Raises:
        DescriptionError: there is no such file or it is invalid; names the line.
    """
    path = given_path(file, has_ending=Path(file).suffix != "", files=files)
    if path is not None and path.suffix.lower() == SVG:
        return pen_path(read_svg(path, files), drawing, str(path))
    if path is None or trajectory_form(path) != ".csv":
        return None
    return formats.read_tool_csv(path, joints, files)


def tool_path(
    file: str, text: str, model: RobotModel, drawing: DrawingOptions
) -> ToolTrajectory | None:
    """Return the path of the tool from a file, or from a text if there is one; None for joints.

    Raises:
        DescriptionError: both or neither are given, or the drawing is invalid.
    """
    if bool(file) == bool(text):
        raise DescriptionError("needs a file or --text", remedy="give one of the two")
    if text:
        return text_path(text, drawing)
    return read_tool_trajectory(file, model.joint_names, drawing=drawing)


def read_tool_poses(path: Path, joints: Sequence[str]) -> Array | None:
    """Return the poses (m, 4, 4) of the tool in a CSV file, one or more; None without poses.

    Raises:
        DescriptionError: the file is invalid; names the line.
    """
    tool = formats.read_tool_csv(path, joints, ANY_FILE, fewest=1)
    return None if tool is None else tool.poses


def add_tool_pose(path: Path, pose: Array, units: Units) -> int:
    """Add a pose of the tool, a second after the last one, to a CSV file of poses.

    The file is made if it is missing; what is in it stays.

    Args:
        path: of the file.
        pose: (4, 4) base_link <- tool0 [m].
        units: in which it is written; the file must have the same.

    Returns:
        The number of poses in the file.

    Raises:
        DescriptionError: the file is invalid or of another form; it is unchanged.
        InputError: it cannot be written.
    """
    columns = ",".join((formats.TIME, *formats.TOOL_POSITION, *formats.TOOL_ANGLES))
    head = f"# units: {units.length}, {units.angle}\n{columns}\n"
    read = contents(path)
    text = head if read is None else read_text(path, MAX_BYTES, DescriptionError)
    if not text.startswith(head):
        problem = f"has other columns or units than {columns} in {units.length} and {units.angle}"
        raise DescriptionError(problem, remedy="name another file", file=str(path))
    rows = [row for row in text.removeprefix(head).splitlines() if row and row[0] != "#"]
    if rows:
        read_tool_poses(path, ())  # checks them
    time = float(rows[-1].partition(",")[0]) + 1.0 if rows else 0.0
    xyz, rpy = matrix_rpy(pose)
    values = [units.written(float(value), "prismatic") for value in xyz]
    values += [units.written(float(value), "revolute") for value in rpy]
    row = ",".join(f"{round(value, 9) + 0.0:.12g}" for value in (time, *values))
    end = "" if text.endswith("\n") else "\n"
    save_edit(f"{text}{end}{row}\n".encode(), path, read)
    return len(rows) + 1


def check_recording(path: Path, files: FileAccess = ANY_FILE) -> None:
    """Raise DescriptionError unless a file has the form of a trajectory or a drawing."""
    if path.suffix.lower() == SVG:
        read_svg(path, files)
        return
    FORMS[trajectory_form(path)][1](path, files)


def write_trajectory(
    file: str | os.PathLike[str], trajectory: JointTrajectory, model: RobotModel
) -> None:
    """Write a trajectory in the format of the file's ending.

    Raises:
        DescriptionError: the ending is unknown, or the file cannot be written.
    """
    form = trajectory_form(Path(file))
    if form == ".txt":
        text = formats.rows_text(trajectory, model)
    else:
        text = formats.csv_text(trajectory) if form == ".csv" else formats.yaml_text(trajectory)
    write_bytes(text.encode(), file)


def write_tool_trajectory(file: str | os.PathLike[str], tool: ToolTrajectory) -> None:
    """Write a trajectory of the tool, whose roll is free; raise DescriptionError if it cannot."""
    if Path(file).suffix.lower() != ".csv":
        raise DescriptionError("poses of the tool are CSV", remedy="use .csv", file=str(file))
    write_bytes(formats.tool_csv_text(tool).encode(), file)


def _path(file: str | os.PathLike[str], model: RobotModel, files: FileAccess) -> Path:
    text = os.fspath(file)
    path = given_path(file, has_ending=Path(text).suffix != "", files=files)
    if path is not None:
        return path
    names = shipped_trajectories(model.name)
    if text not in names:
        raise DescriptionError(
            f"{model.name} has no trajectory named {text!r}",
            remedy=f"{did_you_mean(text, names)}; give a file with its ending, {text}.csv",
        )
    return names[text]


def trajectories_for(robot: str, folder: Path | None) -> dict[str, Path]:
    """Return the trajectories that may suit a robot by name: the shipped ones, those of a folder.

    Of the folder those files are taken that have the form of a trajectory, of whichever robot;
    their names have an ending.
    """
    found = shipped_trajectories(robot)
    for path in () if folder is None else sorted(folder.iterdir()):
        if path.suffix.lower() in FORMS and path.is_file() and _has_form(path):
            found[path.name] = path
    return found


def _has_form(path: Path) -> bool:
    with suppress(DescriptionError):
        check_recording(path)
        return True
    return False


def trajectory_form(path: Path) -> str:
    """Return the ending of a trajectory file; raise DescriptionError if it is unknown."""
    form = path.suffix.lower()
    if form not in FORMS:
        raise DescriptionError(
            f"a trajectory cannot end in {form or 'nothing'!r}",
            remedy="use .csv, .yaml, .txt for rows of positions, or .svg for a drawing",
            file=str(path),
        )
    return form
