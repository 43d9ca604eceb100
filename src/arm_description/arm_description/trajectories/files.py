# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Find, read and write trajectory files; the ending of the name says the format."""

from __future__ import annotations

import os
from pathlib import Path

from arm_common.atomic_file import write_bytes
from arm_common.suggestions import did_you_mean

from arm_description.errors import DescriptionError
from arm_description.library import given_path, shipped
from arm_description.robot_model import RobotModel
from arm_description.trajectories.formats import (
    csv_text,
    read_csv,
    read_rows,
    read_trajectory_yaml,
    rows_text,
    yaml_text,
)
from arm_description.trajectories.trajectory import JointTrajectory, checked

READERS = {
    ".csv": read_csv,
    ".yaml": read_trajectory_yaml,
    ".yml": read_trajectory_yaml,
    ".txt": read_rows,
}


def read_trajectory(
    file: str | os.PathLike[str], model: RobotModel, fit: bool = False
) -> JointTrajectory:
    """Read a trajectory of all joints, from time 0, within the limits of position and speed.

    Args:
        file: path of a .csv, .yaml or .txt (rows of angles) file, or the name of one that is
            shipped for this robot.
        model: the robot, whose order of joints it gets.
        fit: where the file is faster than a joint can be, stretch all its times; else refuse it.

    Raises:
        DescriptionError: there is no such file or something in it is wrong; names the line.
    """
    path = _path(file, model)
    return checked(READERS[_form(path)](path, model), model, fit)


def write_trajectory(
    file: str | os.PathLike[str], trajectory: JointTrajectory, model: RobotModel
) -> None:
    """Write a trajectory in the format that the name's ending says.

    Raises:
        DescriptionError: the ending is none of these, or the file cannot be written.
    """
    form = _form(Path(file))
    if form == ".txt":
        text = rows_text(trajectory, model)
    else:
        text = csv_text(trajectory) if form == ".csv" else yaml_text(trajectory)
    write_bytes(text.encode(), os.fspath(file))


def _path(file: str | os.PathLike[str], model: RobotModel) -> Path:
    text = os.fspath(file)
    path = given_path(file, has_ending=Path(text).suffix != "")
    if path is not None:
        return path
    names = shipped_trajectories(model.name)
    if text not in names:
        raise DescriptionError(
            f"no trajectory of {model.name} is called {text!r}",
            remedy=f"{did_you_mean(text, names)}; a file needs its ending, {text}.csv",
        )
    return names[text]


def shipped_trajectories(robot: str) -> dict[str, Path]:
    """Files of the trajectories that are shipped for a robot, by name, sorted."""
    return shipped(f"trajectories/{robot}", READERS)


def _form(path: Path) -> str:
    form = path.suffix.lower()
    if form not in READERS:
        raise DescriptionError(
            f"a trajectory cannot end in {form or 'nothing'!r}",
            remedy="known are .csv, .yaml, and .txt for rows of angles",
            file=str(path),
        )
    return form
