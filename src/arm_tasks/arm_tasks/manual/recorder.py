# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Records a hand-guided path as a trajectory for `./arm play`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_description.trajectories.files import write_trajectory
from arm_description.trajectories.trajectory import JointTrajectory
from numpy.typing import ArrayLike

from arm_tasks.errors import TasksError

_REST_TOLERANCE = 1e-4  # rad or m; an arm that moves less is at rest
MAX_POINTS = 100_000  # points, more than half an hour at 50 a second


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
