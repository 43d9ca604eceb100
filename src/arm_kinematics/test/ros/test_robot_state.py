# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Names in requests to the node of an arm with a prefix."""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from arm_common.ros.message_conversions import pose_matrix
from arm_kinematics.ros import ik_service, robot_state
from arm_kinematics.ros.ik_service import IkService
from arm_kinematics.ros.robot_state import KinematicsParameters
from arm_testing.ros.kinematics import (
    BOLT,
    FINGERS,
    HERE,
    MODEL,
    REST,
    THERE,
    Q,
    World,
    pose_request,
)
from builtin_interfaces.msg import Duration

from arm_description import load_robot
from arm_interfaces.msg import JointWeight
from arm_interfaces.srv import SolveIK
from arm_kinematics import IkStatus

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


@pytest.fixture(scope="module")
def mearm(left) -> World:
    model = load_robot("mearm")
    joints = {f"left_{name}": q for name, q in model.postures["rest"].items()}
    joints |= {"left_left_jaw": 0.0}
    left.set_up(model.to_urdf("left_"), joints, left_bolt=("left_base_link", HERE))
    return left


class TestLinkageArm:
    """The node knows nothing but the description of an arm whose hand follows other joints."""

    def test_answers_keep_limits_that_depend_on_other_joints(self, mearm):
        model = load_robot("mearm")
        lower, upper = np.transpose([(j.lower, j.upper) for j in model.joints])
        drawn = np.random.default_rng(0).uniform(lower, upper, (40, 3))
        violation = model.constraint_set.violation(drawn)
        for q, excess in zip(drawn, violation, strict=True):
            request = pose_request(model.fk(q), mode=SolveIK.Request.POSITION, max_solutions=4)
            answer = mearm.call("solve_ik", request)
            assert (answer.status == Answer.SUCCESS) == (excess <= 0.0), answer.message
            found = np.array([solution.joint_state.position for solution in answer.solutions])
            assert (model.constraint_set.violation(found) < 1e-9).all()
            if excess > 0.0:
                assert answer.limiting_joints == ["left_elbow"]
                assert "left_elbow: at left_shoulder" in answer.message
                assert "the linkage allows" in answer.message

    @pytest.mark.parametrize("prefix", ["", "left_"])
    def test_seed_may_have_the_joints_that_follow(self, mearm, prefix):
        """As in joint_states; where they are follows from the others."""
        request = pose_request(load_robot("mearm").fk([0.1, 1.5, -1.5]))
        names = ("waist", "shoulder", "elbow", "level_shoulder", "level_elbow")
        request.seed.name = [prefix + name for name in names]
        request.seed.position = [0.1, 1.5, -1.5, 9.0, 9.0]
        answer = mearm.call("solve_ik", request)
        assert answer.status == Answer.SUCCESS, answer.message
        np.testing.assert_allclose(
            answer.solutions[0].joint_state.position, [0.1, 1.5, -1.5], atol=1e-5
        )


@pytest.mark.parametrize(("waited", "left_over"), [(0.0, 1.0), (0.75, 0.25), (1.5, 1e-9)])
def test_wait_for_the_target_is_part_of_the_timeout(monkeypatch, waited, left_over):
    time, timeouts = [100.0], []
    result = SimpleNamespace(status=IkStatus.TIMEOUT, message="", limiting_joints=(), solutions=())

    def ik(target, seed, *, timeout, **arguments):
        timeouts.append(timeout)
        return result

    def pose(message, what, patience):
        time[0] += waited
        return np.eye(4)

    chain = SimpleNamespace(joint_names=(), positions=lambda joints: np.zeros(0), ik=ik)
    state = SimpleNamespace(
        chain=lambda tip: chain, pose=pose, joints=lambda *_: {}, parameters=KinematicsParameters()
    )
    for module in (ik_service, robot_state):
        monkeypatch.setattr(module, "monotonic", lambda: time[0])
    request = pose_request(THERE, timeout=Duration(sec=1))
    IkService(state).answer(request, SolveIK.Response())
    assert timeouts == pytest.approx([left_over], rel=1e-6)
