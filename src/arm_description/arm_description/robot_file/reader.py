# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The whole robot file."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import cast

from ..dh import CONVENTIONS, Convention
from ..elements import Gripper
from ..errors import DescriptionError
from ..model import RobotModel
from ..yaml_fields import Field
from ..yaml_source import parse_yaml, read_yaml
from .gripper import read_gripper
from .joints import read_joints
from .keys import ROBOT
from .load import read_masses, read_payload
from .look import read_colours
from .meshes import read_meshes
from .postures import read_postures
from .scope import read_name, read_scope, read_units
from .sources import sources_of

# Sum of all lengths of a table, below which only a mistaken unit can be [m].
SHORTEST_ARM = 0.005
MOST_BYTES = 200_000


def read_robot(path: Path) -> RobotModel:
    """Read a robot file.

    Args:
        path: the YAML file.

    Raises:
        DescriptionError: it cannot be read or something in it is wrong; names file, line, key.
    """
    return robot_of(read_yaml(path, DescriptionError, MOST_BYTES))


def parse_robot(text: bytes | str, name: str = "robot") -> RobotModel:
    """Read the text of a robot file.

    Args:
        text: the YAML text.
        name: what errors call the file.

    Raises:
        DescriptionError: something in it is wrong; names the line and key.
    """
    return robot_of(parse_yaml(text, name, DescriptionError, MOST_BYTES))


def robot_of(root: Field) -> RobotModel:
    """Read the root field of a robot file.

    Raises:
        DescriptionError: something in it is wrong; names file, line and key.
    """
    keys = ROBOT.read(root)
    convention = cast(Convention, keys["convention"].choice(CONVENTIONS))
    units = read_units(keys["units"])
    scope = read_scope(units, keys.get("constants"))
    joints = read_joints(keys["joints"], convention, scope)
    names = tuple(joint.name for joint in joints)
    gripper = read_gripper(keys["gripper"], names, scope) if "gripper" in keys else None
    solid = _solid_links(names, gripper)
    model = RobotModel(
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
        payload=read_payload(keys.get("payload"), scope),
        masses=read_masses(keys.get("masses"), solid[1:], scope),
        meshes=read_meshes(keys.get("meshes"), (*solid, "flange", "tool0"), scope),
        units=units,
        constants=scope.expressions.values,
        sources=MappingProxyType(dict(sources_of(root))),
    )
    _refuse_dwarf(model, keys["units"])
    return model


def _solid_links(joints: tuple[str, ...], gripper: Gripper | None) -> tuple[str, ...]:
    """Names of the links that have a body, base_link first."""
    parts = ("base", *joints, *(("gripper", *gripper.joints) if gripper else ()))
    return tuple(f"{name}_link" for name in parts)


def _refuse_dwarf(model: RobotModel, units: Field) -> None:
    """Metres read as millimetres make an arm that nobody can see."""
    lengths = [length for joint in model.joints for length in (joint.row.a, joint.row.d)]
    total = sum(map(abs, (*lengths, *model.tool.xyz)))
    if model.units.length != "m" and 0.0 < total < SHORTEST_ARM:
        raise units.error(
            f"all lengths of the table add up to {1000.0 * total:.3g} mm",
            f"is units.length = {model.units.length} right?",
        )
