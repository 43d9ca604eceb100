# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/importers/test_urdf.py
"""Read the text of a URDF file; expand a xacro file, or scale lengths that are not in metres."""

from __future__ import annotations

import importlib
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType

from arm_common.errors import one_line
from arm_common.files.access import read_text
from arm_common.suggestions import did_you_mean, install_command

from arm_description.errors import UrdfError
from arm_description.urdf.reader import MOMENTS, parse_xml

MAX_BYTES = 32_000_000
_XACRO = re.compile(r"<(xacro:|[^>]*\$[({])")  # an instruction, or a value to be computed
_NONE: Mapping[str, str] = MappingProxyType({})


def read_urdf_file(path: Path, arguments: Mapping[str, str] = _NONE) -> str:
    """Return the text of a URDF file; a xacro file is expanded.

    Args:
        path: of a URDF or xacro file.
        arguments: values of the arguments of a xacro file.

    Raises:
        UrdfError: it cannot be read or expanded, or has no such arguments; names the file.
    """
    text = read_text(path, MAX_BYTES, UrdfError)
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


def scaled_urdf(text: str, scale: float) -> str:
    """Return a URDF in metres whose lengths, in another unit, are multiplied by a scale.

    Masses stay; inertias are multiplied by its square. Shapes and their meshes stay, too.

    Raises:
        UrdfError: it is not a URDF, or a number of it is none.
    """
    robot = parse_xml(text)
    sliding = {j.get("name") for j in robot.findall("joint") if j.get("type") == "prismatic"}
    for joint in robot.findall("joint"):
        slides = joint.get("name") in sliding
        for element in joint.findall("origin"):
            _scale(element, ("xyz",), scale)
        for element in joint.findall("limit") if slides else ():
            _scale(element, ("lower", "upper", "velocity"), scale)
        for element in joint.findall("mimic"):
            _scale(element, ("offset",), scale if slides else 1.0)
            ratio = (scale if slides else 1.0) / (
                scale if element.get("joint") in sliding else 1.0
            )
            element.set("multiplier", element.get("multiplier", "1"))
            _scale(element, ("multiplier",), ratio)
    for inertial in robot.findall("link/inertial"):
        for element in inertial.findall("origin"):
            _scale(element, ("xyz",), scale)
        for element in inertial.findall("inertia"):
            _scale(element, MOMENTS, scale**2)
    return ET.tostring(robot, encoding="unicode")


def _scale(element: ET.Element, keys: Sequence[str], scale: float) -> None:
    """Multiply the numbers of attributes; what is no number is for the reader to report."""
    for key in keys:
        with suppress(ValueError):
            values = [scale * float(word) for word in element.get(key, "").split()]
            if values:
                element.set(key, " ".join(map(repr, values)))
