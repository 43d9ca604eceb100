# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The node as a process, over real DDS: each service, each refusal, each way to end."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Iterator

import numpy as np
import pytest
from arm_common.transforms import pose, so3_exp
from arm_testing.ros.kinematics import (
    KINDS,
    PATIENCE,
    World,
    frame,
    joint_state,
    matrix,
    pose_request,
    start,
)
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Quaternion, Transform, Vector3
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from arm_description import load_robot
from arm_interfaces.msg import JointWeight
from arm_interfaces.srv import GetJacobian, SolveFK, SolveIK
from arm_kinematics import Chain

MODEL = load_robot("nut_arm")
CHAIN = Chain.from_model(MODEL)
REST = {"waist": 0.1, "shoulder": 0.2, "elbow": 0.3, "wrist_roll": 0.4}
FINGERS = {"left_finger": 0.005, "right_finger": 0.005}
BOLT = CHAIN.fk([0.2, 0.3, -0.2, 0.1])


@pytest.fixture(scope="module")
def world(serving) -> Iterator[World]:
    frames = [frame("base_link", "bolt", BOLT), frame("island", "palm_tree", np.eye(4))]
    with serving("--ros-args", "-p", f"default_timeout:={PATIENCE}") as world:
        world.description.publish(String(data=MODEL.to_urdf()))
        world.tf_static.publish(TFMessage(transforms=frames))

        def ready() -> bool:
            """Latched topics come by themselves, joint_states only while somebody listens."""
            world.joint_states.publish(joint_state({**REST, **FINGERS}))
            status = world.call("solve_ik", pose_request(np.eye(4), "bolt")).status
            return status not in (SolveIK.Response.NOT_READY, SolveIK.Response.NO_TRANSFORM)

        world.until(ready)
        yield world


class TestSolveIK:
    def test_a_pose_from_the_current_joints(self, world):
        q = [0.3, 0.1, 0.2, -0.5]
        answer = world.call("solve_ik", pose_request(CHAIN.fk(q)))
        assert answer.status == SolveIK.Response.SUCCESS
        (solution,) = answer.solutions
        assert list(solution.joint_state.name) == list(CHAIN.joint_names)
        assert np.allclose(solution.joint_state.position, q, atol=1e-3)
        assert solution.achieved.header.frame_id == "base_link"
        assert np.allclose(matrix(solution.achieved.pose), CHAIN.fk(q), atol=1e-4)
        assert solution.joint_distance == pytest.approx(
            np.linalg.norm(np.subtract(solution.joint_state.position, list(REST.values())))
        )

    def test_equal_requests_get_equal_answers(self, world):
        request = pose_request(CHAIN.fk([0.3, 0.1, 0.2, -0.5]), max_solutions=4, mode=1)
        assert world.call("solve_ik", request) == world.call("solve_ik", request)

    def test_a_target_in_a_frame_of_tf(self, world):
        answer = world.call("solve_ik", pose_request(np.eye(4), "bolt"))
        assert answer.status == SolveIK.Response.SUCCESS
        assert np.allclose(matrix(answer.solutions[0].achieved.pose), BOLT, atol=1e-4)

    def test_another_tip(self, world):
        T = Chain.from_urdf(MODEL.to_urdf(), tip="elbow_link").fk([0.3, 0.1, 0.2])
        request = pose_request(T, tip_frame="elbow_link", mode=SolveIK.Request.POSITION)
        request.seed = joint_state(dict(zip(REST, [0.3, 0.1, 0.2, 0.0], strict=True)))
        answer = world.call("solve_ik", request)
        assert answer.status == SolveIK.Response.SUCCESS
        assert list(answer.solutions[0].joint_state.name) == ["waist", "shoulder", "elbow"]

    def test_a_seed_by_name_in_any_order_and_incomplete(self, world):
        request = pose_request(CHAIN.fk([0.3, 0.1, 0.2, -0.5]))
        request.seed = joint_state({"elbow": -0.4, "waist": 0.5, "left_finger": 0.01})
        answer = world.call("solve_ik", request)
        assert answer.status == SolveIK.Response.SUCCESS
        seed = [0.5, REST["shoulder"], -0.4, REST["wrist_roll"]]
        solution = answer.solutions[0]
        assert solution.joint_distance == pytest.approx(
            np.linalg.norm(np.subtract(solution.joint_state.position, seed))
        )

    @pytest.mark.parametrize(
        ("shift", "turn", "status", "says"),
        [
            (0.5, 0.0, SolveIK.Response.UNREACHABLE_POSITION, "out of reach"),
            (0.0, 1.0, SolveIK.Response.UNREACHABLE_ORIENTATION, "orientation"),
        ],
    )
    def test_out_of_reach_says_so_and_gives_the_best_effort(
        self, world, shift, turn, status, says
    ):
        T = CHAIN.fk(list(REST.values()))
        T = pose(p=(shift, 0.0, 0.0)) @ T @ pose(so3_exp((0.0, turn, 0.0)))
        answer = world.call("solve_ik", pose_request(T))
        assert answer.status == status
        assert says in answer.message and " mm" in answer.message and " deg" in answer.message
        assert len(answer.solutions) == 1
        near = world.call("solve_ik", pose_request(T, allow_approximate=True))
        assert near.status == SolveIK.Response.APPROXIMATE
        assert near.solutions == answer.solutions

    def test_a_limit_in_the_way_is_named(self, world):
        answer = world.call("solve_ik", pose_request(CHAIN.fk([0.0, 0.2, 1.8, 0.0])))
        assert answer.status == SolveIK.Response.JOINT_LIMIT
        assert list(answer.limiting_joints) == ["elbow"]
        assert "elbow" in answer.message

    def test_a_tool_that_the_description_does_not_know(self, world):
        q = [0.3, 0.1, 0.2, -0.5]
        T = CHAIN.fk(q) @ pose(p=(0.01, 0.0, 0.05))
        moved = Transform(translation=Vector3(x=0.01, y=0.0, z=0.05))
        answer = world.call("solve_ik", pose_request(T, tool=moved))
        assert answer.status == SolveIK.Response.SUCCESS
        solution = answer.solutions[0]
        assert np.allclose(solution.joint_state.position, q, atol=1e-3)
        assert np.allclose(matrix(solution.achieved.pose), T, atol=1e-4)
        nothing = Transform(rotation=Quaternion(w=0.0))
        same = world.call("solve_ik", pose_request(CHAIN.fk(q), tool=nothing))
        assert same == world.call("solve_ik", pose_request(CHAIN.fk(q)))

    def test_an_axis_a_box_weights_and_a_preference(self, world):
        q = [0.3, 0.1, 0.2, -0.5]
        T = CHAIN.fk(q)
        request = pose_request(T, mode=SolveIK.Request.POSITION_AXIS, axis=Vector3(x=3.0))
        request.joint_weights = [JointWeight(name="waist", weight=4.0)]
        answer = world.call("solve_ik", request)
        assert answer.status == SolveIK.Response.SUCCESS
        reached = np.array(answer.solutions[0].joint_state.position)
        assert CHAIN.fk(reached)[:3, 0] @ T[:3, 0] > 1.0 - 1e-8
        gaps = reached - list(REST.values())
        expected = math.sqrt(float([4.0, 1.0, 1.0, 1.0] @ gaps**2))
        assert answer.solutions[0].joint_distance == pytest.approx(expected)

        T[:3, 3] += 0.02 * T[:3, 1]
        box = pose_request(T, position_tolerances=[0.0, 0.03, 0.0])
        box.tolerance_axes = SolveIK.Request.TIP_AXES
        box.orientation_tolerance = math.inf
        box.preference = SolveIK.Request.CENTRED
        answer = world.call("solve_ik", box)
        assert answer.status == SolveIK.Response.SUCCESS
        achieved = matrix(answer.solutions[0].achieved.pose)
        error = achieved[:3, :3].T @ (achieved - T)[:3, 3]
        assert (np.abs(error) <= [1e-5, 0.03, 1e-5]).all()
        assert answer.solutions[0].joint_state.position[3] == pytest.approx(0.0, abs=1e-3)

    def test_weights_of_joints_beside_the_chain_do_not_matter(self, world):
        fingers = [JointWeight(name="left_finger", weight=7.0)]
        request = pose_request(CHAIN.fk([0.3, 0.1, 0.2, -0.5]), joint_weights=fingers)
        assert world.call("solve_ik", request).status == SolveIK.Response.SUCCESS

    def test_no_time_at_all(self, world):
        T = CHAIN.fk(list(REST.values()))
        T[0, 3] += 0.5
        request = pose_request(T)
        request.timeout.nanosec = 1
        assert world.call("solve_ik", request).status == SolveIK.Response.TIMEOUT


def _with_pose(**fields) -> SolveIK.Request:
    request = pose_request(CHAIN.fk([0.1] * 4))
    for name, value in fields.items():
        part = "orientation" if name in ("qx", "qy", "qz", "qw") else "position"
        setattr(getattr(request.target.pose, part), name.removeprefix("q"), value)
    return request


def _with_seed(names: list[str], positions: list[float]) -> SolveIK.Request:
    return pose_request(np.eye(4), seed=JointState(name=names, position=positions))


def _with_timeout(sec: int) -> SolveIK.Request:
    request = pose_request(np.eye(4))
    request.timeout.sec = sec
    return request


def _with_tool(**parts) -> SolveIK.Request:
    return pose_request(np.eye(4), tool=Transform(**parts))


def _with_weights(**weights: float) -> SolveIK.Request:
    given = [JointWeight(name=name, weight=weight) for name, weight in weights.items()]
    return pose_request(np.eye(4), joint_weights=given)


BAD_IK = {
    "NaN in the position": (_with_pose(x=math.nan), "NaN"),
    "infinite quaternion": (_with_pose(qx=math.inf), "NaN or infinity"),
    "zero quaternion": (_with_pose(qx=0.0, qy=0.0, qz=0.0, qw=0.0), "length 0"),
    "unnormalised quaternion": (_with_pose(qw=3.0), "length"),
    "unknown tip": (pose_request(np.eye(4), tip_frame="hand"), "'hand'"),
    "tip that cannot move": (pose_request(np.eye(4), tip_frame="base_link"), "no joint moves"),
    "unknown mode": (pose_request(np.eye(4), mode=7), "mode is 7"),
    "unknown joint": (_with_seed(["knee"], [0.0]), "'knee'"),
    "joint given twice": (_with_seed(["waist", "waist"], [0.0, 0.0]), "twice"),
    "lengths differ": (_with_seed(["waist", "elbow"], [0.0]), "2 names but 1 positions"),
    "NaN in the seed": (_with_seed(["waist"], [math.nan]), "'waist' is nan"),
    "negative tolerance": (pose_request(np.eye(4), position_tolerance=-1.0), "position_tolerance"),
    "NaN as tolerance": (
        pose_request(np.eye(4), orientation_tolerance=math.nan),
        "orientation_tolerance",
    ),
    "infinite position tolerance": (
        pose_request(np.eye(4), position_tolerance=math.inf),
        "position_tolerance is inf",
    ),
    "negative tolerance of an axis": (
        pose_request(np.eye(4), position_tolerances=[0.0, -1.0, 0.0]),
        "position_tolerances has -1 along y",
    ),
    "NaN as tolerance of an axis": (
        pose_request(np.eye(4), orientation_tolerances=[0.0, 0.0, math.nan]),
        "orientation_tolerances has nan along z",
    ),
    "unknown axes": (pose_request(np.eye(4), tolerance_axes=2), "tolerance_axes is 2"),
    "unknown preference": (pose_request(np.eye(4), preference=9), "preference is 9"),
    "infinite axis": (pose_request(np.eye(4), mode=2, axis=Vector3(x=math.inf)), "axis"),
    "unnormalised tool": (_with_tool(rotation=Quaternion(w=2.0)), "tool: the quaternion"),
    "tool without a rotation": (
        _with_tool(translation=Vector3(z=0.1), rotation=Quaternion(w=0.0)),
        "tool: the quaternion has length 0",
    ),
    "NaN in the tool": (_with_tool(translation=Vector3(z=math.nan)), "tool: the pose holds NaN"),
    "weight of an unknown joint": (_with_weights(knee=1.0), "joint_weights: .* no joint 'knee'"),
    "negative weight": (_with_weights(elbow=-1.0), "joint 'elbow' is -1"),
    "NaN weight": (_with_weights(elbow=math.nan), "joint 'elbow' is nan"),
    "infinite weight": (_with_weights(elbow=math.inf), "joint 'elbow' is inf"),
    "weight given twice": (
        pose_request(np.eye(4), joint_weights=[JointWeight(name="elbow", weight=1.0)] * 2),
        "'elbow' is given twice",
    ),
    "negative timeout": (_with_timeout(-1), "timeout"),
    "too many solutions": (pose_request(np.eye(4), max_solutions=2_000_000), "max_solutions"),
}


@pytest.mark.parametrize("case", BAD_IK)
def test_bad_ik_requests_are_refused_in_a_sentence(world, case):
    request, says = BAD_IK[case]
    answer = world.call("solve_ik", request)
    assert answer.status == SolveIK.Response.BAD_REQUEST
    assert re.search(says, answer.message) and answer.message.endswith(".")
    assert "\n" not in answer.message
    assert not answer.solutions


@pytest.mark.parametrize("unknown", ["nowhere", "palm_tree"])
def test_an_unconnected_frame_is_no_transform(world, unknown):
    answer = world.call("solve_ik", pose_request(np.eye(4), unknown))
    assert answer.status == SolveIK.Response.NO_TRANSFORM
    assert f"'{unknown}'" in answer.message


class TestSolveFK:
    def test_the_tip_at_the_current_joints(self, world):
        answer = world.call("solve_fk", SolveFK.Request())
        assert answer.status == SolveFK.Response.SUCCESS
        (pose,) = answer.poses
        assert pose.header.frame_id == "base_link"
        assert np.allclose(matrix(pose.pose), MODEL.fk(list(REST.values())), atol=1e-12)

    def test_any_links_seen_from_any_link(self, world):
        joints = {"waist": 0.5, "shoulder": 0.1}
        request = SolveFK.Request(
            links=["base_link", "tool0", "left_finger_link"], reference_frame="shoulder_link"
        )
        request.joint_state = joint_state(joints)
        answer = world.call("solve_fk", request)
        assert answer.status == SolveFK.Response.SUCCESS
        base, tip, _ = (matrix(pose.pose) for pose in answer.poses)
        expected = MODEL.fk([0.5, 0.1, REST["elbow"], REST["wrist_roll"]])
        assert np.allclose(np.linalg.inv(base) @ tip, expected, atol=1e-12)
        assert {pose.header.frame_id for pose in answer.poses} == {"shoulder_link"}

    @pytest.mark.parametrize(
        ("request_", "says"),
        [
            (SolveFK.Request(links=["tail"]), "'tail'"),
            (SolveFK.Request(joint_state=JointState(name=["waist"])), "1 names but 0"),
        ],
    )
    def test_bad_requests(self, world, request_, says):
        answer = world.call("solve_fk", request_)
        assert answer.status == SolveFK.Response.BAD_REQUEST
        assert says in answer.message and not answer.poses

    def test_seen_from_any_frame_of_tf(self, world):
        answer = world.call("solve_fk", SolveFK.Request(reference_frame="bolt"))
        assert answer.status == SolveFK.Response.SUCCESS
        (pose,) = answer.poses
        assert pose.header.frame_id == "bolt"
        expected = np.linalg.inv(BOLT) @ MODEL.fk(list(REST.values()))
        assert np.allclose(matrix(pose.pose), expected, atol=1e-12)

    @pytest.mark.parametrize("unknown", ["tail", "palm_tree"])
    def test_an_unconnected_reference_is_no_transform(self, world, unknown):
        answer = world.call("solve_fk", SolveFK.Request(reference_frame=unknown))
        assert answer.status == SolveFK.Response.NO_TRANSFORM
        assert f"'{unknown}'" in answer.message and not answer.poses


class TestGetJacobian:
    def test_matrix_and_measures(self, world):
        answer = world.call("get_jacobian", GetJacobian.Request())
        assert answer.status == GetJacobian.Response.SUCCESS
        J = np.reshape(answer.jacobian, (6, 4))
        q = list(REST.values())
        assert np.allclose(J, CHAIN.jacobian(q))
        values = np.linalg.svd(J[:3], compute_uv=False)
        assert answer.manipulability == pytest.approx(np.prod(values))
        assert answer.condition_number == pytest.approx(values[0] / values[-1])
        assert tuple(answer.joint_names) == CHAIN.joint_names

    def test_bad_request(self, world):
        answer = world.call("get_jacobian", GetJacobian.Request(tip_frame="tail"))
        assert answer.status == GetJacobian.Response.BAD_REQUEST


def test_diagnostics_count_what_was_answered(world):
    world.diagnostics.clear()
    world.until(lambda: any("kinematics" in s.name for s in world.diagnostics))
    (status, *_) = [s for s in world.diagnostics if "kinematics" in s.name]
    assert status.level == DiagnosticStatus.OK
    assert any(value.key.startswith("solve_ik") for value in status.values)


def test_a_broken_description_is_refused_and_a_new_one_followed(world):
    try:
        world.description.publish(String(data="<robot><link/></robot>"))
        world.diagnostics.clear()
        world.until(lambda: any("refused" in s.message for s in world.diagnostics))
        assert world.call("solve_fk", SolveFK.Request()).status == SolveFK.Response.SUCCESS
        world.description.publish(String(data=load_robot("planar2").to_urdf()))
        request = GetJacobian.Request(joint_state=joint_state({"shoulder": 0.1, "elbow": 0.2}))
        world.until(lambda: len(world.call("get_jacobian", request).joint_names) == 2)
    finally:
        world.description.publish(String(data=MODEL.to_urdf()))
        world.until(
            lambda: len(world.call("get_jacobian", GetJacobian.Request()).joint_names) == 4
        )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_without_a_description_it_is_not_ready_and_ends_cleanly(fresh_domain, serving, number):
    with serving(number=number) as world:
        for name, kind in KINDS.items():
            answer = world.call(name, kind.Request())
            assert answer.status == SolveIK.Response.NOT_READY
            assert "robot_description" in answer.message
        world.description.publish(String(data=MODEL.to_urdf()))
        world.until(lambda: "joint_states" in world.call("solve_fk", SolveFK.Request()).message)
        answer = world.call("solve_ik", pose_request(np.eye(4)))
        assert answer.status == SolveIK.Response.NOT_READY
        assert "waist" in answer.message


def test_a_bad_parameter_ends_it_with_a_sentence():
    process = start("--ros-args", "-p", "default_timeout:=-1.0")
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "default_timeout" in output and "Traceback" not in output
