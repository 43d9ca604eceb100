# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The service plan_path: a request -> a path to plan, a path -> a timed trajectory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from arm_common.ros.messages import duration_message
from arm_common.transforms import Array
from geometry_msgs.msg import Quaternion
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_interfaces.srv import PlanPath
from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.paths.options import PathOptions
from arm_kinematics.paths.planner import follow, shapes
from arm_kinematics.paths.result import PathResult
from arm_kinematics.paths.timing import TimedPath, time_result
from arm_kinematics.ros.ik_service import mode, orientation_tolerance, position_tolerance
from arm_kinematics.ros.messages import stamped_pose
from arm_kinematics.ros.robot_state import RobotStateCache, bad_request, joint_vector


class PathDefaults(NamedTuple):
    """Defaults of the node."""

    timeout: float  # time allowed for a path [s]
    velocity: float  # speed limit of joints that have none [rad/s or m/s]
    acceleration: float  # acceleration limit of joints that have none, per speed limit [1/s]


def plan_path(
    state: RobotStateCache,
    request: PlanPath.Request,
    response: PlanPath.Response,
    defaults: PathDefaults,
) -> Callable[[], None]:
    """Check a request; return the function that fills the response, for any thread.

    Raises:
        RejectedError: The request cannot be answered.
    """
    chain = state.chain(request.tip_frame)
    options, scaling = _options(request), _scaling(request.velocity_scaling)
    poses = _waypoints(state, request)
    start = joint_vector(chain, state.joints(request.start, "start"), "start")
    try:
        options.bounds(chain)
        path = shapes([chain.fk(start), *poses], [False, *_via(request)])
    except KinematicsError as error:
        raise bad_request(f"{error}.") from error
    frame = state.robot.base

    def work() -> None:
        try:
            result = follow(chain, path, start, options, timeout=defaults.timeout)
        except KinematicsError as error:
            raise bad_request(f"{error}.") from error
        timed = time_result(result, *_limits(chain, defaults), scaling)
        _fill(response, result, timed, frame)

    return work


def _options(request: PlanPath.Request) -> PathOptions:
    step = request.max_step
    if not (math.isfinite(step) and step >= 0.0):
        raise bad_request(
            f"max_step is {step:g}; expected a positive length, or 0 for the default."
        )
    axis = (request.axis.x, request.axis.y, request.axis.z)
    if not all(map(math.isfinite, axis)):
        raise bad_request("axis: holds NaN or infinity.")
    return PathOptions(
        mode(request.mode),
        position_tolerance(request),
        orientation_tolerance(request),
        axis=axis if any(axis) else None,
        max_step=step or None,
    )


def _scaling(value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise bad_request(
            f"velocity_scaling is {value:g}; expected a number above 0 up to 1, or 0 for 1."
        )
    return value or 1.0


def _via(request: PlanPath.Request) -> list[bool]:
    via, count = list(request.arc_via), len(request.waypoints)
    if len(via) not in (0, count):
        raise bad_request(
            f"arc_via has {len(via)} entries for {count} waypoints; give one each, or none."
        )
    return via or [False] * count


def _waypoints(state: RobotStateCache, request: PlanPath.Request) -> list[Array]:
    """Return the poses (4, 4) in the base frame."""
    if not request.waypoints:
        raise bad_request("There are no waypoints.")
    poses = []
    for i, (waypoint, passed) in enumerate(zip(request.waypoints, _via(request), strict=True)):
        if passed:  # its orientation does not count, and need not be one
            waypoint.pose.orientation = Quaternion()
        poses.append(stamped_pose(state, waypoint, f"waypoint {i}"))
    return poses


def _limits(chain: Chain, defaults: PathDefaults) -> tuple[Array, Array]:
    """Return speed and acceleration limits (n,), the defaults where the robot has none."""
    velocity = np.where(np.isfinite(chain.velocity), chain.velocity, defaults.velocity)
    known = np.isfinite(chain.acceleration)
    return velocity, np.where(known, chain.acceleration, defaults.acceleration * velocity)


def _fill(response: PlanPath.Response, result: PathResult, timed: TimedPath, frame: str) -> None:
    response.status, response.message = int(result.status), result.message
    response.fraction = result.fraction
    response.limiting_joints = list(result.limiting_joints)
    trajectory = JointTrajectory(joint_names=list(result.joint_names))
    trajectory.header.frame_id = frame
    for time, position, velocity in zip(*timed, strict=True):
        point = JointTrajectoryPoint()
        point.positions, point.velocities = position.tolist(), velocity.tolist()
        point.time_from_start = duration_message(float(time))
        trajectory.points.append(point)
    response.trajectory = trajectory
