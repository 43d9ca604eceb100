# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The whole robot file."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from ..dh import CONVENTIONS, Convention
from ..errors import DescriptionError
from ..model import RobotModel
from ..yaml_fields import Field
from ..yaml_source import parse_yaml, read_yaml
from .gripper import read_gripper
from .joints import read_joints
from .look import read_colours
from .postures import read_postures
from .scope import read_name, read_scope, read_units

KEYS = (
    "name",
    "description",
    "source",
    "convention",
    "units",
    "constants",
    "base",
    "tool",
    "joints",
    "gripper",
    "postures",
    "colours",
)
REQUIRED = ("name", "convention", "units", "joints")


def read_robot(path: Path) -> RobotModel:
    """Read a robot file.

    Args:
        path: the YAML file.

    Raises:
        DescriptionError: it cannot be read or something in it is wrong; names file, line, key.
    """
    return _read(read_yaml(path, DescriptionError))


def parse_robot(text: bytes | str, name: str = "robot") -> RobotModel:
    """Read the text of a robot file.

    Args:
        text: the YAML text.
        name: what errors call the file.

    Raises:
        DescriptionError: something in it is wrong; names the line and key.
    """
    return _read(parse_yaml(text, name, DescriptionError))


def _read(root: Field) -> RobotModel:
    keys = root.mapping(KEYS, REQUIRED)
    convention = cast(Convention, keys["convention"].choice(CONVENTIONS))
    units = read_units(keys["units"])
    scope = read_scope(units, keys.get("constants"))
    joints = read_joints(keys["joints"], convention, scope)
    names = tuple(joint.name for joint in joints)
    gripper = read_gripper(keys["gripper"], names, scope) if "gripper" in keys else None
    return RobotModel(
        name=read_name(keys["name"]),
        convention=convention,
        joints=joints,
        base=scope.origin(keys.get("base")),
        tool=scope.origin(keys.get("tool")),
        gripper=gripper,
        postures=read_postures(keys.get("postures"), joints, gripper, scope),
        colours=read_colours(keys.get("colours")),
        description=keys["description"].text() if "description" in keys else "",
        source=keys["source"].text() if "source" in keys else "",
        units=units,
    )
