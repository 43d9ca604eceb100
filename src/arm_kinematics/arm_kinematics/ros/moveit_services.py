# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""MoveIt's services compute_ik and compute_fk, which node.py serves if moveit_msgs is installed.

Values and field names are those of moveit_msgs 2.6.0 (MoveItErrorCodes, PositionIKRequest,
RobotState), the semantics those of moveit2's kinematics_service_capability.cpp, both BSD.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from time import monotonic
from typing import Any

from arm_common.ros.message_conversions import pose_message
from arm_common.ros.qos import MANY_CALLS
from arm_common.transforms import Array, inverse
from geometry_msgs.msg import PoseStamped
from rclpy.clock import Clock
from rclpy.node import Node

from arm_interfaces.srv import SolveIK
from arm_kinematics.chain.robot import MissingJointsError
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.result import IkStatus
from arm_kinematics.ros.robot_state import RejectedError, RobotStateCache, joint_vector, remaining

# mypy: disable-error-code="no-untyped-call"


class MoveItCode(IntEnum):
    """The codes of moveit_msgs/msg/MoveItErrorCodes that these services return."""

    SUCCESS = 1
    FAILURE = 99999
    TIMED_OUT = -6
    INVALID_GROUP_NAME = -15
    INVALID_GOAL_CONSTRAINTS = -16
    INVALID_ROBOT_STATE = -17
    INVALID_LINK_NAME = -18
    FRAME_TRANSFORM_FAILURE = -21
    COLLISION_CHECKING_UNAVAILABLE = -22
    ROBOT_STATE_STALE = -23
    NO_IK_SOLUTION = -31


def moveit_code(status: IkStatus) -> MoveItCode:
    """Return the code of a status: MoveIt has a single one for all unreachable targets."""
    if status == IkStatus.SUCCESS:
        return MoveItCode.SUCCESS
    return MoveItCode.TIMED_OUT if status == IkStatus.TIMEOUT else MoveItCode.NO_IK_SOLUTION


def target_pose(ik_request: Any, group: str) -> tuple[Any, str]:
    """Return the pose and the link of a PositionIKRequest; an empty link is the group's tip."""
    _check_supported(ik_request, group)
    poses, links = ik_request.pose_stamped_vector, ik_request.ik_link_names
    if not poses:
        return ik_request.pose_stamped, ik_request.ik_link_name
    if len(poses) == 1:
        return poses[0], links[0] if links else ""
    if len(links) != len(poses):
        raise RejectedError(
            MoveItCode.INVALID_LINK_NAME,
            f"pose_stamped_vector has {len(poses)} poses, ik_link_names {len(links)} links; "
            "give one link each.",
        )
    raise RejectedError(
        MoveItCode.NO_IK_SOLUTION,
        f"pose_stamped_vector has {len(poses)} poses; group '{group}' has one tip.",
    )


def _check_supported(ik_request: Any, group: str) -> None:
    if ik_request.group_name != group:
        raise RejectedError(
            MoveItCode.INVALID_GROUP_NAME,
            f"There is no group '{ik_request.group_name}'; the only group is '{group}'.",
        )
    kinds = ("joint", "position", "orientation", "visibility")
    given = [kind for kind in kinds if getattr(ik_request.constraints, f"{kind}_constraints")]
    if given:
        raise RejectedError(
            MoveItCode.INVALID_GOAL_CONSTRAINTS,
            f"constraints: {' and '.join(given)} constraints are not supported; "
            "kinematics/solve_ik takes tolerances, an axis and joint weights.",
        )
    if ik_request.avoid_collisions:
        raise RejectedError(
            MoveItCode.COLLISION_CHECKING_UNAVAILABLE,
            "avoid_collisions: the kinematics know no obstacles; request without it, or use "
            "MoveIt's move_group.",
        )


def check_single_axes(robot_state: Any) -> None:
    """Reject positions of joints with several degrees of freedom: the robot has none."""
    names = robot_state.multi_dof_joint_state.joint_names
    if names:
        raise RejectedError(
            MoveItCode.INVALID_ROBOT_STATE,
            f"robot_state: the robot has no joint '{names[0]}' with several degrees of freedom.",
        )


def allowed_time(timeout: Any, default: float) -> float:
    """Return a timeout [s]; as in MoveIt, one that is not positive means the default."""
    seconds = float(timeout.sec) + 1e-9 * timeout.nanosec
    return seconds if seconds > 0.0 else default


_CODES: dict[int, int] = {  # of rejections; those with a code of MoveIt keep it
    SolveIK.Response.BAD_REQUEST: MoveItCode.FAILURE,
    SolveIK.Response.NO_TRANSFORM: MoveItCode.FRAME_TRANSFORM_FAILURE,
    SolveIK.Response.NOT_READY: MoveItCode.ROBOT_STATE_STALE,
}


def serve_moveit(node: Node, state: RobotStateCache, count: Callable[[str, int], None]) -> None:
    """Create both services.

    The names are MoveIt's own, in the namespace of the node. ``count`` is called with the name of
    the service and the code of each response.
    """
    from moveit_msgs.srv import GetPositionFK, GetPositionIK  # here: tests have no moveit_msgs

    def serve(kind: Any, name: str, answer: Callable[[Any, Any], str]) -> None:
        def callback(request: Any, response: Any) -> Any:
            code = response.error_code
            try:
                code.message = answer(request, response)
            except KinematicsError as error:
                code.val, code.message = int(_code(error)), str(error)
            code.source = node.get_fully_qualified_name()
            count(name, code.val)
            return response

        node.create_service(kind, name, callback, qos_profile=MANY_CALLS)

    serve(GetPositionIK, "compute_ik", lambda *io: compute_ik(state, *io))
    clock = node.get_clock()
    serve(GetPositionFK, "compute_fk", lambda *io: compute_fk(state, clock, *io))


def compute_ik(state: RobotStateCache, request: Any, response: Any) -> str:
    """Fill a response of GetPositionIK; return the message, or raise KinematicsError."""
    ik_request, settings = request.ik_request, state.parameters
    pose, link = target_pose(ik_request, settings.moveit_group)
    tip = link or state.default_tip
    try:
        chain = state.robot.chain(tip)
    except KinematicsError as error:
        text = f"ik_link_name: {error}."
        raise RejectedError(MoveItCode.INVALID_LINK_NAME, text) from error
    joints = _joints(state, ik_request.robot_state)
    timeout = allowed_time(ik_request.timeout, settings.default_timeout)
    deadline = monotonic() + timeout  # of the wait for the target and of the search
    target = state.pose(pose, "pose_stamped", timeout)
    seed = joint_vector(chain, joints, "robot_state")
    result = chain.ik(target, seed, timeout=remaining(deadline))
    response.error_code.val = int(moveit_code(result.status))
    if result.ok:
        found = dict(zip(chain.joint_names, result.q.tolist(), strict=True))
        known = state.robot.positions({**joints, **found})
        message = response.solution.joint_state
        message.header.frame_id = state.robot.base
        message.name, message.position = list(known), list(known.values())
    return result.message


def compute_fk(state: RobotStateCache, clock: Clock, request: Any, response: Any) -> str:
    """Fill a response of GetPositionFK with the known links; return the message.

    Raises KinematicsError if some or all links cannot be computed.
    """
    links, robot = list(request.fk_link_names), state.robot
    if not links:
        raise RejectedError(MoveItCode.INVALID_LINK_NAME, "fk_link_names is empty.")
    joints = _joints(state, request.robot_state)
    known = [link for link in links if link in robot.links]
    poses = [robot.link_pose(link, joints) for link in known]
    response.fk_link_names = known
    response.pose_stamped = [_stamped(pose, robot.base, clock) for pose in poses]
    frame = request.header.frame_id or robot.base
    into = inverse(state.base_from(frame))  # if rejected, the poses stay in the root's frame
    response.pose_stamped = [_stamped(into @ pose, frame, clock) for pose in poses]
    if len(known) < len(links):
        raise RejectedError(
            MoveItCode.INVALID_LINK_NAME,
            f"'{robot.name}' has no link {', '.join(repr(x) for x in links if x not in known)}; "
            f"it has {', '.join(robot.links)}.",
        )
    response.error_code.val = int(MoveItCode.SUCCESS)
    return f"Poses of {len(links)} links in '{frame}'."


def _stamped(pose: Array, frame: str, clock: Clock) -> PoseStamped:
    message = PoseStamped(pose=pose_message(pose))
    message.header.frame_id, message.header.stamp = frame, clock.now().to_msg()
    return message


def _joints(state: RobotStateCache, robot_state: Any) -> dict[str, float]:
    """Return the current positions, overwritten by those given, whether is_diff is set or not."""
    check_single_axes(robot_state)
    try:
        return state.joints(robot_state.joint_state, "robot_state")
    except RejectedError as rejection:
        if rejection.status != SolveIK.Response.BAD_REQUEST:
            raise
        raise RejectedError(MoveItCode.INVALID_ROBOT_STATE, str(rejection)) from rejection


def _code(error: KinematicsError) -> int:
    if isinstance(error, RejectedError):
        # MoveIt's own numbers overlap those of the statuses.
        return error.status if isinstance(error.status, MoveItCode) else _CODES[error.status]
    is_stale = isinstance(error, MissingJointsError)
    return MoveItCode.ROBOT_STATE_STALE if is_stale else MoveItCode.FAILURE
