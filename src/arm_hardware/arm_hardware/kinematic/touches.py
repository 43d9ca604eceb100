# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The file of touched points: joint positions as told, and where the tip really was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arm_description.nearest import nearest
from arm_description.robot_file.keys import UNITS
from arm_description.robot_file.kinds import Key, Leaf, ListOf, Named, Table
from arm_description.units import Units
from arm_description.yaml_fields import Field
from arm_description.yaml_source import read_yaml

from arm_description import RobotModel
from arm_hardware.errors import CalibrationError
from arm_hardware.tip import Array

XYZ = ListOf(Leaf("length", "number"), 3, 3)
TOUCH = Table(
    {
        "joints": Key(Named(Leaf("position", "number"), "joint"), "as told, of every joint", True),
        "tip": Key(XYZ, "where the touching point was, in base_link", True),
    }
)
FILE = Table(
    {
        "robot": Key(Leaf("name of a robot", "text"), "that was touched with", True),
        "units": Key(UNITS, "of the file", True),
        "touching": Key(
            XYZ, "the point of the tool that touches, in tool0; its origin if left out"
        ),
        "points": Key(ListOf(TOUCH, 1, None), "one row a touch", True),
    }
)


@dataclass(frozen=True)
class Touches:
    """What was touched.

    Attributes:
        robot: Name of the robot.
        at: (3,) the point of the tool that touches, in tool0 [m].
        told: (m, n) joint positions that the servos were told [rad or m].
        tips: (m, 3) where that point was, in base_link [m].
        lines: (m,) of the file, for what is said about a point.
    """

    robot: str
    at: Array
    told: Array
    tips: Array
    lines: tuple[int, ...] = ()


def load_touches(path: Path, model: RobotModel) -> Touches:
    """Read a file of touched points.

    Raises:
        CalibrationError: What is wrong, where, and what would be right.
    """
    top = FILE.read(read_yaml(path, CalibrationError))
    robot = top["robot"].text()
    if robot != model.name:
        raise top["robot"].error(f"is {robot!r}, the calibration is for {model.name!r}")
    words = UNITS.read(top["units"])
    kinds = UNITS.keys
    units = Units(
        words["length"].choice(kinds["length"].kind.words),  # type: ignore[union-attr]
        words["angle"].choice(kinds["angle"].kind.words),  # type: ignore[union-attr]
    )
    at = _xyz(top["touching"], units) if "touching" in top else np.zeros(3)
    rows = top["points"].items()
    if not rows:
        raise top["points"].error("is empty", "touch some points")
    given = [TOUCH.read(row) for row in rows]
    told = np.array([_joints(row["joints"], model, units) for row in given])
    tips = np.array([_xyz(row["tip"], units) for row in given])
    return Touches(robot, at, told, tips, tuple(row.line for row in rows))


def _joints(field: Field, model: RobotModel, units: Units) -> list[float]:
    given: Mapping[str, Field] = field.mapping()
    for name, value in given.items():
        if name not in model.joint_names:
            raise value.error("is not a joint of this robot", nearest(name, model.joint_names))
    for name in model.joint_names:
        if name not in given:
            raise field.error(f"has no {name!r}", "a point needs every joint")
    return [units.si(given[joint.name].number(), joint.type) for joint in model.joints]


def _xyz(field: Field, units: Units) -> Array:
    values = field.items()
    if len(values) != 3:
        raise field.error("must be three numbers, x, y and z")
    return np.array([units.metres(value.number()) for value in values])
