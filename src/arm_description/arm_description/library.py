# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Find and load robots: shipped ones by name, others by path; read URDF and text files."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType

from arm_common.errors import one_line
from arm_common.files import ANY_FILE, FileAccess, shipped_files
from arm_common.suggestions import did_you_mean, install_command, program

from arm_description.errors import DescriptionError, UrdfError
from arm_description.robot_file.reader import read_robot
from arm_description.robot_model import RobotModel

# entry points: take a robot and the name or path of a calibration; return the robot as its servos
# limit it
SERVO_LIMITS = "arm_description.servo_limits"
_LOGGER = logging.getLogger(__name__)
_SUFFIXES = (".yaml", ".yml")
_URDF_SUFFIXES = (".urdf", ".xacro", ".xml")
_URDF_BYTES = 32_000_000
_XACRO = re.compile(r"<(xacro:|[^>]*\$[({])")  # an instruction, or a value to be computed
_EXACT = 1e-9  # [m or -]
_URDF2DH = program("arm_description", "urdf2dh")
_NONE: Mapping[str, str] = MappingProxyType({})


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
    model = _imported(path) if is_xml(path) else read_robot(path)
    return _limited_by_servos(model, calibration) if calibration else model


def add_calibration(parser: argparse.ArgumentParser) -> None:
    """Add ``--calibration FILE``."""
    text = "servo calibration, whose limits hold as well: shipped name or path"
    parser.add_argument("--calibration", default="", metavar="FILE", help=text)


def _limited_by_servos(model: RobotModel, calibration: str) -> RobotModel:
    for point in entry_points(group=SERVO_LIMITS):
        limited: RobotModel = point.load()(model, calibration)
        return limited
    raise DescriptionError("arm_hardware, which reads servo calibrations, is not installed")


def _imported(path: Path) -> RobotModel:
    """Return the robot of a URDF or xacro file; log what is not carried over."""
    from arm_description.importers.urdf import import_urdf  # here: few need it

    by_hand = f"{_URDF2DH} {path} -o {path.name.partition('.')[0] or 'arm'}.yaml"
    try:
        found = import_urdf(read_urdf_file(path), file=path.name)
    except UrdfError as error:
        remedy = f"{error.remedy}; {by_hand} has options" if error.remedy else f"see {by_hand}"
        raise UrdfError(error.problem, remedy=remedy, file=str(path)) from None
    if found.error > _EXACT:
        problem = f"its DH table differs from it by {found.error:.1e} m or rad"
        raise UrdfError(problem, remedy=f"see {by_hand}", file=str(path))
    for note in found.losses:
        _LOGGER.warning("%s: %s", path, note)
    return found.model


def robot_path(robot: str | os.PathLike[str]) -> Path:
    """Return the path of a robot file.

    Args:
        robot: name of a shipped robot, or path of a robot file.

    Raises:
        DescriptionError: no robot of that name is shipped, or there is no such robot file.
    """
    path = description_path(robot)
    if is_xml(path):
        remedy = f"make one of a URDF by {_URDF2DH} {path} -o {path.stem}.yaml"
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


def read_urdf_file(path: Path, arguments: Mapping[str, str] = _NONE) -> str:
    """Return the text of a URDF file; a xacro file is expanded.

    Args:
        path: of a URDF or xacro file.
        arguments: values of the arguments of a xacro file.

    Raises:
        UrdfError: it cannot be read or expanded, or has no such arguments; names the file.
    """
    try:
        text = read_text(path, _URDF_BYTES)
    except DescriptionError as error:
        problem, remedy = error.problem, error.remedy
        raise UrdfError(problem, remedy=remedy, file=error.file, line=error.line) from None
    if "<robot" in text and _XACRO.search(text):
        return _expanded(path, arguments)
    if arguments:
        problem = f"is not a xacro file, so it has no argument {' or '.join(arguments)}"
        raise UrdfError(problem, remedy="leave out --xacro-arg", file=str(path))
    return text


def _expanded(path: Path, arguments: Mapping[str, str]) -> str:
    """Return the URDF that a xacro file describes."""
    error = partial(UrdfError, file=str(path))
    try:
        xacro = importlib.import_module("xacro")
    except ImportError:
        remedy = install_command("xacro", "ros-jazzy-xacro")
        raise error("is a xacro file, and xacro is not installed", remedy=remedy) from None
    try:
        text = str(xacro.process_file(str(path), mappings=dict(arguments)).toxml())
        has_link = ET.fromstring(text).find("link") is not None
    except Exception as problem:  # noqa: BLE001 - its expressions are Python and raise anything
        cause = getattr(problem, "exc", None)  # a package that is missing is a KeyError
        reason = cause.args[0] if isinstance(cause, KeyError) and cause.args else problem
        raise error(
            f"xacro cannot expand it ({one_line(' '.join(str(reason).split()), 300)})",
            remedy="source the workspace of its packages, or set its arguments by "
            "--xacro-arg NAME:=VALUE",
        ) from None
    if not has_link:
        raise error("only defines macros of xacro", remedy="give the file that calls them")
    names = {name for file in (path, *xacro.all_includes) for name in _arguments_of(Path(file))}
    for name in arguments.keys() - names:
        raise error(f"has no argument {name!r}", remedy=did_you_mean(name, sorted(names)))
    return text


def _arguments_of(path: Path) -> list[str]:
    """Return the names of the arguments that a xacro file declares or uses."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return re.findall(r"""(?:<xacro:arg\s[^>]*?name=["']|\$\(arg )(\w+)""", text)


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
