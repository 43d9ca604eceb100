# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""compute_ik and compute_fk as MoveIt clients call them, over real DDS with its types."""

import importlib.util
import math
import os
from collections.abc import Iterator

import numpy as np
import pytest
from arm_common.ros.message_conversions import pose_matrix
from arm_common.transforms import pose
from arm_kinematics.ros.moveit_services import MoveItCode
from arm_testing.ros.kinematics import (
    BOLT,
    CHAIN,
    FINGERS,
    MODEL,
    PATIENCE,
    REST,
    Q,
    World,
    joint_state,
    stamped,
)
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState

from arm_interfaces.srv import SolveFK
from arm_kinematics import Chain

NOWHERE = PoseStamped()
NOWHERE.pose.position.x = math.nan


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """Environment of a node in which moveit_msgs is found, as in this process."""
    if importlib.util.find_spec("moveit_msgs"):
        yield dict(os.environ)
        return
    if "ARM_VENV" not in os.environ:
        pytest.skip("moveit_msgs is not installed: ARM_WITH_MOVEIT=1 rosdep install ...")
    from pip_ros import messages_for_tests
    from pip_ros.paths import Paths

    install = messages_for_tests.prefix(Paths())
    with messages_for_tests.loaded(install):
        yield messages_for_tests.environment(install)


@pytest.fixture(scope="module")
def world(environment, serving) -> Iterator[World]:
    from moveit_msgs.srv import GetPositionFK, GetPositionIK

    arguments = ["--ros-args", "-p", f"default_timeout:={PATIENCE}"]
    with serving(*arguments, **environment) as world:
        world.clients |= {
            "compute_ik": world.node.create_client(GetPositionIK, "compute_ik"),
            "compute_fk": world.node.create_client(GetPositionFK, "compute_fk"),
        }
        world.set_up(MODEL.to_urdf(), {**REST, **FINGERS}, bolt=("base_link", BOLT))
        yield world
    assert "moveit_msgs is not installed" not in world.output


def ik(world, T, frame_id="", joints=None, **fields):
    from moveit_msgs.msg import PositionIKRequest
    from moveit_msgs.srv import GetPositionIK

    ik_request = PositionIKRequest(group_name="arm", pose_stamped=stamped(T, frame_id), **fields)
    ik_request.robot_state.joint_state = joints or JointState()
    return world.call("compute_ik", GetPositionIK.Request(ik_request=ik_request))


def fk(world, links, frame_id="", joints=None):
    from moveit_msgs.srv import GetPositionFK

    request = GetPositionFK.Request(fk_link_names=links)
    request.header.frame_id = frame_id
    request.robot_state.is_diff = joints is None
    request.robot_state.joint_state = joints or JointState()
    return world.call("compute_fk", request)


def solved(answer) -> dict[str, float]:
    """Return the joints of a solution, which has every joint of the robot."""
    assert answer.error_code.val == MoveItCode.SUCCESS, answer.error_code.message
    state = answer.solution.joint_state
    assert state.header.frame_id == "base_link" and not answer.solution.is_diff
    assert list(state.name) == [*REST, *FINGERS]
    return dict(zip(state.name, state.position, strict=True))


def test_codes_match_moveit(environment):
    from moveit_msgs.msg import MoveItErrorCodes

    assert {c.name: getattr(MoveItErrorCodes, c.name) for c in MoveItCode} == {
        c.name: c.value for c in MoveItCode
    }


class TestIk:
    def test_other_joints_keep_their_positions(self, world):
        found = solved(ik(world, CHAIN.fk(Q)))
        assert np.allclose([found[name] for name in REST], Q, atol=1e-3)
        assert {name: found[name] for name in FINGERS} == FINGERS

    def test_pose_may_be_in_a_tf_frame(self, world):
        found = solved(ik(world, np.eye(4), "bolt"))
        assert np.allclose(CHAIN.fk([found[name] for name in REST]), BOLT, atol=1e-4)

    def test_seed_may_name_some_joints_only(self, world):
        seed = joint_state({"wrist_roll": -0.4, "left_finger": 0.01})
        T = Chain.from_urdf(MODEL.to_urdf(), tip="elbow_link").fk(Q[:3])
        found = solved(ik(world, T, joints=seed, ik_link_name="elbow_link"))
        assert np.allclose([found[name] for name in list(REST)[:3]], Q[:3], atol=1e-3)
        assert (found["wrist_roll"], found["left_finger"]) == (-0.4, 0.01)
        assert found["right_finger"] == FINGERS["right_finger"]

    def test_unreachable_pose_has_no_solution(self, world):
        T = pose(p=(0.5, 0.0, 0.0)) @ CHAIN.fk(Q)
        answer = ik(world, T)
        assert answer.error_code.val == MoveItCode.NO_IK_SOLUTION
        assert "out of reach" in answer.error_code.message
        assert answer.error_code.source == "/kinematics"
        assert not answer.solution.joint_state.name
        answer = ik(world, T, timeout=Duration(nanosec=1))
        assert answer.error_code.val == MoveItCode.TIMED_OUT

    @pytest.mark.parametrize(
        ("fields", "code", "message"),
        [
            ({"ik_link_name": "hand"}, "INVALID_LINK_NAME", "'hand'"),
            ({"avoid_collisions": True}, "COLLISION_CHECKING_UNAVAILABLE", "obstacles"),
            ({"frame_id": "moon"}, "FRAME_TRANSFORM_FAILURE", "'moon'"),
            ({"joints": joint_state({"knee": 0.0})}, "INVALID_ROBOT_STATE", "'knee'"),
            ({"pose_stamped_vector": [NOWHERE]}, "FAILURE", "NaN"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_invalid_requests_are_rejected(self, world, fields, code, message):
        answer = ik(world, CHAIN.fk(Q), **fields)
        assert MoveItCode(answer.error_code.val).name == code
        assert message in answer.error_code.message
        assert not answer.solution.joint_state.name


class TestFk:
    def test_several_links_are_in_the_root_frame(self, world):
        state = joint_state(dict(zip(REST, Q, strict=True)))
        answer = fk(world, ["tool0", "base_link"], joints=state)
        assert answer.error_code.val == MoveItCode.SUCCESS
        assert list(answer.fk_link_names) == ["tool0", "base_link"]
        tool, base = answer.pose_stamped
        assert (tool.header.frame_id, base.header.frame_id) == ("base_link", "base_link")
        assert tool.header.stamp.sec > 0
        assert np.allclose(pose_matrix(tool.pose), CHAIN.fk(Q))
        assert np.allclose(pose_matrix(base.pose), np.eye(4))

    def test_empty_state_is_the_current_one(self, world):
        now = pose_matrix(fk(world, ["tool0"]).pose_stamped[0].pose)
        assert np.allclose(now, CHAIN.fk(list(REST.values())))
        diff = fk(world, ["tool0"], joints=joint_state({"waist": 0.3}))
        assert np.allclose(pose_matrix(diff.pose_stamped[0].pose), CHAIN.fk([0.3, 0.2, 0.3, 0.4]))

    def test_poses_may_be_in_a_tf_frame(self, world):
        answer = fk(world, ["tool0"], "bolt")
        (tool,) = answer.pose_stamped
        assert tool.header.frame_id == "bolt"
        assert np.allclose(BOLT @ pose_matrix(tool.pose), CHAIN.fk(list(REST.values())))

    def test_known_links_are_returned_beside_unknown_ones(self, world):
        answer = fk(world, ["hand", "tool0"])
        assert answer.error_code.val == MoveItCode.INVALID_LINK_NAME
        assert "'hand'" in answer.error_code.message
        assert list(answer.fk_link_names) == ["tool0"] and len(answer.pose_stamped) == 1
        assert fk(world, []).error_code.val == MoveItCode.INVALID_LINK_NAME

    def test_unknown_frame_returns_poses_in_the_root_frame(self, world):
        answer = fk(world, ["tool0"], "moon")
        assert answer.error_code.val == MoveItCode.FRAME_TRANSFORM_FAILURE
        assert "'moon'" in answer.error_code.message
        assert answer.pose_stamped[0].header.frame_id == "base_link"


def test_stale_state_is_reported_and_moveit_group_none_disables_services(
    fresh_domain, environment, serving
):
    from moveit_msgs.srv import GetPositionFK

    none = ("--ros-args", "-p", "moveit_group:=none")
    left = ("--ros-args", "-r", "__ns:=/left", "-p", "moveit_group:=manipulator")
    with serving(*left, **environment), serving(*none, **environment) as world:
        world.clients["compute_fk"] = world.node.create_client(GetPositionFK, "left/compute_fk")
        assert world.call("solve_fk", SolveFK.Request()).status == SolveFK.Response.NOT_READY
        assert fk(world, ["tool0"]).error_code.val == MoveItCode.ROBOT_STATE_STALE
        names = {name for name, _ in world.node.get_service_names_and_types()}
        assert {"/left/compute_fk", "/left/compute_ik"} <= names
        assert not {"/compute_fk", "/compute_ik"} & names


def test_missing_moveit_msgs_is_logged_once(fresh_domain, serving):
    if "ARM_VENV" not in os.environ:
        pytest.skip("moveit_msgs may be installed here")
    with serving() as world:
        assert world.call("solve_fk", SolveFK.Request()).status == SolveFK.Response.NOT_READY
    (line,) = (x for x in world.output.splitlines() if "moveit_msgs is not installed" in x)
    assert "[INFO]" in line
