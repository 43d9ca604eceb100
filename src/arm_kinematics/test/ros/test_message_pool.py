# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reused messages keep nothing of the previous response."""

import pytest
from arm_common.ros.tf import TransformTree
from arm_kinematics.ros.fk_service import FkService
from arm_kinematics.ros.ik_service import IkService
from arm_kinematics.ros.robot_state import KinematicsParameters, RobotStateCache
from rclpy.serialization import deserialize_message, serialize_message

from arm_description import load_robot
from arm_interfaces.srv import SolveFK, SolveIK


@pytest.fixture
def state():
    cache = RobotStateCache(KinematicsParameters(), TransformTree(), lambda: None)
    cache.set_description(load_robot("nut_arm").to_urdf())
    cache.positions = dict.fromkeys(cache.robot.joint_names, 0.1)
    return cache


def fk(links, frame=""):
    return SolveFK.Request(links=links, reference_frame=frame)


def ik(x, solutions=1):
    request = SolveIK.Request(mode=SolveIK.Request.POSITION, max_solutions=solutions)
    request.target.pose.position.x, request.target.pose.position.z = x, 0.15
    request.target.pose.orientation.w = 1.0
    return request


@pytest.mark.parametrize(
    ("make", "kind", "requests"),
    [
        (FkService, SolveFK, [fk(["tool0", "base_link"]), fk(["base_link"], "tool0"), fk([])]),
        (IkService, SolveIK, [ik(0.2, 8), ik(0.25), ik(9.0), ik(0.2, 8)]),
    ],
)
def test_reused_messages_equal_those_of_a_new_service(state, make, kind, requests):
    used = make(state)
    for request in requests:
        responses = []
        for service in (used, make(state)):
            response = kind.Response()
            service.answer(request, response)
            # not the bytes, whose padding is undefined
            copy = deserialize_message(serialize_message(response), kind.Response)
            responses.append(repr(copy))
        assert responses[0] == responses[1]
