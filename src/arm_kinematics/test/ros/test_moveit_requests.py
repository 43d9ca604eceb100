# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Requests and codes of MoveIt: the part of compute_ik and compute_fk without ROS."""

from types import SimpleNamespace as Message

import pytest
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.result import IkStatus
from arm_kinematics.ros.moveit_services import (
    MoveItCode,
    allowed_time,
    check_single_axes,
    moveit_code,
    target_pose,
)

KINDS = ("joint", "position", "orientation", "visibility")


def ik_request(**fields):
    """Return a PositionIKRequest with the defaults of the message."""
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
def test_target_pose_selects_pose_and_link(fields, expected):
    assert target_pose(ik_request(**fields), "arm") == expected


def _several(*links):
    return {"pose_stamped_vector": [1, 2], "ik_link_names": links}


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ({"group_name": ""}, "INVALID_GROUP_NAME", "no group ''; the only group is 'arm'"),
        ({"group_name": "Arm"}, "INVALID_GROUP_NAME", "no group 'Arm'"),
        (_several("a"), "INVALID_LINK_NAME", "2 poses, ik_link_names 1 links"),
        (_several("a", "b"), "NO_IK_SOLUTION", "one tip"),
        ({"avoid_collisions": True}, "COLLISION_CHECKING_UNAVAILABLE", "know no obstacles"),
    ],
)
def test_rejections_have_a_code_and_a_reason(fields, code, message):
    with pytest.raises(KinematicsError, match=message) as caught:
        target_pose(ik_request(**fields), "arm")
    assert caught.value.status is MoveItCode[code]


@pytest.mark.parametrize("kind", KINDS)
def test_constraints_are_rejected(kind):
    request = ik_request()
    setattr(request.constraints, f"{kind}_constraints", [object()])
    with pytest.raises(KinematicsError, match=f"{kind} constraints are not supported") as caught:
        target_pose(request, "arm")
    assert caught.value.status is MoveItCode.INVALID_GOAL_CONSTRAINTS


def test_multi_dof_joints_are_rejected():
    state = Message(multi_dof_joint_state=Message(joint_names=[]))
    check_single_axes(state)
    state.multi_dof_joint_state.joint_names = ["floating"]
    with pytest.raises(KinematicsError, match="no joint 'floating'") as caught:
        check_single_axes(state)
    assert caught.value.status is MoveItCode.INVALID_ROBOT_STATE


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
def test_timeouts_include_nanoseconds(sec, nanosec, expected):
    assert allowed_time(Message(sec=sec, nanosec=nanosec), 7.0) == pytest.approx(
        expected, rel=1e-12
    )


def test_every_status_has_a_moveit_code():
    codes = {status: moveit_code(status) for status in IkStatus}
    assert codes.pop(IkStatus.SUCCESS) is MoveItCode.SUCCESS
    assert codes.pop(IkStatus.TIMEOUT) is MoveItCode.TIMED_OUT
    assert set(codes.values()) == {MoveItCode.NO_IK_SOLUTION}
