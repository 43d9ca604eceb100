# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The file of taught poses: joints and tool pose by name; tasks refer to it by `poses`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arm_common.files.access import ANY_FILE, FileAccess
from arm_common.files.saving import contents, save_edit
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, matrix_rpy, rpy_matrix
from arm_common.yaml.document import parse_yaml, read_yaml
from arm_common.yaml.editing import YamlEditor, flow_mapping, flow_word
from arm_common.yaml.schema_types import Key, Leaf, ListOf, Named, Table
from arm_common.yaml.typed_mapping import TypedMapping

from arm_tasks.errors import TaskFileError
from arm_tasks.scene.objects import readonly

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_DIGITS = 9
_NUMBERS = ListOf(Leaf("number", "number"), 3, 3)
TOOL = Table(
    {
        "xyz": Key(_NUMBERS, "position of the tool in base_link [m]", True),
        "rpy": Key(_NUMBERS, "roll, pitch, yaw of the tool [rad]", True),
    }
)
POSE = Table(
    {
        "joints": Key(Named(Leaf("rad or m", "number"), "joint"), "positions of all joints", True),
        "tool": Key(TOOL, "tool pose, for other robots and as a frame", True),
    }
)
POSES = Table(
    {
        "robot": Key(Leaf("name of a robot", "text"), "the taught robot", True),
        "poses": Key(Named(POSE, "pose"), "poses by name", True),
    }
)


@dataclass(frozen=True, eq=False)
class TaughtPose:
    """Joint positions and tool pose of an arm."""

    joints: Mapping[str, float]  # by name [rad or m]
    tool: Array  # base_link <- tool0 (4, 4), read-only [m]


def check_name(name: str) -> str:
    """Return the name of a pose or a path if it is valid, or raise TaskFileError."""
    if not _NAME.match(name):
        raise TaskFileError(
            f"'{name}' is not a valid name; use letters, digits and _, first a letter"
        )
    return name


def load_poses(path: Path, files: FileAccess = ANY_FILE) -> dict[str, TaughtPose]:
    """Read a file of taught poses; raise TaskFileError with file and line."""
    root = read_yaml(path, TaskFileError, files=files)
    return _poses(TypedMapping(root, "the file of poses", POSES))


def save_pose(
    path: Path,
    robot: str,
    name: str,
    pose: TaughtPose,
    replace: bool,
    taken: Collection[str] = (),
) -> None:
    """Save a pose of a robot in a file, which is created if missing; the rest is kept.

    The names of the robot's postures are taken: a step could not tell which is meant.

    Raises:
        TaskFileError: The name is invalid or taken, or the file is invalid or of another robot.
        DescriptionError: The file cannot be written; it is unchanged.
    """
    if name in taken:
        raise TaskFileError(f"{name} is a posture of {robot}; choose another name")
    read = contents(path)
    data = _new_file(robot) if read is None else read
    if check_name(name) in _checked(data, path, robot) and not replace:
        what = f"the pose {name} already exists; replace it or rename it"
        raise TaskFileError(what, str(path))
    editor = YamlEditor(data)
    editor.set(("poses", name), _text(pose))
    stored = _checked(editor.data, path, robot).get(name)
    if stored is None or not np.allclose(stored.tool, pose.tool, atol=1e-6):
        raise TaskFileError(f"the pose {name} cannot be saved; is it an alias?", str(path))
    save_edit(editor.data, path, read)


def forget_pose(path: Path, robot: str, name: str) -> None:
    """Remove a pose from a file; no other may depend on it."""
    read = contents(path)
    data = _new_file(robot) if read is None else read
    poses = _checked(data, path, robot)
    if name not in poses:
        raise TaskFileError(f"there is no pose '{name}'; {did_you_mean(name, poses)}", str(path))
    editor = YamlEditor(data)
    editor.remove(("poses", name))
    if set(_checked(editor.data, path, robot)) != set(poses) - {name}:
        raise TaskFileError(f"the pose {name} cannot be removed; is it an alias?", str(path))
    save_edit(editor.data, path, read)


def _new_file(robot: str) -> bytes:
    head = "# Taught poses: joints [rad or m]; tool in base_link [m, rad]."
    return f"{head}\nrobot: {flow_word(robot)}\nposes: {{}}\n".encode()


def _checked(data: bytes, path: Path, robot: str) -> dict[str, TaughtPose]:
    keys = TypedMapping(parse_yaml(data, str(path), TaskFileError), "the file of poses", POSES)
    if keys.text("robot") != robot:
        taught = keys.text("robot")
        raise keys.fail(f"these are poses of {taught}, not of {robot}", keys.require("robot"))
    return _poses(keys)


def _poses(keys: TypedMapping) -> dict[str, TaughtPose]:
    poses = {}
    for name, item in keys.children("poses").items():
        part = TypedMapping(item, f"pose {name}", POSE)
        tool = TypedMapping(part.require("tool"), f"pose {name}: tool", TOOL)
        joints = {joint: field.number() for joint, field in part.children("joints").items()}
        T = rpy_matrix(tool.numbers("xyz"), tool.numbers("rpy"))
        poses[name] = TaughtPose(joints, readonly(np.asarray(T)))
    return poses


def _text(pose: TaughtPose) -> str:
    """Return a pose as one line of YAML."""
    xyz, rpy = matrix_rpy(pose.tool)
    joints = {flow_word(name): _number(value) for name, value in pose.joints.items()}
    tool = {"xyz": _list(xyz), "rpy": _list(rpy)}
    return flow_mapping({"joints": flow_mapping(joints), "tool": flow_mapping(tool)})


def _list(values: Array) -> str:
    return f"[{', '.join(_number(value) for value in values)}]"


def _number(value: float) -> str:
    return f"{float(value) + 0.0:.{_DIGITS}g}"
