# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read a robot file, including the sources given beside its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import cast

import numpy as np
from arm_common.yaml.document import Field, parse_yaml, read_yaml
from arm_common.yaml.schema_types import Either, Kind, Leaf, ListOf, Named, Table, Variants

from arm_description.errors import DescriptionError
from arm_description.model.elements import CONVENTIONS, Convention
from arm_description.robot_file.joints import read_joints
from arm_description.robot_file.keys import COMPOUND, ROBOT, SOURCE, SOURCED
from arm_description.robot_file.scope import read_name, read_scope, read_units, sourced_value
from arm_description.robot_file.sections import (
    read_bars,
    read_colours,
    read_gripper,
    read_look,
    read_mesh,
    read_named,
    read_payload,
    read_postures,
)
from arm_description.robot_file.transmissions import read_transmissions
from arm_description.robot_model import RobotModel, in_order


def _sources(field: Field, kind: Kind) -> Iterator[tuple[str, str]]:
    """Yield the key of each source, such as ``joints[0].limits``, and its text."""
    if isinstance(kind, Leaf):
        if field.is_mapping:
            yield from _sources(field, SOURCED)
    elif isinstance(kind, ListOf):
        for item in field.items():
            yield from _sources(item, kind.kind)
    elif isinstance(kind, Either):
        yield from _sources(field, kind.kinds[field.is_list])
    elif isinstance(kind, Named):
        for value in field.mapping().values():
            yield from _sources(value, kind.kind)
    elif isinstance(kind, Table):
        for name, value in field.mapping().items():
            if kind.keys[name].kind is SOURCE and field.key:
                yield field.key, value.text()
            else:
                yield from _sources(value, kind.keys[name].kind)
    elif isinstance(kind, Variants):
        yield from _sources(field, kind.tables[field.mapping()[kind.by].raw("a word")])


def _formulas(keys: Mapping[str, Field]) -> Iterator[tuple[str, str]]:
    """Yield the key of each cell of the table, of base and tool, and its text."""
    for row in keys["joints"].items():
        cells = row.mapping()
        names = COMPOUND.get(cells["type"].text(), ("",))
        for name in (f"{cells['name'].text()}_{axis}".rstrip("_") for axis in names):
            for cell in ("theta", "d", "a", "alpha"):
                if cell in cells:
                    yield f"joints.{name}.{cell}", sourced_value(cells[cell]).raw("a number")
    for part in ("base", "tool"):
        for key, field in keys[part].mapping().items() if part in keys else ():
            for k, item in enumerate(field.items() if field.is_list else ()):
                yield f"{part}.{key}[{k}]", sourced_value(item).raw("a number")


# A smaller sum of all lengths of a table means a mistaken unit [m].
MIN_LENGTH = 0.005
MAX_BYTES = 200_000


def read_robot(path: Path) -> RobotModel:
    """Read a robot file.

    Raises:
        DescriptionError: it cannot be read or is invalid; names file, line and key.
    """
    return read_root(read_yaml(path, DescriptionError, MAX_BYTES))


def parse_robot(text: bytes | str, name: str = "robot") -> RobotModel:
    """Parse the text of a robot file.

    Args:
        text: the YAML text.
        name: name of the file in errors.

    Raises:
        DescriptionError: it is invalid; names line and key.
    """
    return read_root(parse_yaml(text, name, DescriptionError, MAX_BYTES))


def read_root(root: Field) -> RobotModel:
    """Read a robot from the root field of its file."""
    keys = ROBOT.read(root)
    convention = cast(Convention, keys["convention"].choice(CONVENTIONS))
    units = read_units(keys["units"])
    scope = read_scope(units, keys.get("constants"))
    joints, dependents = read_joints(keys["joints"], convention, scope)
    names = tuple(joint.name for joint in (*joints, *dependents))
    rows = in_order(joints, dependents)
    gripper = read_gripper(keys["gripper"], names, scope) if "gripper" in keys else None
    parts = ("base", *names, *(("gripper", *gripper.joints) if gripper else ()))
    bodies = tuple(f"{name}_link" for name in parts)  # links with shapes
    visible = (*bodies, "flange", "tool0")
    model = RobotModel(
        name=read_name(keys["name"]),
        convention=convention,
        joints=joints,
        dependents=dependents,
        base=scope.origin(keys.get("base")),
        tool=scope.origin(keys.get("tool")),
        gripper=gripper,
        postures=read_postures(keys.get("postures"), joints, gripper, scope),
        colours=read_colours(keys.get("colours")),
        **{key: keys[key].text() for key in ("description", "source") if key in keys},
        payload=read_payload(keys["payload"], scope) if "payload" in keys else None,
        masses=read_named(keys.get("masses"), bodies[1:], scope.positive),
        meshes=read_named(keys.get("meshes"), visible, partial(read_mesh, scope=scope)),
        looks=read_named(keys.get("looks"), visible, partial(read_look, scope=scope)),
        transmissions=read_transmissions(keys.get("transmissions"), joints, scope),
        bars=read_bars(keys.get("bars"), rows, convention, scope),
        units=units,
        constants=scope.expressions.values,
        sources=MappingProxyType(dict(_sources(root, ROBOT))),
        formulas=MappingProxyType(dict(_formulas(keys))),
    )
    _reject_tiny(model, keys["units"])
    _check_limits(model, keys["joints"])
    for link in model.meshes.keys() & model.looks.keys():
        raise keys["looks"].mapping()[link].error("has a mesh, too", "delete one of them")
    if "postures" in keys:
        _check_postures(model, keys["postures"])
    return model


def _check_limits(model: RobotModel, field: Field) -> None:
    """Raise an error if limits that depend on other joints contradict each other everywhere."""
    constraints, start = model.constraint_set, np.array([joint.rest for joint in model.joints])
    if constraints and constraints.nearest(start, model.lower, model.upper) is None:
        limit = constraints.tightest(start)
        raise field.error(
            f"no posture is inside all limits ({limit.sentence if limit else ''})",
            "widen the limits of these joints, or the range of their transmissions",
        )


def _check_postures(model: RobotModel, field: Field) -> None:
    """Raise an error for a posture that limits which depend on other joints do not allow."""
    for name, posture in field.mapping().items():
        q = [model.postures[name][joint] for joint in model.joint_names]
        if violation := model.constraint_set.worst(q):
            raise posture.error(
                f"is outside the limits ({violation.sentence})", "change the posture or the limits"
            )


def _reject_tiny(model: RobotModel, units: Field) -> None:
    """Raise an error for an arm that is too small, which means metres read as millimetres."""
    lengths = [length for joint in model.rows for length in (joint.row.a, joint.row.d)]
    total = sum(map(abs, (*lengths, *model.tool.xyz)))
    if model.units.length != "m" and 0.0 < total < MIN_LENGTH:
        problem = f"all lengths of the table add up to {1000.0 * total:.3g} mm"
        raise units.error(problem, f"check units.length = {model.units.length}")
