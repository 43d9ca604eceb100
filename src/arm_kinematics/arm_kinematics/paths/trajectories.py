# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/test_trajectory_player.py
"""Joint positions along a trajectory of the tool, straight between its poses."""

from __future__ import annotations

import math
import os
from typing import NamedTuple

import numpy as np
from arm_common.errors import InputError
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_description.trajectories.files import read_tool_trajectory, read_trajectory
from arm_description.trajectories.trajectory import JointTrajectory, ToolTrajectory, slowdown

from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.paths.cartesian_path import PathOptions, PathResult
from arm_kinematics.paths.planner import follow, path_starts
from arm_kinematics.paths.shapes import line

_STARTS = 8  # postures in which the tool may be at the first pose
_ACCURACY = 1e-5  # largest distance from the way [m]
_TILT = math.radians(8.0)  # largest angle between the wanted and the actual z axis of the tool
_PEN_TILT = math.radians(30.0)  # the same where the roll is free, as of a pen
PEN_SPEED = 0.04  # of a pen, slower where a joint requires it [m/s]
_ROLL = 1e-4  # largest angle about it [rad]
_STEP = 2e-3  # largest motion of the tool between two samples [m]


class FollowedPoses(NamedTuple):
    """Joint positions along poses, as far as they can be followed."""

    positions: Array  # (m, n) [rad or m]
    at: Array  # (m,) place of each along the poses: 1.5 is half-way from the second to the third
    errors: tuple[float, float]  # largest distance [m] and angle [rad] from the way
    failure: PathResult | None  # that of the way between two poses; None if all are followed

    @property
    def where(self) -> str:
        """Between which points of the file it ends."""
        number = int(self.at[-1]) + 1
        return f"between point {number} and {number + 1}"


def follow_poses(chain: Chain, poses: Array, start: Array, options: PathOptions) -> FollowedPoses:
    """Follow poses base_link <- tool0 (k, 4, 4) from joint positions (n,) at the first.

    Raises:
        KinematicsError: The way is too long.
    """
    rows, at, errors = [start], [0.0], (0.0, 0.0)
    failure = None
    for i in range(len(poses) - 1):
        path = follow(chain, [line(poses[i], poses[i + 1])], rows[-1], options)
        errors = max(errors[0], path.position_error), max(errors[1], path.orientation_error)
        if not path.ok:
            failure = path
            break
        if len(path.positions) == 1:  # the tool rests
            rows.append(rows[-1])
            at.append(i + 1.0)
        rows.extend(path.positions[1:])
        at.extend(i + path.progress[1:])
    return FollowedPoses(np.array(rows), np.array(at), errors, failure)


def joint_trajectory(chain: Chain, tool: ToolTrajectory, seed: Array) -> JointTrajectory:
    """Return the motion of the joints that moves the tool along a trajectory.

    The way begins in the posture nearest to joint positions (n,) from which it can be followed
    to its end. A trajectory over arc length is followed at 1 m/s.

    Raises:
        KinematicsError: The tool cannot follow it.
    """
    times = tool.times_at(1.0)
    assert times is not None
    turns = {"position_axis": _PEN_TILT}.get(tool.orientation, (_TILT, _TILT, _ROLL))
    options = PathOptions(
        tool.orientation, _ACCURACY, turns, max_step=_STEP, max_deviation=_ACCURACY
    )
    farthest: FollowedPoses | None = None
    for start in path_starts(chain, tool.poses[0], seed, options, _STARTS):
        if not start.ok:
            raise KinematicsError(f"its first point is out of reach: {_clause(start.message)}")
        found = follow_poses(chain, tool.poses, start.q, options)
        if found.failure is None:
            at = np.interp(found.at, np.arange(len(times)), times)
            return JointTrajectory(chain.joint_names, at, found.positions)
        if farthest is None or found.at[-1] > farthest.at[-1]:
            farthest = found
    assert farthest is not None and farthest.failure is not None
    raise KinematicsError(f"{farthest.where}: {_clause(farthest.failure.message)}")


def read_motion(
    file: str | os.PathLike[str], model: RobotModel, fit: bool = False
) -> JointTrajectory:
    """Read a trajectory file of the joints, or of the tool and turn it into one of the joints.

    Args:
        file: Path of the file, or the name of a trajectory shipped for the robot.
        model: The robot.
        fit: Stretch the times of a file of the joints where a joint is too fast.

    Raises:
        InputError: The file is invalid, or the tool cannot move along it.
    """
    tool = read_tool_trajectory(file, model.joint_names)
    if tool is None:
        return read_trajectory(file, model, fit)
    return tool_motion(tool, model, os.fspath(file))


def tool_motion(tool: ToolTrajectory, model: RobotModel, file: str) -> JointTrajectory:
    """Turn a trajectory of the tool in base_link into one of the joints.

    It begins in the posture nearest to the one at which everything starts. Over arc length it has
    the largest constant speed at which no joint exceeds its limit, or PEN_SPEED with a free roll.

    Raises:
        InputError: The tool cannot move along it; names the file.
    """
    home = model.home_posture[1]
    try:
        seed = np.array([home[name] for name in model.joint_names])
        motion = joint_trajectory(Chain.from_model(model), tool, seed)
    except KinematicsError as error:
        raise InputError(str(error), file=file) from None
    if tool.lengths is None:
        return motion
    if tool.orientation != "position_axis":
        return motion.stretched(slowdown(motion, model)[0] or 1.0)
    needed = (np.abs(np.diff(motion.positions, axis=0)) / model.velocity).max(axis=1, initial=0.0)
    steps = np.maximum(np.diff(motion.times) / PEN_SPEED, needed)  # the times are lengths [m]
    times = np.concatenate([[0.0], np.cumsum(steps)])
    return JointTrajectory(motion.names, times, motion.positions)


def _clause(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].rstrip(".")
