# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""URDF and xacro files as robots, and URDFs whose lengths are not in metres."""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from arm_description.errors import UrdfError
from arm_description.importers.urdf import import_urdf
from arm_description.library import URDF2DH
from arm_description.robot_model import RobotModel
from arm_description.urdf.file import read_urdf_file
from arm_description.urdf.reader import MOMENTS, parse_xml

_LOGGER = logging.getLogger(__name__)
_EXACT = 1e-9  # [m or -]


def load_urdf(path: Path) -> RobotModel:
    """Return the robot of a URDF or xacro file; log what is not carried over.

    It is the one that ``urdf2dh`` makes of it without options.

    Raises:
        UrdfError: it cannot be read, is not a single arm, or has no exact DH table.
    """
    by_hand = f"{URDF2DH} {path} -o {path.name.partition('.')[0] or 'arm'}.yaml"
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
