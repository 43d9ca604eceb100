# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/scene/test_poses.py
"""Saves what a person teaches: poses in their file, and hand-guided paths for `./arm play`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
from arm_common.errors import number_text
from arm_common.files.saving import contents, save_edit
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, matrix_rpy
from arm_common.yaml.editing import YamlEditor, flow_mapping, flow_word
from arm_description.robot_model import RobotModel
from arm_description.trajectories.files import write_trajectory
from arm_description.trajectories.trajectory import JointTrajectory
from numpy.typing import ArrayLike

from arm_tasks.errors import TaskFileError, TasksError
from arm_tasks.scene.poses import TaughtPose, check_name, poses_in

_DIGITS = 9
_REST_TOLERANCE = 1e-4  # rad or m; an arm that moves less is at rest
MAX_POINTS = 100_000  # points, more than half an hour at 50 a second


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
    read, data = _content(path, robot)
    if check_name(name) in poses_in(data, path, robot) and not replace:
        what = f"the pose {name} already exists; replace it or rename it"
        raise TaskFileError(what, file=str(path))
    editor = YamlEditor(data)
    editor.set(("poses", name), _text(pose))
    stored = poses_in(editor.data, path, robot).get(name)
    if stored is None or not np.allclose(stored.tool, pose.tool, atol=1e-6):
        raise TaskFileError(f"the pose {name} cannot be saved; is it an alias?", file=str(path))
    save_edit(editor.data, path, read)


def forget_pose(path: Path, robot: str, name: str) -> None:
    """Remove a pose from a file; no other may depend on it."""
    read, data = _content(path, robot)
    poses = poses_in(data, path, robot)
    if name not in poses:
        raise TaskFileError(
            f"there is no pose '{name}'; {did_you_mean(name, poses)}", file=str(path)
        )
    editor = YamlEditor(data)
    editor.remove(("poses", name))
    if set(poses_in(editor.data, path, robot)) != set(poses) - {name}:
        raise TaskFileError(f"the pose {name} cannot be removed; is it an alias?", file=str(path))
    save_edit(editor.data, path, read)


def _content(path: Path, robot: str) -> tuple[bytes | None, bytes]:
    """Return the content of a file, None if it is missing, and that to edit."""
    head = "# Taught poses: joints [rad or m]; tool in base_link [m, rad]."
    new = f"{head}\nrobot: {flow_word(robot)}\nposes: {{}}\n".encode()
    read = contents(path)
    return read, new if read is None else read


def _text(pose: TaughtPose) -> str:
    """Return a pose as one line of YAML."""
    xyz, rpy = matrix_rpy(pose.tool)
    joints = {
        flow_word(name): number_text(value, _DIGITS, 12) for name, value in pose.joints.items()
    }
    tool = {"xyz": _list(xyz), "rpy": _list(rpy)}
    return flow_mapping({"joints": flow_mapping(joints), "tool": flow_mapping(tool)})


def _list(values: Array) -> str:
    return f"[{', '.join(number_text(value, _DIGITS, 12) for value in values)}]"


class PathRecorder:
    """Records positions of the arm, without the rest before and after the motion."""

    def __init__(self, model: RobotModel) -> None:
        self._model = model
        self._times: list[float] = []
        self._rows: list[Array] = []

    def add(self, time: float, positions: ArrayLike) -> None:
        """Add joint positions (n,) [rad or m] at a time [s]; earlier times are ignored."""
        q = np.asarray(positions, dtype=float)
        if self._times and time <= self._times[-1]:
            return
        if len(self._times) >= MAX_POINTS:
            raise TasksError(f"a recording has at most {MAX_POINTS} points; end it")
        if len(self._rows) == 1 and np.abs(q - self._rows[0]).max() < _REST_TOLERANCE:
            self._times[0], self._rows[0] = time, q  # the arm has not moved yet
            return
        self._times.append(time)
        self._rows.append(q)

    def trajectory(self) -> JointTrajectory:
        """Return the path from its first to its last motion, within the robot's limits."""
        rows = np.array(self._rows).reshape(len(self._rows), self._model.n)
        moved = np.flatnonzero((np.abs(np.diff(rows, axis=0)) > _REST_TOLERANCE).any(axis=1))
        if len(moved) == 0:
            raise TasksError("nothing moved during the recording; nothing is saved")
        end = int(moved[-1]) + 2
        times = np.array(self._times[:end]) - self._times[0]
        inside = np.clip(rows[:end], self._model.lower, self._model.upper)  # undo rounding
        inside = np.array([self._model.constraint_set.inside(q) for q in inside])
        return JointTrajectory(self._model.joint_names, times, inside)

    def save(self, file: Path) -> float:
        """Write the path into a file, whose ending selects the format; return its duration [s]."""
        path = self.trajectory()
        write_trajectory(file, path, self._model)
        return path.duration
