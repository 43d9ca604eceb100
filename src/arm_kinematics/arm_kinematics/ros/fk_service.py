# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The services solve_fk and get_jacobian."""

from __future__ import annotations

from arm_common.ros.messages import fill_pose
from arm_common.transforms import Array, inverse
from geometry_msgs.msg import PoseStamped

from arm_interfaces.srv import GetJacobian, SolveFK
from arm_kinematics.chain.robot import MissingJointsError
from arm_kinematics.dexterity.measures import measures
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ros.messages import doubles, reused
from arm_kinematics.ros.robot_state import (
    RobotStateCache,
    bad_request,
    joint_vector,
    unknown_positions,
)


class FkService:
    """Serves solve_fk."""

    def __init__(self, state: RobotStateCache) -> None:
        self._state = state
        self._messages: list[PoseStamped] = []

    def answer(self, request: SolveFK.Request, response: SolveFK.Response) -> None:
        """Fill the response with the poses of the links; raise RejectedError if that fails."""
        state = self._state
        joints = state.joints(request.joint_state, "joint_state")
        frame = state.frame(request.reference_frame) or state.robot.base
        links = [state.link(name) for name in request.links] or [state.default_tip]
        poses = [_pose(state, link, joints, "links") for link in links]
        if frame != state.robot.base:
            if frame in state.robot.links:
                reference = _pose(state, frame, joints, "reference_frame")
            else:
                reference = state.base_from(frame)
            into = inverse(reference)
            poses = [into @ pose for pose in poses]
        messages = reused(self._messages, PoseStamped, len(poses))
        for message, pose in zip(messages, poses, strict=True):
            message.header.frame_id = frame
            fill_pose(message.pose.position, message.pose.orientation, pose)
        response.poses = messages
        response.status = SolveFK.Response.SUCCESS
        response.message = f"Poses of {len(poses)} links in '{frame}'."


def get_jacobian(
    state: RobotStateCache, request: GetJacobian.Request, response: GetJacobian.Response
) -> None:
    """Fill the response with Jacobian and measures; raise RejectedError if that fails."""
    chain = state.chain(request.tip_frame)
    joints = state.joints(request.joint_state, "joint_state", chain.joint_names)
    J = chain.jacobian(joint_vector(chain, joints, "joint_state"))
    response.joint_names = list(chain.joint_names)
    response.jacobian = doubles(J)
    response.manipulability, response.condition_number = measures(J)
    response.status = GetJacobian.Response.SUCCESS
    response.message = f"Jacobian of '{chain.tip}' along the axes of '{chain.base}'."


def _pose(state: RobotStateCache, link: str, joints: dict[str, float], what: str) -> Array:
    try:
        return state.robot.link_pose(link, joints)
    except MissingJointsError as error:
        raise unknown_positions(error.joints, "joint_state") from error
    except KinematicsError as error:
        raise bad_request(f"{what}: {error}.") from error
