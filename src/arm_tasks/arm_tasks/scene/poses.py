# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The file of taught poses: joints and tool pose by name; tasks refer to it by `poses`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arm_common.files.access import ANY_FILE, FileAccess
from arm_common.transforms import Array, rpy_matrix
from arm_common.yaml.document import parse_yaml, read_yaml
from arm_common.yaml.schema_types import Key, Leaf, ListOf, Named, Table
from arm_common.yaml.typed_mapping import TypedMapping
from arm_description.robot_model import read_only

from arm_tasks.errors import TaskFileError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_NUMBERS = ListOf(Leaf("number"), 3, 3)
TOOL = Table(
    {
        "xyz": Key(_NUMBERS, "position of the tool in base_link [m]", True),
        "rpy": Key(_NUMBERS, "roll, pitch, yaw of the tool [rad]", True),
    }
)
POSE = Table(
    {
        "joints": Key(Named(Leaf("rad or m"), "joint"), "positions of all joints", True),
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


def poses_in(data: bytes, path: Path, robot: str) -> dict[str, TaughtPose]:
    """Read the content of a file of taught poses of a robot."""
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
        poses[name] = TaughtPose(joints, read_only(np.asarray(T)))
    return poses
