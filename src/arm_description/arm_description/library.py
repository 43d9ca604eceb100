# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Find and load robots: shipped ones by name, others by path; read text files."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from arm_common.files import ANY_FILE, FileAccess, shipped_files
from arm_common.suggestions import did_you_mean

from arm_description.errors import DescriptionError
from arm_description.robot_file.reader import read_robot
from arm_description.robot_model import RobotModel

_SUFFIXES = (".yaml", ".yml")


def load_robot(robot: str | os.PathLike[str]) -> RobotModel:
    """Load and validate a robot.

    Args:
        robot: name of a shipped robot, or path of a robot file.

    Raises:
        DescriptionError: no such robot, or an invalid robot file.
    """
    return read_robot(robot_path(robot))


def robot_path(robot: str | os.PathLike[str]) -> Path:
    """Return the path of a robot file.

    Args:
        robot: name of a shipped robot, or path of a robot file.

    Raises:
        DescriptionError: no robot of that name is shipped, or there is no such file.
    """
    path = given_path(robot, has_ending=Path(robot).suffix in _SUFFIXES)
    if path is not None:
        return path
    text, names = os.fspath(robot), shipped_robots()
    if text not in names and Path(text).exists():
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


def read_text(path: Path, max_bytes: int, files: FileAccess = ANY_FILE) -> str:
    """Read a UTF-8 file of at most `max_bytes`.

    Raises:
        DescriptionError: it cannot be read, is too large, or is not UTF-8.
    """
    error = partial(DescriptionError, file=str(path))
    try:
        data = files.read(path, max_bytes)
    except OSError as problem:
        raise error(f"cannot be read ({problem.strerror})", remedy="check the path") from None
    if len(data) > max_bytes:
        larger = f"is larger than {max_bytes // 1_000_000} MB"
        raise error(larger, remedy="check that it is the right file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = problem.object[: problem.start].count(b"\n") + 1
        raise error("is not UTF-8 text", remedy="save it as UTF-8", line=line) from None
