# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read a robot file, including the sources given beside its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar, cast

import numpy as np
from arm_common.yaml.document import Field, parse_yaml, read_yaml
from arm_common.yaml.schema_types import Either, Kind, Leaf, ListOf, Named, Table, Variants

from arm_description.errors import DescriptionError
from arm_description.model.dh_from_axes import near_the_arm
from arm_description.model.elements import (
    NO_MOTION,
    Convention,
    DependentJoint,
    Joint,
    Origin,
    mimic_names,
)
from arm_description.model.gripper import Gripper
from arm_description.model.servo_types import SERVO_TYPES
from arm_description.robot_file.attachments import (
    fitting_postures,
    read_attachment,
    read_load,
)
from arm_description.robot_file.joints import read_joints, read_screws
from arm_description.robot_file.keys import COMPOUND, ROBOT, SCREWS, SOURCE, SOURCED
from arm_description.robot_file.scope import (
    EvaluationContext,
    read_name,
    read_scope,
    read_units,
    sourced_value,
)
from arm_description.robot_file.sections import (
    read_bars,
    read_colours,
    read_gripper,
    read_link_mass,
    read_look,
    read_mesh,
    read_named,
    read_postures,
)
from arm_description.robot_file.transmissions import read_transmissions
from arm_description.robot_model import RobotModel, in_order

T = TypeVar("T")


def _sources(field: Field, kind: Kind) -> Iterator[tuple[str, str]]:
    """Yield the key of each source, such as ``joints[0].limits``, and its text."""
    if isinstance(kind, Leaf):
        if field.is_mapping:
            yield from _sources(field, SOURCED)
    elif isinstance(kind, ListOf):
        for item in field.items():
            yield from _sources(item, kind.kind)
    elif isinstance(kind, Either):
        tables = [one for one in kind.kinds if field.is_mapping and isinstance(one, Table)]
        yield from _sources(field, tables[0] if tables else kind.kinds[field.is_list])
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
        for key, field in _plain_origin(keys.get(part)):
            for k, item in enumerate(field.items() if field.is_list else ()):
                yield f"{part}.{key}[{k}]", sourced_value(item).raw("a number")


def _plain_origin(field: Field | None) -> Iterable[tuple[str, Field]]:
    """Return the keys of a transform; none of one that leads to a tool."""
    keys = field.mapping() if field and field.is_mapping else {}
    return () if "name" in keys else keys.items()


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
    units = read_units(keys["units"])
    scope = read_scope(units, keys.get("constants"), folder)
    if "servo" in keys:
        scope = replace(scope, servo=keys["servo"].choice(SERVO_TYPES))
    table = _read_table(written, keys, scope)
    joints, dependents, convention = table.joints, table.dependents, table.convention
    names = tuple(joint.name for joint in (*joints, *dependents))
    rows = in_order(joints, dependents)
    own = read_gripper(keys["gripper"], names, scope) if "gripper" in keys else None
    end = read_attachment(keys.get("tool"), table.end, own, names, scope)
    gripper = own or end.gripper
    parts = ("base", *names, *(("gripper", *gripper.joints) if gripper else ()))
    bodies = tuple(f"{name}_link" for name in parts)  # links with shapes
    visible = (*bodies, "flange", "tool0")
    between = (n for d in dependents for n in mimic_names(d.name, d.terms)[:-1])
    heavy = (*bodies[1:], *(f"{name}_link" for name in between))
    postures = read_postures(keys.get("postures"), joints, gripper, scope)
    model = RobotModel(
        name=read_name(keys["name"]),
        convention=convention,
        joints=joints,
        dependents=dependents,
        base=table.base,
        tool=end.tool,
        gripper=end.gripper,
        mounted=end.mounted,
        postures=fitting_postures(postures, end.gripper) if end.mounted else postures,
        colours=read_colours(keys.get("colours")),
        description=keys["description"].text() if "description" in keys else "",
        source=keys["source"].text() if "source" in keys else "",
        payload=read_load(keys["payload"], scope) if "payload" in keys else None,
        meshes=read_named(keys.get("meshes"), visible, partial(read_mesh, scope=scope)),
        looks=read_named(keys.get("looks"), visible, partial(read_look, scope=scope)),
        transmissions=read_transmissions(keys.get("transmissions"), joints, scope),
        bars=read_bars(keys.get("bars"), rows, convention, scope),
        units=units,
        constants=scope.expressions.values,
        formulas=MappingProxyType(dict(_formulas(keys)) if table.as_written else {}),
    )
    if "masses" in keys:
        if model.bars:
            from arm_description.urdf.bars import bar_links

            heavy = (*heavy, *bar_links(model))
        masses = read_named(keys["masses"], heavy, partial(read_link_mass, scope=scope))
        model = replace(model, masses=masses)
    # Now all keys are known to be valid.
    model = replace(model, sources=MappingProxyType(dict(_sources(root, ROBOT))))
    model = _without_replaced(model, own) if end.mounted else model
    _reject_tiny(model, keys["units"])
    _check_limits(model, keys["joints"])
    for link in model.meshes.keys() & model.looks.keys():
        raise keys["looks"].mapping()[link].error("has a mesh, too", "delete one of them")
    if "postures" in keys:
        _check_postures(model, keys["postures"])
    return model


@dataclass(frozen=True)
class _TablePart:
    """What the joints of a file amount to."""

    convention: Convention
    joints: tuple[Joint, ...]
    dependents: tuple[DependentJoint, ...]
    base: Origin  # base_link <- frame 0
    end: Origin = NO_MOTION  # frame n <- where the tool begins
    as_written: bool = True  # whether the rows are those of the file


def _read_table(written: str, keys: Mapping[str, Field], scope: EvaluationContext) -> _TablePart:
    if written == SCREWS:
        axes, base, end = read_screws(keys["joints"], keys["home"], scope)
        return _TablePart("standard", axes, (), base, end, as_written=False)
    convention, base = cast(Convention, written), scope.origin(keys.get("base"))
    joints, dependents = read_joints(keys["joints"], convention, scope)
    table = _TablePart(convention, joints, dependents, base)
    rows = in_order(joints, dependents)
    if any(joint.axis != "z" for joint in rows):
        return table
    near = near_the_arm(rows, base, convention, scope.units.max_length)
    if near is None:
        return table
    by_name = {joint.name: row for joint, row in zip(rows, near.rows, strict=True)}
    return _TablePart(
        "standard",
        tuple(replace(joint, row=by_name[joint.name]) for joint in joints),
        tuple(replace(joint, row=by_name[joint.name]) for joint in dependents),
        near.base,
        near.tool,
        as_written=False,
    )


def _without_replaced(model: RobotModel, own: Gripper | None) -> RobotModel:
    """Return a model without what belongs to links of a gripper that a tool replaces."""
    gone = {"gripper_link", *(f"{name}_link" for name in own.joints)} if own else set()

    def kept(values: Mapping[str, T]) -> Mapping[str, T]:
        return MappingProxyType({link: v for link, v in values.items() if link not in gone})

    return replace(
        model, masses=kept(model.masses), meshes=kept(model.meshes), looks=kept(model.looks)
    )


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
