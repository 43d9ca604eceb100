# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The service solve_ik: a request -> a target, an answer -> a response."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arm_interfaces.msg import IKSolution
from arm_interfaces.srv import SolveIK
from arm_kinematics.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.lie import Array
from arm_kinematics.result import IkResult, IkSolution
from arm_kinematics.ros.conversions import doubles, fill_pose, pose_matrix, seconds, tool_matrix
from arm_kinematics.ros.refusal import bad
from arm_kinematics.ros.reused import Reused
from arm_kinematics.ros.state import State, picked
from arm_kinematics.ros.wishes import wishes


class IkService:
    """Answers solve_ik.

    Args:
        state: What is known of the robot.
        default_timeout: Time allowed for a request that sets none [s].
    """

    def __init__(self, state: State, default_timeout: float) -> None:
        self._state = state
        self._default_timeout = default_timeout
        self._messages = Reused(IKSolution)

    def answer(
        self, request: SolveIK.Request, response: SolveIK.Response
    ) -> tuple[Chain, Array, Array | None, IkResult]:
        """Fill the response; return what was asked, as chain, target and tool, and the answer.

        Raises:
            RefusalError: The request cannot be answered.
        """
        state = self._state
        chain = state.chain(request.tip_frame)
        asked = wishes(state, chain, request)
        tool = tool_matrix(request.tool)
        timeout = seconds(request.timeout, self._default_timeout, "timeout")
        target = _target(state, request)
        seed = np.array(
            picked(chain, state.joints(request.seed, "seed", chain.joint_names), "seed")
        )
        try:
            result = chain.ik(target, seed, **asked, tool=tool, timeout=timeout)
        except KinematicsError as error:
            raise bad(f"{error}.") from error
        response.status = int(result.status)
        response.message = result.message
        response.limiting_joints = list(result.limiting_joints)
        response.solutions = self._filled(chain, tool, result.solutions)
        return chain, target, tool, result

    def _filled(
        self, chain: Chain, tool: Array | None, solutions: Sequence[IkSolution]
    ) -> list[IKSolution]:
        messages = self._messages.take(len(solutions))
        for message, solution in zip(messages, solutions, strict=True):
            _fill(message, chain, tool, solution)
        return messages


def _target(state: State, request: SolveIK.Request) -> Array:
    pose = pose_matrix(request.target.pose, "target")
    base_from_frame = state.base_from(request.target.header.frame_id)
    return pose if base_from_frame is None else base_from_frame @ pose


def _fill(message: IKSolution, chain: Chain, tool: Array | None, solution: IkSolution) -> None:
    """Write every field that the message's earlier use may have left."""
    message.joint_state.name = chain.joint_names
    message.joint_state.position = doubles(solution.q)
    reached = chain.fk(solution.q)
    fill_pose(message.achieved, reached if tool is None else reached @ tool, chain.base)
    message.position_error = solution.position_error
    message.orientation_error = solution.orientation_error
    message.joint_distance = solution.distance
