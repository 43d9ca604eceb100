# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What requests of MoveIt's kind ask, and its codes: the pure half of compute_ik and _fk."""

from types import SimpleNamespace as Message

import pytest
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.result import IkStatus
from arm_kinematics.ros.moveit_services import (
    MoveItCode,
    allowed_time,
    check_single_axes,
    code_of,
    wanted_pose,
)

KINDS = ("joint", "position", "orientation", "visibility")


def asked(**fields):
    """A PositionIKRequest with the defaults of the message."""
    constraints = Message(**{f"{kind}_constraints": [] for kind in KINDS})
    default = {
        "group_name": "arm",
        "constraints": constraints,
        "avoid_collisions": False,
        "ik_link_name": "",
        "pose_stamped": "one",
        "ik_link_names": [],
        "pose_stamped_vector": [],
    }
    return Message(**{**default, **fields})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ("one", "")),
        ({"ik_link_name": "hand", "ik_link_names": ["other"]}, ("one", "hand")),
        ({"pose_stamped_vector": ["two"], "ik_link_name": "hand"}, ("two", "")),
        ({"pose_stamped_vector": ["two"], "ik_link_names": ["hand", "x"]}, ("two", "hand")),
    ],
)
def test_which_pose_of_which_link(fields, expected):
    assert wanted_pose(asked(**fields), "arm") == expected


def _several(*links):
    return {"pose_stamped_vector": [1, 2], "ik_link_names": links}


@pytest.mark.parametrize(
    ("fields", "code", "says"),
    [
        ({"group_name": ""}, "INVALID_GROUP_NAME", "no group ''; there is 'arm'"),
        ({"group_name": "Arm"}, "INVALID_GROUP_NAME", "no group 'Arm'"),
        (_several("a"), "INVALID_LINK_NAME", "2 poses, ik_link_names 1 links"),
        (_several("a", "b"), "NO_IK_SOLUTION", "one tip"),
        ({"avoid_collisions": True}, "COLLISION_CHECKING_UNAVAILABLE", "know of no obstacles"),
    ],
)
def test_what_is_refused_has_a_code_and_a_reason(fields, code, says):
    with pytest.raises(KinematicsError, match=says) as caught:
        wanted_pose(asked(**fields), "arm")
    assert caught.value.code is MoveItCode[code]


@pytest.mark.parametrize("kind", KINDS)
def test_no_constraint_is_passed_over(kind):
    request = asked()
    setattr(request.constraints, f"{kind}_constraints", [object()])
    with pytest.raises(KinematicsError, match=f"{kind} constraints are not offered") as caught:
        wanted_pose(request, "arm")
    assert caught.value.code is MoveItCode.INVALID_GOAL_CONSTRAINTS


def test_a_joint_of_several_axes_is_none_of_this_robot():
    state = Message(multi_dof_joint_state=Message(joint_names=[]))
    check_single_axes(state)
    state.multi_dof_joint_state.joint_names = ["floating"]
    with pytest.raises(KinematicsError, match="no joint 'floating'") as caught:
        check_single_axes(state)
    assert caught.value.code is MoveItCode.INVALID_ROBOT_STATE


@pytest.mark.parametrize(
    ("sec", "nanosec", "expected"),
    [
        (0, 0, 7.0),
        (0, 5_000_000, 0.005),
        (2, 1, 2.000000001),
        (-1, 0, 7.0),
        (-1, 999_999_999, 7.0),
    ],
)
def test_times_count_to_the_nanosecond(sec, nanosec, expected):
    assert allowed_time(Message(sec=sec, nanosec=nanosec), 7.0) == pytest.approx(
        expected, rel=1e-12
    )


def test_every_end_of_a_search_has_a_code():
    codes = {status: code_of(status) for status in IkStatus}
    assert codes.pop(IkStatus.SUCCESS) is MoveItCode.SUCCESS
    assert codes.pop(IkStatus.TIMEOUT) is MoveItCode.TIMED_OUT
    assert set(codes.values()) == {MoveItCode.NO_IK_SOLUTION}
