# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""From the trajectory of a file to motions that an arm can make: the way to it, and it itself."""

from __future__ import annotations

import numpy as np
from arm_description.trajectory_file import JointTrajectory as FileTrajectory
from arm_kinematics.timing import TimedPath, keep_pace, time_path

from arm_description import RobotModel
from arm_tasks.geometry import Array
from arm_tasks.plan import JointTrajectory

APPROACH_SPEED = 0.25  # share of the joints' speed limits on the way to the first point
THERE = 1e-3  # rad or m from the first point: no way to go


def approach(model: RobotModel, here: Array, start: Array) -> JointTrajectory | None:
    """Return the slow way from where the arm is to a start, None if it is there.

    Args:
        model: The robot.
        here: (n,) where it is [rad or m]; beyond a limit only by the rounding of its servos.
        start: (n,) where it shall be [rad or m].
    """
    way = np.array([np.clip(here, model.lower, model.upper), start])
    if np.abs(way[1] - way[0]).max() < THERE:
        return None
    return _motion(model, time_path(way, model.velocity, model.acceleration, APPROACH_SPEED))


def paced(model: RobotModel, trajectory: FileTrajectory, pace: float) -> JointTrajectory:
    """Return a file's trajectory as a motion from rest to rest within the limits.

    Args:
        model: The robot.
        trajectory: From the file.
        pace: How many times as fast as the file says, as far as the limits allow it.
    """
    timed = keep_pace(
        trajectory.times, trajectory.positions, model.velocity, model.acceleration, pace
    )
    return _motion(model, timed)


def _motion(model: RobotModel, timed: TimedPath) -> JointTrajectory:
    return JointTrajectory(model.joint_names, timed.times, timed.positions, timed.velocities)
