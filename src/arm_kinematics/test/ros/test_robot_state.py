# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Names in requests to the node of an arm with a prefix."""

from collections.abc import Iterator

import numpy as np
import pytest
from arm_common.ros.messages import pose_matrix
from arm_testing.ros.kinematics import World, pose_request

from arm_description import load_robot
from arm_interfaces.msg import JointWeight
from arm_interfaces.srv import SolveIK
from arm_kinematics import Chain

MODEL = load_robot("nut_arm")
CHAIN = Chain.from_model(MODEL)
REST = {"waist": 0.1, "shoulder": 0.2, "elbow": 0.3, "wrist_roll": 0.4}
FINGERS = {"left_finger": 0.005, "right_finger": 0.005}
HERE = CHAIN.fk(list(REST.values()))
BOLT = CHAIN.fk([0.2, 0.3, -0.2, 0.1])
Q = [0.3, 0.1, 0.2, -0.5]
THERE = CHAIN.fk(Q)
Answer = SolveIK.Response


@pytest.fixture(scope="module")
def left(serving) -> Iterator[World]:
    with serving("--ros-args", "-p", "prefix:=left_") as world:
        joints = {f"left_{name}": value for name, value in {**REST, **FINGERS}.items()}
        frames = {"left_bolt": ("left_base_link", BOLT), "bolt": ("left_base_link", HERE)}
        world.set_up(MODEL.to_urdf("left_"), joints, **frames)
        yield world


class TestPrefix:
    @pytest.mark.parametrize("prefix", ["", "left_"])
    def test_names_in_requests_may_lack_the_prefix(self, left, prefix):
        request = pose_request(
            THERE,
            frame=f"{prefix}base_link",
            tip_frame=f"{prefix}tool0",
            joint_weights=[JointWeight(name=f"{prefix}waist", weight=2.0)],
        )
        request.seed.name = [f"{prefix}{name}" for name in REST]
        request.seed.position = Q
        answer = left.call("solve_ik", request)
        assert answer.status == Answer.SUCCESS, answer.message
        (solution,) = answer.solutions
        assert list(solution.joint_state.name) == [f"left_{name}" for name in REST]
        assert solution.achieved.header.frame_id == "left_base_link"

    def test_own_frame_wins_over_a_frame_of_the_same_name(self, left):
        (solution,) = left.solve(np.eye(4), "bolt").solutions
        reached = pose_matrix(solution.achieved.pose)
        assert np.allclose(reached, BOLT, atol=1e-4)

    def test_joint_given_by_both_names_is_rejected(self, left):
        request = pose_request(THERE)
        request.seed.name, request.seed.position = ["waist", "left_waist"], [0.0, 0.1]
        answer = left.call("solve_ik", request)
        assert answer.status == Answer.BAD_REQUEST
        assert answer.message == "seed: joint 'left_waist' is given twice."
