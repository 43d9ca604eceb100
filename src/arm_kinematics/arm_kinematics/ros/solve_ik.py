# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The service solve_ik: a request -> a target, an answer -> a response."""

from __future__ import annotations

import numpy as np

from arm_interfaces.msg import IKSolution
from arm_interfaces.srv import SolveIK
from arm_kinematics.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.kernels_error import DEFAULT_ORIENTATION_TOLERANCE, DEFAULT_POSITION_TOLERANCE
from arm_kinematics.lie import Array
from arm_kinematics.result import IkResult, IkSolution
from arm_kinematics.ros.conversions import (
    fill_pose,
    pose_matrix,
    seconds,
    tolerance,
)
from arm_kinematics.ros.refusal import bad
from arm_kinematics.ros.state import State, picked

MODES = {
    SolveIK.Request.POSE: "pose",
    SolveIK.Request.POSITION: "position",
    SolveIK.Request.POSITION_AXIS: "position_axis",
}
MOST_SOLUTIONS = 1000


def solve_ik(
    state: State, request: SolveIK.Request, response: SolveIK.Response, default_timeout: float
) -> None:
    """Fill the response.

    Raises:
        RefusalError: The request cannot be answered.
    """
    chain = state.chain(request.tip_frame)
    result = _solve(state, chain, request, default_timeout)
    response.status = int(result.status)
    response.message = result.message
    response.limiting_joints = list(result.limiting_joints)
    response.solutions = [_solution(chain, s) for s in result.solutions]


def _solve(
    state: State, chain: Chain, request: SolveIK.Request, default_timeout: float
) -> IkResult:
    if request.mode not in MODES:
        raise bad(f"mode is {request.mode}; expected POSE=0, POSITION=1 or POSITION_AXIS=2.")
    if request.max_solutions > MOST_SOLUTIONS:
        raise bad(f"max_solutions is {request.max_solutions}; at most {MOST_SOLUTIONS} are given.")
    arguments = {
        "mode": MODES[request.mode],
        "position_tolerance": tolerance(
            request.position_tolerance, DEFAULT_POSITION_TOLERANCE, "position_tolerance"
        ),
        "orientation_tolerance": tolerance(
            request.orientation_tolerance, DEFAULT_ORIENTATION_TOLERANCE, "orientation_tolerance"
        ),
        "allow_approximate": request.allow_approximate,
        "max_solutions": request.max_solutions or 1,
        "timeout": seconds(request.timeout, default_timeout, "timeout"),
    }
    target = _target(state, request)
    seed = picked(chain, state.joints(request.seed, "seed"), "seed")
    try:
        return chain.ik(target, np.array(seed), **arguments)
    except KinematicsError as error:
        raise bad(f"{error}.") from error


def _target(state: State, request: SolveIK.Request) -> Array:
    pose = pose_matrix(request.target.pose, "target")
    base_from_frame = state.base_from(request.target.header.frame_id)
    return pose if base_from_frame is None else base_from_frame @ pose


def _solution(chain: Chain, solution: IkSolution) -> IKSolution:
    message = IKSolution()
    message.joint_state.name = chain.joint_names
    message.joint_state.position = solution.q.tolist()
    fill_pose(message.achieved, chain.fk(solution.q), chain.base)
    message.position_error = solution.position_error
    message.orientation_error = solution.orientation_error
    message.joint_distance = solution.distance
    return message
