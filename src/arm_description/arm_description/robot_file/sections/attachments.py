# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tools and payloads that a robot file names: shipped ones, or files of their own.

A tool takes the place of the robot's own gripper. It stands where the gripper's palm stands, or
where the file's `tool` leads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from arm_common.files.access import shipped_files
from arm_common.suggestions import did_you_mean
from arm_common.yaml.document import Field, parse_yaml, read_yaml
from arm_common.yaml.schema_types import Key, ListOf, Table

from arm_description.errors import DescriptionError
from arm_description.model.elements import NO_MOTION, Origin, Payload
from arm_description.model.gripper import Gripper, MountedTool
from arm_description.robot_file import robot_keys
from arm_description.robot_file.scope import EvaluationContext, Section, read_scope
from arm_description.robot_file.sections.gripper import read_gripper
from arm_description.robot_file.sections.looks import read_look
from arm_description.robot_model import RobotModel

T = TypeVar("T")
SUFFIXES = (".yaml", ".yml")
_HEAD = {"name": Key(robot_keys.NAME, "name of it", required=True), **robot_keys.HEAD}
TOOL_FILE = Table(
    {
        **_HEAD,
        "frame": Key(
            robot_keys.ORIGIN, "from where it is mounted to where it works, tool0", required=True
        ),
        "mass": Key(robot_keys.MASS, "mass of all of it", required=True),
        "looks": Key(
            ListOf(robot_keys.LOOK, 1, 200),
            "shapes of its body, from where it is mounted; also for mass and collision, as boxes "
            "and cylinders",
            required=True,
        ),
        "gripper": Key(robot_keys.GRIPPER, "fingers that slide, or a claw, as in a robot file"),
    }
)
PAYLOAD_FILE = Table({**_HEAD, **robot_keys.PAYLOAD.keys})


def shipped_tools() -> dict[str, Path]:
    """Return the paths of the shipped tools by name, sorted."""
    return shipped_files("arm_description", "tools")


def shipped_payloads() -> dict[str, Path]:
    """Return the paths of the shipped payloads by name, sorted."""
    return shipped_files("arm_description", "payloads")


def attached_files(data: bytes, folder: Path) -> tuple[Path, ...]:
    """Return the files of tool and payload that a robot file names; none if it is no YAML.

    Args:
        data: content of the robot file.
        folder: where it is.
    """
    try:
        keys = parse_yaml(data, str(folder), DescriptionError).mapping()
        fields = [keys.get("tool"), keys.get("payload")]
        if fields[0] and fields[0].is_mapping:
            fields[0] = fields[0].mapping().get("name")
        names = [str(f.node.value) for f in fields if f and not (f.is_mapping or f.is_list)]
    except DescriptionError:
        return ()  # reported by its reader
    return tuple((folder / name).resolve() for name in names if name.endswith(SUFFIXES))


@dataclass(frozen=True)
class Attachment:
    """What is at the end of an arm in place of what its table and its own gripper say."""

    tool: Origin  # flange <- tool0
    gripper: Gripper | None
    mounted: MountedTool | None = None
    replaced: Gripper | None = None  # the arm's own gripper, in whose place the tool is

    def attached_to(self, model: RobotModel) -> RobotModel:
        """Return an arm, whose gripper is its own or that of the tool, with the attachment.

        A mounted tool replaces a gripper and all that belongs to its links, and postures get
        widths of the tool's gripper; none where it has no fingers.
        """
        if self.mounted is None:
            return model
        fingers = self.replaced.joints if self.replaced else ()
        gone = {f"{name}_link" for name in ("gripper", *fingers)} if fingers else set()

        def kept(values: Mapping[str, T]) -> Mapping[str, T]:
            return MappingProxyType({link: v for link, v in values.items() if link not in gone})

        return replace(
            model,
            gripper=self.gripper,
            postures=_fitting_postures(model.postures, self.gripper),
            masses=kept(model.masses),
            meshes=kept(model.meshes),
            looks=kept(model.looks),
        )


def read_attachment(
    field: Field,
    end: Origin,
    own: Gripper | None,
    names: tuple[str, ...],
    scope: EvaluationContext,
) -> Attachment:
    """Read `tool`: a transform, the name or file of a tool, or both.

    Args:
        field: the key.
        end: frame n of the table <- where the tool begins.
        own: the gripper of the robot file.
        names: names of all joints.
        scope: of the robot file.
    """
    if not field.is_mapping:
        return _mounted(field, end, own, names, scope)
    keys = scope.read(robot_keys.TOOL, field)
    origin = _product(end, keys.origin())
    if "name" not in keys:
        return Attachment(origin, own)
    return _mounted(keys["name"], origin, own, names, scope)


def _mounted(
    field: Field,
    origin: Origin,
    own: Gripper | None,
    names: tuple[str, ...],
    scope: EvaluationContext,
) -> Attachment:
    path = _file(field, scope, shipped_tools(), "tool")
    if "tool" in names:
        raise field.error("needs the name tool_link", "rename the joint 'tool'")
    keys = TOOL_FILE.read(read_yaml(path, DescriptionError))
    own_scope = read_scope(keys, path.parent)
    palm = Origin((0.0, 0.0, -own.depth - own.palm[0])) if own else NO_MOTION
    mount, frame = _product(origin, palm), own_scope.origin(keys["frame"])
    tool = MountedTool(
        name=next((name for name, file in shipped_tools().items() if file == path), str(path)),
        mass=own_scope.number(keys["mass"], robot_keys.MASS),
        mount=mount,
        frame=frame,
        body=read_look(keys["looks"], own_scope),
        description=keys.text("description"),
        source=keys.text("source"),
    )
    gripper = read_gripper(keys["gripper"], names, own_scope) if "gripper" in keys else None
    return Attachment(_product(mount, frame), gripper, tool, own)


def _product(first: Origin, second: Origin) -> Origin:
    if NO_MOTION in (first, second):
        return second if first == NO_MOTION else first
    return Origin.of(first.matrix @ second.matrix)


def with_payload(model: RobotModel, field: Field, scope: EvaluationContext) -> RobotModel:
    """Return the robot with its `payload`: its numbers, or the name or file of one."""
    if field.is_mapping:
        return replace(model, payload=_payload(scope.read(robot_keys.PAYLOAD, field)))
    path = _file(field, scope, shipped_payloads(), "payload")
    keys = PAYLOAD_FILE.read(read_yaml(path, DescriptionError))
    return replace(model, payload=_payload(Section(keys, read_scope(keys, path.parent))))


def _payload(keys: Section) -> Payload:
    return Payload(
        mass=keys.number("mass"),
        centre=keys.lengths("centre"),
        size=keys.lengths("size") if "size" in keys else None,
        source=keys.text("source"),
    )


def _fitting_postures(
    postures: Mapping[str, Mapping[str, float]], gripper: Gripper | None
) -> Mapping[str, Mapping[str, float]]:
    """Return postures with the widths of a gripper, without widths if there is none."""

    def fitting(values: Mapping[str, float]) -> Mapping[str, float]:
        width = robot_keys.GRIPPER_KEY
        rest = {name: value for name, value in values.items() if name != width}
        if gripper and width in values:
            low, high = gripper.min_width, gripper.max_width
            rest[width] = float(np.clip(values[width], low, high))
        return MappingProxyType(rest)

    return MappingProxyType({name: fitting(values) for name, values in postures.items()})


def _file(field: Field, scope: EvaluationContext, shipped: Mapping[str, Path], kind: str) -> Path:
    """Return the file that a name or path means."""
    text = field.text()
    if text in shipped:
        return shipped[text]
    if not text.endswith(SUFFIXES):
        known = did_you_mean(text, shipped)
        raise field.error(
            f"there is no {kind} named {text!r}", f"{known}; give a file as a path, my_{kind}.yaml"
        )
    path = scope.folder / text
    if not path.is_file():
        remedy = f"it was searched for in {path.parent}"
        raise field.error(f"there is no file {text!r}", remedy)
    return path.resolve()
