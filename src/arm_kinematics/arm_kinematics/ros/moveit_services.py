# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="no-untyped-call"
"""MoveIt's services compute_ik and compute_fk, served where moveit_msgs is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.clock import Clock
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from arm_kinematics.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.lie import Array, se3_inverse
from arm_kinematics.moveit import (
    MoveItCode,
    MoveItRefusalError,
    allowed_time,
    check_single_axes,
    code_of,
    wanted_pose,
)
from arm_kinematics.robot import MissingJointsError
from arm_kinematics.ros.conversions import doubles, fill_pose, pose_matrix
from arm_kinematics.ros.refusal import BAD_REQUEST, NO_TRANSFORM, NOT_READY, RefusalError
from arm_kinematics.ros.state import State, picked

NOT_SERVED = "none"  # and not "", which no launch file can be given
_CODES = {
    BAD_REQUEST: MoveItCode.FAILURE,
    NO_TRANSFORM: MoveItCode.FRAME_TRANSFORM_FAILURE,
    NOT_READY: MoveItCode.ROBOT_STATE_STALE,
}


class MoveItSettings(NamedTuple):
    """What the node knows and a request does not say.

    Attributes:
        group: The planning group from the root to the tip, as the SRDF calls it; or NOT_SERVED.
        timeout: Time allowed for a request that sets none [s].
    """

    group: str
    timeout: float


def serve_moveit(
    node: Node,
    state: State,
    settings: MoveItSettings,
    count: Callable[[str, int], None],
    qos: QoSProfile,
) -> None:
    """Announce both services; where moveit_msgs is not installed, say so and do nothing else.

    The names are MoveIt's own, in the namespace of the node.

    Args:
        node: The node that serves.
        state: What it knows of the robot.
        settings: Group and time.
        count: Called with the name of the service and the code of each answer.
        qos: How many requests may wait.
    """
    if settings.group == NOT_SERVED:
        return
    try:
        from moveit_msgs.srv import GetPositionFK, GetPositionIK
    except ImportError:
        node.get_logger().info(
            "moveit_msgs is not installed: compute_ik and compute_fk are not served"
        )
        return

    def serve(kind: Any, name: str, answer: Callable[[Any, Any], str]) -> None:
        def callback(request: Any, response: Any) -> Any:
            with _said_in(response.error_code):
                response.error_code.message = answer(request, response)
            response.error_code.source = node.get_fully_qualified_name()
            count(name, response.error_code.val)
            return response

        node.create_service(kind, name, callback, qos_profile=qos)

    serve(GetPositionIK, "compute_ik", lambda *io: compute_ik(state, settings, *io))
    clock = node.get_clock()
    serve(GetPositionFK, "compute_fk", lambda *io: compute_fk(state, clock, *io))


def compute_ik(state: State, settings: MoveItSettings, request: Any, response: Any) -> str:
    """Fill a response of GetPositionIK; return what there is to say.

    Raises:
        KinematicsError: The request cannot be answered.
    """
    asked = request.ik_request
    pose, link = wanted_pose(asked, settings.group)
    chain = _chain(state, link)
    joints = _joints(state, asked.robot_state)
    T = pose_matrix(pose.pose, "pose_stamped")
    base_from_frame = state.base_from(pose.header.frame_id)
    target = T if base_from_frame is None else base_from_frame @ T
    seed = np.array(picked(chain, joints, "robot_state"))
    result = chain.ik(target, seed, timeout=allowed_time(asked.timeout, settings.timeout))
    response.error_code.val = int(code_of(result.status))
    if result.ok:
        found = dict(zip(chain.joint_names, result.q.tolist(), strict=True))
        _fill_state(response.solution.joint_state, state, {**joints, **found})
    return result.message


def compute_fk(state: State, clock: Clock, request: Any, response: Any) -> str:
    """Fill a response of GetPositionFK with the links that are known; return what there is to say.

    Raises:
        KinematicsError: The request cannot be answered, or not all of it.
    """
    asked, robot = list(request.fk_link_names), state.robot
    if not asked:
        raise MoveItRefusalError(MoveItCode.INVALID_LINK_NAME, "fk_link_names is empty.")
    joints = _joints(state, request.robot_state)
    known = [link for link in asked if link in robot.links]
    poses = [robot.link_pose(link, joints) for link in known]
    response.fk_link_names = known
    response.pose_stamped = [_stamped(pose, robot.base, clock) for pose in poses]
    frame = request.header.frame_id or robot.base
    base_from_frame = state.base_from(frame)  # refused, the poses stay in the root's frame
    if base_from_frame is not None:
        into = se3_inverse(base_from_frame)
        response.pose_stamped = [_stamped(into @ pose, frame, clock) for pose in poses]
    if len(known) < len(asked):
        raise MoveItRefusalError(
            MoveItCode.INVALID_LINK_NAME,
            f"'{robot.name}' has no link {', '.join(repr(x) for x in asked if x not in known)}; "
            f"it has {', '.join(robot.links)}.",
        )
    response.error_code.val = int(MoveItCode.SUCCESS)
    return f"Poses of {len(asked)} links in '{frame}'."


def _stamped(pose: Array, frame: str, clock: Clock) -> PoseStamped:
    message = PoseStamped()
    fill_pose(message, pose, frame)
    message.header.stamp = clock.now().to_msg()
    return message


def _chain(state: State, link: str) -> Chain:
    """Return the chain to a link; an empty one means the default."""
    tip = link or state.default_tip
    try:
        return state.robot.chain(tip)
    except KinematicsError as error:
        raise MoveItRefusalError(
            MoveItCode.INVALID_LINK_NAME, f"ik_link_name: {error}."
        ) from error


def _joints(state: State, robot_state: Any) -> dict[str, float]:
    """Return the current positions, overwritten by those given, whether they are a diff or not."""
    check_single_axes(robot_state)
    given, followers = robot_state.joint_state, state.robot.followers
    if len(given.name) == len(given.position):
        pairs = zip(given.name, given.position, strict=True)
        own = [(name, position) for name, position in pairs if name not in followers]
        given = JointState(name=[name for name, _ in own], position=[p for _, p in own])
    with _refused_as(MoveItCode.INVALID_ROBOT_STATE):
        return state.joints(given, "robot_state")


def _fill_state(message: JointState, state: State, joints: dict[str, float]) -> None:
    """Write the positions of all joints of the robot that are known."""
    known = state.robot.positions(joints)
    message.header.frame_id = state.robot.base
    message.name = list(known)
    message.position = doubles(np.array(list(known.values())))


@contextmanager
def _refused_as(code: MoveItCode) -> Iterator[None]:
    """Give what makes no sense here its code."""
    try:
        yield
    except RefusalError as refusal:
        if refusal.status != BAD_REQUEST:
            raise
        raise MoveItRefusalError(code, str(refusal)) from refusal


@contextmanager
def _said_in(error_code: Any) -> Iterator[None]:
    """Turn what prevents an answer into a code and one sentence."""
    try:
        yield
    except KinematicsError as error:
        error_code.val, error_code.message = int(_code(error)), str(error)


def _code(error: KinematicsError) -> MoveItCode:
    if isinstance(error, MoveItRefusalError):
        return error.code
    if isinstance(error, RefusalError):
        return _CODES[error.status]
    return (
        MoveItCode.ROBOT_STATE_STALE
        if isinstance(error, MissingJointsError)
        else MoveItCode.FAILURE
    )
