# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What MoveIt's services compute_ik and compute_fk ask, and the codes that they answer with.

Numbers and field names are those of moveit_msgs 2.6.0 (MoveItErrorCodes, PositionIKRequest,
RobotState), the semantics those of moveit2's kinematics_service_capability.cpp, both BSD.
Messages are only read here, so that nothing has to be imported for them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from arm_kinematics.errors import KinematicsError
from arm_kinematics.result import IkStatus


class MoveItCode(IntEnum):
    """The codes of moveit_msgs/msg/MoveItErrorCodes that are given here."""

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


class MoveItRefusalError(KinematicsError):
    """A request of MoveIt's kind cannot be answered.

    Attributes:
        code: The code that says why.
    """

    def __init__(self, code: MoveItCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def code_of(status: IkStatus) -> MoveItCode:
    """Return the code of a search's end: MoveIt has one for all that is out of reach."""
    if status == IkStatus.SUCCESS:
        return MoveItCode.SUCCESS
    return MoveItCode.TIMED_OUT if status == IkStatus.TIMEOUT else MoveItCode.NO_IK_SOLUTION


def wanted_pose(asked: Any, group: str) -> tuple[Any, str]:
    """Return which pose is asked for, and of which link; an empty one is the group's tip.

    Args:
        asked: A PositionIKRequest.
        group: The one group that there is.

    Raises:
        MoveItRefusalError: It asks for another group, or for what is not offered.
    """
    _check_offered(asked, group)
    poses, links = asked.pose_stamped_vector, asked.ik_link_names
    if not poses:
        return asked.pose_stamped, asked.ik_link_name
    if len(poses) == 1:
        return poses[0], links[0] if links else ""
    if len(links) != len(poses):
        raise MoveItRefusalError(
            MoveItCode.INVALID_LINK_NAME,
            f"pose_stamped_vector has {len(poses)} poses, ik_link_names {len(links)} links; "
            "give one link each.",
        )
    raise MoveItRefusalError(
        MoveItCode.NO_IK_SOLUTION,
        f"pose_stamped_vector has {len(poses)} poses; group '{group}' has one tip.",
    )


def _check_offered(asked: Any, group: str) -> None:
    if asked.group_name != group:
        raise MoveItRefusalError(
            MoveItCode.INVALID_GROUP_NAME,
            f"There is no group '{asked.group_name}'; there is '{group}'.",
        )
    kinds = ("joint", "position", "orientation", "visibility")
    given = [kind for kind in kinds if getattr(asked.constraints, f"{kind}_constraints")]
    if given:
        raise MoveItRefusalError(
            MoveItCode.INVALID_GOAL_CONSTRAINTS,
            f"constraints: {' and '.join(given)} constraints are not offered; "
            "kinematics/solve_ik takes tolerances, an axis and joint weights.",
        )
    if asked.avoid_collisions:
        raise MoveItRefusalError(
            MoveItCode.COLLISION_CHECKING_UNAVAILABLE,
            "avoid_collisions: the kinematics know of no obstacles; ask without it, or ask "
            "MoveIt's move_group.",
        )


def check_single_axes(robot_state: Any) -> None:
    """Refuse positions of joints with several degrees of freedom: the robot has none.

    Raises:
        MoveItRefusalError: There are some.
    """
    names = robot_state.multi_dof_joint_state.joint_names
    if names:
        raise MoveItRefusalError(
            MoveItCode.INVALID_ROBOT_STATE,
            f"robot_state: the robot has no joint '{names[0]}' with several degrees of freedom.",
        )


def allowed_time(timeout: Any, default: float) -> float:
    """Return a timeout [s] to the nanosecond; as in MoveIt, one that is not positive is none."""
    seconds = float(timeout.sec) + 1e-9 * timeout.nanosec
    return seconds if seconds > 0.0 else default
