# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_editor.py
"""Find and load robots: shipped ones by name, others by path; read URDF and text files."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from arm_common.files.access import ANY_FILE, FileAccess, shipped_files
from arm_common.plugins import PluginGroup
from arm_common.suggestions import did_you_mean, program

from arm_description.errors import DescriptionError
from arm_description.robot_file.reader import read_robot
from arm_description.robot_model import RobotModel

FORMATS = PluginGroup(
    group="arm_description.robot_formats",
    kind="format of robots",
    shipped={"urdf": "arm_description.importers.urdf:load_urdf"},
)
"""Formats other than the robot file: functions that return the robot of a file."""
SERVO_LIMITS = PluginGroup(
    group="arm_description.servo_limits", kind="reader of servo calibrations"
)
"""Functions of a robot and the name or path of a calibration: the robot as its servos limit it."""
URDF2DH = program("arm_description", "urdf2dh")
DEFAULT_ROBOT = "nut_arm"  # of programs and launch files
_SUFFIXES = (".yaml", ".yml")
_URDF_SUFFIXES = (".urdf", ".xacro", ".xml")


def load_robot(robot: str | os.PathLike[str], calibration: str = "") -> RobotModel:
    """Load and validate a robot.

    A URDF or xacro file is taken as the robot that ``urdf2dh`` makes of it without options.

    Args:
        robot: name of a shipped robot, or path of a robot file, or of a URDF or xacro file.
        calibration: name or path of a servo calibration, which narrows the limits to what the
            servos can do; "" for the limits of the robot file alone.

    Raises:
        DescriptionError: no such robot, an invalid file, or a URDF without an exact DH table.
        InputError: no such calibration, or one that does not suit the robot.
    """
    path = description_path(robot)
    model: RobotModel = FORMATS.load("urdf")(path) if is_xml(path) else read_robot(path)
    return _limited_by_servos(model, calibration) if calibration else model


def add_calibration(parser: argparse.ArgumentParser) -> None:
    """Add ``--calibration FILE``."""
    text = "servo calibration, whose limits hold as well: shipped name or path"
    parser.add_argument("--calibration", default="", metavar="FILE", help=text)


def _limited_by_servos(model: RobotModel, calibration: str) -> RobotModel:
    for name in SERVO_LIMITS.names:
        limited: RobotModel = SERVO_LIMITS.load(name)(model, calibration)
        return limited
    raise DescriptionError("arm_hardware, which reads servo calibrations, is not installed")


def robot_path(robot: str | os.PathLike[str]) -> Path:
    """Return the path of a robot file.

    Args:
        robot: name of a shipped robot, or path of a robot file.

    Raises:
        DescriptionError: no robot of that name is shipped, or there is no such robot file.
    """
    path = description_path(robot)
    if is_xml(path):
        remedy = f"make one of a URDF by {URDF2DH} {path} -o {path.stem}.yaml"
        raise DescriptionError("is XML, not a robot file", remedy=remedy, file=str(path))
    return path


def description_path(robot: str | os.PathLike[str]) -> Path:
    """Return the path of a robot file, or of a URDF or xacro file.

    Raises:
        DescriptionError: no robot of that name is shipped, or there is no such file.
    """
    path = given_path(robot, has_ending=Path(robot).suffix in (*_SUFFIXES, *_URDF_SUFFIXES))
    if path is not None:
        return path
    text, names = os.fspath(robot), shipped_robots()
    if text not in names and Path(text).exists():
        if is_xml(Path(text)):
            return Path(text)
        kind = "folder" if Path(text).is_dir() else "file"
        raise DescriptionError(
            f"this is a {kind}, not a robot file",
            remedy=f"give a file that ends in {' or '.join(_SUFFIXES)}, or a shipped name",
            file=text,
        )
    if text not in names:
        raise DescriptionError(
            f"there is no robot named {text!r}",
            remedy=f"{did_you_mean(text, names)}; give a file as a path, ./my.yaml",
        )
    return names[text]


def is_xml(path: Path) -> bool:
    """Return True if the text of a file begins as XML does, which no robot file can."""
    try:
        with path.open("rb") as file:
            return file.read(1000).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    except OSError:
        return False  # reported by whoever reads it


def given_path(
    file: str | os.PathLike[str], has_ending: bool, files: FileAccess = ANY_FILE
) -> Path | None:
    """Return the path of a file, None for the name of a shipped one.

    A name is a string without a folder and without the ending of a file.

    Raises:
        DescriptionError: there is no such file.
    """
    text = os.fspath(file)
    if isinstance(file, str) and os.sep not in text and not has_ending:
        return None
    path = files.path(text)
    if not files.has(path):
        raise DescriptionError(files.absence(path, "file"), remedy="check the path", file=text)
    return path


def shipped_robots() -> dict[str, Path]:
    """Return the paths of the shipped robots by name, sorted."""
    return shipped_files("arm_description", "robots")
