# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read a robot file, including the sources given beside its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import cast

import numpy as np
from arm_common.yaml.document import Field, parse_yaml, read_yaml

from arm_description.errors import DescriptionError
from arm_description.model.constraints import SLACK
from arm_description.model.elements import Convention, Joint, JointType, has_far_frames
from arm_description.model.gripper import Gripper
from arm_description.robot_file import SECTIONS
from arm_description.robot_file.joints import JointTable, read_table
from arm_description.robot_file.robot_keys import COMPOUND, GRIPPER_KEY, ROBOT, SCREWS
from arm_description.robot_file.scope import (
    EvaluationContext,
    read_name,
    read_scope,
    sourced_value,
)
from arm_description.robot_file.sections.gripper import read_gripper
from arm_description.robot_file.sections.looks import (
    read_colours,
    read_look,
    read_named,
    visible_links,
)
from arm_description.robot_model import RobotModel, in_order

# Sections that are read after all others, in this order: bars have masses.
OPTIONAL = ("transmissions", "bars", "payload", "meshes", "masses")


def _sources(field: Field) -> Iterator[tuple[str, str]]:
    """Yield the key of each source, such as ``joints[0].limits``, and its text."""
    for item in field.items() if field.is_list else ():
        yield from _sources(item)
    for name, value in field.mapping().items() if field.is_mapping else ():
        if name == "source" and field.key not in ("", "constants"):
            yield field.key, value.text()
        elif (field.key, name) != ("", "postures"):  # a joint may have that name
            yield from _sources(value)


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
        origin = keys[part].mapping() if part in keys and keys[part].is_mapping else {}
        for key, field in origin.items() if "name" not in origin else ():  # no tool
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
    return read_root(read_yaml(path, DescriptionError, MAX_BYTES), path.parent)


def parse_robot(text: bytes | str, name: str = "robot", folder: Path | None = None) -> RobotModel:
    """Parse the text of a robot file.

    Args:
        text: the YAML text.
        name: name of the file in errors.
        folder: where the files are that it names; by default the folder of that name.

    Raises:
        DescriptionError: it is invalid; names line and key.
    """
    root = parse_yaml(text, name, DescriptionError, MAX_BYTES)
    return read_root(root, Path(name).parent if folder is None else folder)


_OTHER_KINDS = {  # a key that only such a file has: what it is, what to do
    "board": ("a servo calibration", "give it after --calibration"),
    "bus": ("a servo calibration", "give it after --calibration"),
    "steps": ("a task", "give it as the task, and its robot as the robot"),
}


def _refuse_other_kinds(root: Field) -> None:
    """Raise DescriptionError if a mapping is another kind of our files."""
    for key in root.mapping() if root.is_mapping else ():
        if key in _OTHER_KINDS:
            what, remedy = _OTHER_KINDS[key]
            raise root.error(f"this is {what}, not a robot file", remedy)


def read_root(root: Field, folder: Path) -> RobotModel:
    """Read a robot from the root field of its file, which is in a folder."""
    _refuse_other_kinds(root)
    written, keys = ROBOT.read(root)
    scope = read_scope(keys, folder)
    if "servo" in keys:
        scope = replace(scope, servo=keys.choice("servo"))
    table = _read_table(written, keys, scope)
    names = tuple(joint.name for joint in (*table.joints, *table.dependents))
    own = read_gripper(keys["gripper"], names, scope) if "gripper" in keys else None
    end = None  # what is attached there
    if "tool" in keys:
        end = SECTIONS.load("tool")(keys["tool"], table.end, own, names, scope)
    gripper = own or (end.gripper if end else None)
    model = RobotModel(
        name=read_name(keys["name"]),
        convention=table.convention,
        joints=table.joints,
        dependents=table.dependents,
        base=table.base,
        tool=end.tool if end else table.end,
        gripper=gripper,
        mounted=end.mounted if end else None,
        postures=_read_postures(keys.get("postures"), table.joints, gripper, scope),
        colours=read_colours(keys.get("colours")),
        description=keys["description"].text() if "description" in keys else "",
        source=keys["source"].text() if "source" in keys else "",
        units=scope.units,
        constants=scope.expressions.values,
        formulas=MappingProxyType(dict(_formulas(keys)) if table.as_written else {}),
    )
    if "looks" in keys:
        look = partial(read_look, scope=scope)
        model = replace(model, looks=read_named(keys["looks"], visible_links(model), look))
    for key in OPTIONAL:
        if key in keys:
            model = SECTIONS.load(key)(model, keys[key], scope)
    # Now all keys are known to be valid.
    model = replace(model, sources=MappingProxyType(dict(_sources(root))))
    model = end.attached_to(model) if end else model
    _check(model, keys)
    return model


def _read_table(written: str, keys: Mapping[str, Field], scope: EvaluationContext) -> JointTable:
    if written == SCREWS:
        screws: JointTable = SECTIONS.load("home")(keys, scope)
        return screws
    table = read_table(keys, cast(Convention, written), scope)
    rows = in_order(table.joints, table.dependents)
    if any(joint.axis != "z" for joint in rows):
        return table
    if not has_far_frames([joint.row for joint in rows], table.convention):
        return table
    near: JointTable = SECTIONS.load("far frames")(table, scope.units.max_length)
    return near


def _check(model: RobotModel, keys: Mapping[str, Field]) -> None:
    """Raise an error for what is valid in itself, but not together."""
    _reject_tiny(model, keys["units"])
    _check_limits(model, keys["joints"])
    for link in model.meshes.keys() & model.looks.keys():
        raise keys["looks"].mapping()[link].error("has a mesh, too", "delete one of them")
    if "postures" in keys:
        _check_postures(model, keys["postures"])


def _check_limits(model: RobotModel, field: Field) -> None:
    """Raise an error if limits that depend on other joints contradict each other everywhere."""
    constraints, start = model.constraint_set, np.array([joint.rest for joint in model.joints])
    if constraints and constraints.nearest(start, model.lower, model.upper) is None:
        limit = constraints.tightest(start)
        raise field.error(
            f"no posture is inside all limits ({limit.sentence if limit else ''})",
            "widen the limits of these joints, or the range of their transmissions",
        )


def _reject_tiny(model: RobotModel, units: Field) -> None:
    """Raise an error for an arm that is too small, which means metres read as millimetres."""
    lengths = [length for joint in model.rows for length in (joint.row.a, joint.row.d)]
    total = sum(map(abs, (*lengths, *model.tool.xyz)))
    if model.units.length != "m" and 0.0 < total < MIN_LENGTH:
        problem = f"all lengths of the table add up to {1000.0 * total:.3g} mm"
        raise units.error(problem, f"check units.length = {model.units.length}")


def _read_postures(
    field: Field | None,
    joints: tuple[Joint, ...],
    gripper: Gripper | None,
    scope: EvaluationContext,
) -> Mapping[str, Mapping[str, float]]:
    """Read all postures; each must have every joint within its limits."""
    named = field.mapping(None) if field else {}
    for name, posture in named.items():
        if not name.strip():
            raise posture.error("a posture needs a name", "write for example rest:")
    return MappingProxyType(
        {name: _read_posture(f, joints, gripper, scope) for name, f in named.items()}
    )


def _read_posture(
    field: Field, joints: tuple[Joint, ...], gripper: Gripper | None, scope: EvaluationContext
) -> Mapping[str, float]:
    names = tuple(joint.name for joint in joints)
    keys = field.mapping((*names, GRIPPER_KEY) if gripper else names, required=names)
    ranges = {joint.name: (joint.lower, joint.upper, joint.type) for joint in joints}
    if gripper:
        ranges[GRIPPER_KEY] = (gripper.min_width, gripper.max_width, "prismatic")
    return MappingProxyType(
        {name: _inside(keys[name], *r, scope) for name, r in ranges.items() if name in keys}
    )


def _inside(
    field: Field, lower: float, upper: float, joint_type: JointType, scope: EvaluationContext
) -> float:
    value = scope.position(field, joint_type)
    if lower - SLACK <= value <= upper + SLACK:
        return min(max(value, lower), upper)

    def written(number: float) -> str:
        return f"{scope.units.written(number, joint_type):.9g}"

    remedy = "change the posture or the limits"
    whole = value + 2.0 * math.pi * math.ceil((lower - SLACK - value) / (2.0 * math.pi))
    if joint_type == "revolute" and whole <= upper + SLACK:
        remedy = f"write {written(whole)}, which differs by whole turns"
    limits = f"{written(lower)} .. {written(upper)} {scope.units.unit(joint_type)}"
    raise field.error(f"{written(value)} is outside the limits {limits}", remedy)


def _check_postures(model: RobotModel, field: Field) -> None:
    """Raise an error for a posture that limits which depend on other joints do not allow."""
    for name, posture in field.mapping().items():
        q = [model.postures[name][joint] for joint in model.joint_names]
        if violation := model.constraint_set.worst(q):
            raise posture.error(
                f"is outside the limits ({violation.sentence})", "change the posture or the limits"
            )
