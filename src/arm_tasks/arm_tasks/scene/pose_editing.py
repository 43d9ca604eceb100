# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Saves taught poses in their file, and removes them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
from arm_common.files.saving import contents, save_edit
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, matrix_rpy
from arm_common.yaml.editing import YamlEditor, flow_mapping, flow_word

from arm_tasks.errors import TaskFileError
from arm_tasks.scene.poses import TaughtPose, check_name, poses_in

_DIGITS = 9


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
    if check_name(name) in poses_in(data, path, robot) and not replace:
        what = f"the pose {name} already exists; replace it or rename it"
        raise TaskFileError(what, str(path))
    editor = YamlEditor(data)
    editor.set(("poses", name), _text(pose))
    stored = poses_in(editor.data, path, robot).get(name)
    if stored is None or not np.allclose(stored.tool, pose.tool, atol=1e-6):
        raise TaskFileError(f"the pose {name} cannot be saved; is it an alias?", str(path))
    save_edit(editor.data, path, read)


def forget_pose(path: Path, robot: str, name: str) -> None:
    """Remove a pose from a file; no other may depend on it."""
    read = contents(path)
    data = _new_file(robot) if read is None else read
    poses = poses_in(data, path, robot)
    if name not in poses:
        raise TaskFileError(f"there is no pose '{name}'; {did_you_mean(name, poses)}", str(path))
    editor = YamlEditor(data)
    editor.remove(("poses", name))
    if set(poses_in(editor.data, path, robot)) != set(poses) - {name}:
        raise TaskFileError(f"the pose {name} cannot be removed; is it an alias?", str(path))
    save_edit(editor.data, path, read)


def _new_file(robot: str) -> bytes:
    head = "# Taught poses: joints [rad or m]; tool in base_link [m, rad]."
    return f"{head}\nrobot: {flow_word(robot)}\nposes: {{}}\n".encode()


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
