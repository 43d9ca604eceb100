# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The service plan_path: conversion of requests to paths, and of paths to trajectories."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from arm_common.ros.message_conversions import duration_message
from arm_common.transforms import Array
from geometry_msgs.msg import Quaternion
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_interfaces.srv import PlanPath
from arm_kinematics.chain.chain import Chain
from arm_kinematics.paths import planner
from arm_kinematics.paths.cartesian_path import PathOptions, PathResult
from arm_kinematics.paths.timing import TimedPath, time_result
from arm_kinematics.ros.ik_service import axis, tolerance, word
from arm_kinematics.ros.robot_state import (
    KinematicsParameters,
    RobotStateCache,
    bad_request,
    joint_vector,
)


def plan_path(
    state: RobotStateCache, request: PlanPath.Request, response: PlanPath.Response
) -> Callable[[], None]:
    """Check a request; return a function that fills the response and may run in any thread.

    Both raise RejectedError if the request is invalid.
    """
    chain, options = state.chain(request.tip_frame), _options(request)
    scaling = request.velocity_scaling
    if not 0.0 <= scaling <= 1.0:
        raise bad_request(
            f"velocity_scaling is {scaling:g}; expected a number above 0 up to 1, or 0 for 1."
        )
    poses = _waypoints(state, request)
    start = joint_vector(chain, state.joints(request.start, "start"), "start")
    frame, timeout = state.robot.base, state.parameters.path_timeout
    limits, via = _limits(chain, state.parameters), request.arc_via

    def work() -> None:
        result = planner.plan_path(chain, poses, start, options, arc_via=via, timeout=timeout)
        _fill(response, result, time_result(result, *limits, scaling or 1.0), frame)

    return work


def _limits(chain: Chain, defaults: KinematicsParameters) -> tuple[Array, Array]:
    """Return speed and acceleration limits (n,); the defaults where the robot has none."""
    velocity = np.where(np.isfinite(chain.velocity), chain.velocity, defaults.default_velocity)
    acceleration = np.where(
        np.isfinite(chain.acceleration),
        chain.acceleration,
        defaults.default_acceleration * velocity,
    )
    return velocity, acceleration


def _options(request: PlanPath.Request) -> PathOptions:
    step = request.max_step
    if not (math.isfinite(step) and step >= 0.0):
        raise bad_request(
            f"max_step is {step:g}; expected a positive length, or 0 for the default."
        )
    return PathOptions(
        word(request, "mode"),
        tolerance(request, "position_tolerance"),
        tolerance(request, "orientation_tolerance"),
        axis=axis(request),
        max_step=step or None,
    )


def _waypoints(state: RobotStateCache, request: PlanPath.Request) -> list[Array]:
    """Return the poses (4, 4) in the base frame."""
    if not request.waypoints:
        raise bad_request("There are no waypoints.")
    for waypoint, passed in zip(request.waypoints, request.arc_via, strict=False):
        if passed:  # its orientation does not count, and may be invalid
            waypoint.pose.orientation = Quaternion()
    return [state.pose(T, f"waypoint {i}") for i, T in enumerate(request.waypoints, 1)]


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
