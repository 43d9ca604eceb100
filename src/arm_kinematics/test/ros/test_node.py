# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The node as a process, over real DDS: services, rejections, and ways to end."""

import math
import re
import signal
from collections.abc import Iterator

import numpy as np
import pytest
from arm_common.ros.message_conversions import pose_matrix, transform_message
from arm_common.transforms import pose, quaternion, so3_exp
from arm_description.model.elements import Payload
from arm_kinematics.dexterity.conditioning import measures
from arm_kinematics.ik.options import MODES
from arm_kinematics.ros.ik_service import word
from arm_testing.ros.kinematics import (
    BOLT,
    CHAIN,
    FINGERS,
    HERE,
    KINDS,
    MODEL,
    PATIENCE,
    REST,
    THERE,
    Q,
    World,
    joint_state,
    pose_request,
    stamped,
    start,
)
from builtin_interfaces.msg import Duration, Time
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion, Transform, Vector3
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from arm_description import load_robot
from arm_interfaces.msg import JointWeight
from arm_interfaces.srv import (
    CancelIKBatch,
    GetJacobian,
    PlanPath,
    SolveDynamics,
    SolveFK,
    SolveIK,
    SolveIKBatch,
)
from arm_kinematics import Chain

URDF_CHAIN = Chain.from_urdf(MODEL.to_urdf())
Answer = SolveIK.Response


@pytest.fixture(scope="module")
def world(serving) -> Iterator[World]:
    with serving("--ros-args", "-p", f"default_timeout:={PATIENCE}") as world:
        frames = {"bolt": ("base_link", BOLT), "palm_tree": ("island", np.eye(4))}
        world.set_up(MODEL.to_urdf(), {**REST, **FINGERS}, **frames)
        yield world


def first(answer: SolveIK.Response) -> tuple[np.ndarray, np.ndarray]:
    """Return joint positions and reached pose of the first solution."""
    solution = answer.solutions[0]
    return np.array(solution.joint_state.position), pose_matrix(solution.achieved.pose)


def test_modes_are_the_constants_of_the_service():
    for code, name in enumerate(MODES):
        assert getattr(SolveIK.Request, name.upper()) == code


class TestSolveIK:
    def test_pose_is_solved_from_the_current_joints(self, world):
        answer = world.solve(THERE)
        (solution,) = answer.solutions
        assert list(solution.joint_state.name) == list(CHAIN.joint_names)
        assert solution.achieved.header.frame_id == "base_link"
        q, reached = first(answer)
        assert np.allclose(q, Q, atol=1e-3) and np.allclose(reached, THERE, atol=1e-4)
        distance = np.linalg.norm(q - list(REST.values()))
        assert solution.joint_distance == pytest.approx(distance)

    def test_equal_requests_get_equal_responses(self, world):
        request = pose_request(THERE, max_solutions=4, mode=1)
        assert world.call("solve_ik", request) == world.call("solve_ik", request)

    def test_target_may_be_in_a_tf_frame(self, world):
        _, reached = first(world.solve(np.eye(4), "bolt"))
        assert np.allclose(reached, BOLT, atol=1e-4)

    def test_any_link_may_be_the_tip(self, world):
        T = Chain.from_urdf(MODEL.to_urdf(), tip="elbow_link").fk(Q[:3])
        seed = joint_state(dict(zip(REST, [*Q[:3], 0.0], strict=True)))
        fields = {"tip_frame": "elbow_link", "mode": SolveIK.Request.POSITION, "seed": seed}
        (solution,) = world.solve(T, **fields).solutions
        assert list(solution.joint_state.name) == ["waist", "shoulder", "elbow"]

    def test_seed_may_be_incomplete_and_in_any_order(self, world):
        seed = joint_state({"elbow": -0.4, "waist": 0.5, "left_finger": 0.01})
        answer = world.solve(THERE, seed=seed)
        change = first(answer)[0] - [0.5, REST["shoulder"], -0.4, REST["wrist_roll"]]
        assert answer.solutions[0].joint_distance == pytest.approx(np.linalg.norm(change))

    @pytest.mark.parametrize(
        ("shift", "turn", "status", "message"),
        [
            (0.5, 0.0, Answer.UNREACHABLE_POSITION, "out of reach"),
            (0.0, 1.0, Answer.UNREACHABLE_ORIENTATION, "orientation"),
        ],
    )
    def test_unreachable_target_returns_the_best_effort(self, world, shift, turn, status, message):
        T = pose(p=(shift, 0.0, 0.0)) @ HERE @ pose(so3_exp((0.0, turn, 0.0)))
        answer = world.solve(T, status=status)
        assert message in answer.message and " mm" in answer.message and " deg" in answer.message
        assert len(answer.solutions) == 1
        near = world.solve(T, status=Answer.APPROXIMATE, allow_approximate=True)
        assert near.solutions == answer.solutions

    def test_limiting_joint_is_named(self, world):
        answer = world.solve(CHAIN.fk([0.0, 0.2, 1.8, 0.0]), status=Answer.JOINT_LIMIT)
        assert list(answer.limiting_joints) == ["elbow"]
        assert "elbow" in answer.message

    def test_tool_of_the_request_is_used(self, world):
        T = THERE @ pose(p=(0.01, 0.0, 0.05))
        moved = Transform(translation=Vector3(x=0.01, y=0.0, z=0.05))
        q, reached = first(world.solve(T, tool=moved))
        assert np.allclose(q, Q, atol=1e-3) and np.allclose(reached, T, atol=1e-4)
        nothing = Transform(rotation=Quaternion(w=0.0))
        assert world.solve(THERE, tool=nothing) == world.solve(THERE)

    def test_axis_and_weights_are_used(self, world):
        weights = [JointWeight(name="waist", weight=4.0)]
        mode = SolveIK.Request.POSITION_AXIS
        answer = world.solve(THERE, mode=mode, axis=Vector3(x=3.0), joint_weights=weights)
        q, reached = first(answer)
        assert reached[:3, 0] @ THERE[:3, 0] > 1.0 - 1e-8
        expected = math.sqrt(float([4.0, 1.0, 1.0, 1.0] @ (q - list(REST.values())) ** 2))
        assert answer.solutions[0].joint_distance == pytest.approx(expected)

    def test_component_tolerances_and_preference_are_used(self, world):
        T = THERE @ pose(p=(0.0, 0.02, 0.0))
        answer = world.solve(
            T,
            position_tolerances=[0.0, 0.03, 0.0],
            tolerance_axes=SolveIK.Request.TIP_AXES,
            orientation_tolerance=math.inf,
            preference=SolveIK.Request.CENTRED,
        )
        q, reached = first(answer)
        error = reached[:3, :3].T @ (reached - T)[:3, 3]
        assert (np.abs(error) <= [1e-5, 0.03, 1e-5]).all()
        assert q[3] == pytest.approx(0.0, abs=1e-3)

    def test_preferences_are_those_of_the_chain(self, world):
        words = [word(SolveIK.Request(preference=i), "preference") for i in range(3)]
        assert words == ["nearest", "centred", "torque"]
        q, _ = first(world.solve(THERE, preference=SolveIK.Request.LEAST_TORQUE))
        assert np.allclose(q, Q, atol=1e-3)  # the only posture of this arm for that pose

    def test_weights_of_joints_off_the_chain_are_ignored(self, world):
        world.solve(THERE, joint_weights=[JointWeight(name="left_finger", weight=7.0)])


def _at(**quaternion: float) -> PoseStamped:
    return PoseStamped(pose=Pose(orientation=Quaternion(**quaternion)))


def _seed(names: list[str], positions: list[float]) -> dict:
    return {"seed": JointState(name=names, position=positions)}


def _weights(*weights: float, name: str = "elbow") -> dict:
    return {"joint_weights": [JointWeight(name=name, weight=weight) for weight in weights]}


def _tool(z: float = 0.0, w: float = 1.0) -> dict:
    return {"tool": Transform(translation=Vector3(z=z), rotation=Quaternion(w=w))}


BAD_IK = [
    ({"target": PoseStamped(pose=Pose(position=Point(x=math.nan)))}, "NaN"),
    ({"target": _at(x=math.inf)}, "NaN or infinity"),
    ({"target": _at(w=0.0)}, "length 0"),
    ({"target": _at(w=3.0)}, "length"),
    ({"tip_frame": "hand"}, "'hand'"),
    ({"mode": 7}, "mode is 7"),
    (_seed(["knee"], [0.0]), "'knee'"),
    (_seed(["waist", "waist"], [0.0, 0.0]), "twice"),
    (_seed(["waist", "elbow"], [0.0]), "2 names but 1 positions"),
    (_seed(["waist"], [math.nan]), "'waist' is nan"),
    ({"position_tolerance": -1.0}, "position_tolerance"),
    ({"orientation_tolerance": math.nan}, "orientation_tolerance"),
    ({"position_tolerance": math.inf}, "position_tolerance is inf"),
    ({"position_tolerances": [0.0, -1.0, 0.0]}, "position_tolerances has -1 along y"),
    ({"orientation_tolerances": [0.0, 0.0, math.nan]}, "orientation_tolerances has nan along z"),
    ({"tolerance_axes": 2}, "tolerance_axes is 2"),
    ({"preference": 9}, "preference is 9"),
    ({"mode": 2, "axis": Vector3(x=math.inf)}, "axis"),
    (_tool(w=2.0), "tool: the quaternion"),
    (_tool(z=0.1, w=0.0), "tool: the quaternion has length 0"),
    (_tool(z=math.nan), "tool: the pose contains NaN"),
    (_weights(1.0, name="knee"), "joint_weights: .* no joint 'knee'"),
    (_weights(-1.0), "joint 'elbow' is -1"),
    (_weights(math.nan), "joint 'elbow' is nan"),
    (_weights(math.inf), "joint 'elbow' is inf"),
    (_weights(1.0, 1.0), "'elbow' is given twice"),
    ({"timeout": Duration(sec=-1)}, "timeout"),
    ({"max_solutions": 2_000_000}, "max_solutions"),
]


@pytest.mark.parametrize(("fields", "message"), BAD_IK)
def test_invalid_ik_requests_are_rejected(world, fields, message):
    answer = world.call("solve_ik", SolveIK.Request(**{"target": stamped(np.eye(4)), **fields}))
    assert answer.status == Answer.BAD_REQUEST
    assert re.search(message, answer.message) and answer.message.endswith(".")
    assert "\n" not in answer.message
    assert not answer.solutions


def move_frame(world: World, pose_: np.ndarray, second: int) -> None:
    """Publish on tf where the frame "hand" is at a time."""
    message = transform_message("base_link", "hand", pose_, Time(sec=second))
    world.tf.publish(TFMessage(transforms=[message]))


def request_at(second: int, timeout: int = 1) -> SolveIK.Request:
    request = pose_request(np.eye(4), "hand", timeout=Duration(sec=timeout))
    request.target.header.stamp = Time(sec=second)
    return request


@pytest.fixture(scope="module")
def moved(world) -> World:
    """A world whose frame "hand" was at HERE at 100 s and at BOLT at 101 s of its clock."""

    def received() -> bool:
        move_frame(world, HERE, 100)
        move_frame(world, BOLT, 101)
        return world.call("solve_ik", request_at(101)).status == Answer.SUCCESS

    world.until(received)
    return world


class TestStampOfTheTarget:
    @pytest.mark.parametrize(("second", "expected"), [(100, HERE), (101, BOLT), (0, BOLT)])
    def test_frame_is_where_it_was_at_the_stamp(self, moved, second, expected):
        answer = moved.call("solve_ik", request_at(second))
        assert answer.status == Answer.SUCCESS, answer.message
        assert np.allclose(first(answer)[1], expected, atol=1e-4)

    @pytest.mark.parametrize("second", [-100, 80, 1000])
    def test_time_outside_the_buffer_is_refused(self, moved, second):
        answer = moved.call("solve_ik", request_at(second))
        assert answer.status == Answer.NO_TRANSFORM
        assert "use a stamp in that time, or 0 for the newest transform" in answer.message

    def test_time_slightly_ahead_waits_for_tf(self, moved):
        client = moved.clients["solve_ik"]
        future = client.call_async(request_at(103, timeout=60))

        def solved() -> bool:
            move_frame(moved, THERE, 103)  # again and again, as tf is published
            return future.done()

        moved.until(solved)
        assert np.allclose(first(future.result())[1], THERE, atol=1e-4)


@pytest.mark.parametrize("unknown", ["nowhere", "palm_tree"])
def test_unconnected_frame_has_no_transform(world, unknown):
    answer = world.solve(np.eye(4), unknown, status=Answer.NO_TRANSFORM)
    assert f"'{unknown}'" in answer.message


def batch_request(Ts: np.ndarray, **fields) -> SolveIKBatch.Request:
    """Return a request for poses (m, 4, 4) from the seeds of joint_states."""
    turns = np.array([quaternion(T) for T in Ts])
    return SolveIKBatch.Request(
        **{
            "positions": np.ravel(Ts[:, :3, 3]).tolist(),
            "orientations": turns.ravel().tolist(),
            **fields,
        }
    )


FAR = np.tile(pose(p=(0.0, 0.0, 0.4)) @ THERE, (20_000, 1, 1))


class TestSolveIKBatch:
    def test_rows_equal_single_requests(self, world, rng):
        """In another frame, with a row of seeds for each target, one joint from joint_states."""
        Q = rng.uniform(-1.0, 1.0, (40, 4))
        Ts = np.array([np.linalg.inv(BOLT) @ CHAIN.fk(q) for q in Q])
        Ts[7, :3, 3] += 1.0
        names, seeds = ["elbow", "waist", "shoulder"], Q[:, [2, 0, 1]] + 0.2
        fields = {"mode": SolveIK.Request.POSITION_AXIS, "tolerance_axes": 1}
        request = batch_request(
            Ts, reference_frame="bolt", seed_joints=names, seeds=seeds.ravel().tolist(), **fields
        )
        answer = world.call("solve_ik_batch", request)
        assert answer.status == Answer.SUCCESS
        assert answer.message == "Of 40 targets: 39 SUCCESS, 1 UNREACHABLE_POSITION."
        assert tuple(answer.joint_names) == CHAIN.joint_names
        q = np.array(answer.joint_positions).reshape(40, 4)
        for k in (0, 7, 39):
            seed = joint_state(dict(zip(names, seeds[k].tolist(), strict=True)))
            one = world.solve(Ts[k], "bolt", answer.statuses[k], seed=seed, **fields)
            assert np.allclose(first(one)[0], q[k], atol=1e-6)
            solution = one.solutions[0]
            assert solution.position_error == pytest.approx(answer.position_errors[k], abs=1e-8)
            assert solution.joint_distance == pytest.approx(answer.joint_distances[k], abs=1e-6)

    def test_points_need_no_orientation_and_may_share_a_seed(self, world):
        request = SolveIKBatch.Request(
            positions=THERE[:3, 3].tolist() * 2,
            mode=SolveIK.Request.POSITION,
            seed_joints=list(REST),
            seeds=Q,
        )
        answer = world.call("solve_ik_batch", request)
        assert answer.joint_positions.tolist() == pytest.approx(Q * 2)
        assert list(answer.joint_distances) == pytest.approx([0.0, 0.0], abs=1e-6)
        assert world.call("solve_ik_batch", SolveIKBatch.Request()).message == (
            "Of 0 targets: none."
        )

    def test_time_limit_is_that_of_the_whole_batch(self, world):
        request = batch_request(FAR, timeout=Duration(nanosec=1_000_000))
        answer = world.call("solve_ik_batch", request)
        assert answer.status == SolveIKBatch.Response.TIMEOUT
        left = np.isinf(answer.position_errors)
        assert (np.array(answer.statuses)[left] == Answer.TIMEOUT).all()
        assert f"{left.sum()} were not tried within 0.001 s" in answer.message

    def test_batch_is_cancelled_and_others_are_served_meanwhile(self, world):
        request = batch_request(FAR, id="far")
        future = world.clients["solve_ik_batch"].call_async(request)
        assert world.solve(THERE).solutions
        again = world.call("solve_ik_batch", batch_request(FAR[:1], id="far"))
        assert again.status == Answer.BAD_REQUEST and "another batch 'far'" in again.message
        path = world.call("plan_path", PlanPath.Request(waypoints=[stamped(HERE)]))
        assert path.status == PlanPath.Response.SUCCESS and not future.done()
        cancel = CancelIKBatch.Request(id="far")
        assert world.call("cancel_ik_batch", cancel).success
        world.until(future.done)
        assert future.result().status == SolveIKBatch.Response.CANCELED
        assert not future.result().statuses
        answer = world.call("cancel_ik_batch", cancel)
        assert not answer.success and answer.message == "No batch 'far' is running."

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"positions": [0.0] * 4}, "positions: 4 numbers; expected a multiple of 3"),
            ({"orientations": []}, "orientations: there are 0 for 1 positions"),
            ({"orientations": [0.0, 0.0, 0.0, 2.0]}, "target 1: .*length 1"),
            ({"positions": [0.0, math.nan, 0.0]}, "target 1: .*nan"),
            ({"positions": [0.0] * 300_003}, "100001 targets; at most 100000"),
            ({"seeds": [0.0]}, "seed_joints is empty"),
            ({"seed_joints": ["waist"], "seeds": [0.0] * 3}, "3 rows for 1 targets"),
            ({"seed_joints": ["waist"] * 2, "seeds": [0.0] * 2}, "twice"),
            ({"seed_joints": ["knee"], "seeds": [0.0]}, "no joint 'knee'"),
            ({"seed_joints": ["waist"], "seeds": [math.inf]}, "'waist' is inf"),
            ({"timeout": Duration(sec=-1)}, "timeout"),
            ({"mode": 7}, "mode is 7"),
            ({"reference_frame": "nowhere"}, "'nowhere'"),
        ],
    )
    def test_invalid_batches_are_rejected(self, world, fields, message):
        answer = world.call("solve_ik_batch", batch_request(THERE[None], **fields))
        assert answer.status in (Answer.BAD_REQUEST, Answer.NO_TRANSFORM)
        assert re.search(message, answer.message) and answer.message.endswith(".")


class TestSolveFK:
    @pytest.mark.parametrize(("frame", "T"), [("base_link", np.eye(4)), ("bolt", BOLT)])
    def test_tip_pose_is_given_in_any_tf_frame(self, world, frame, T):
        request = SolveFK.Request(reference_frame=frame.replace("base_link", ""))
        answer = world.call("solve_fk", request)
        assert answer.status == SolveFK.Response.SUCCESS
        (pose,) = answer.poses
        assert pose.header.frame_id == frame
        assert np.allclose(T @ pose_matrix(pose.pose), HERE, atol=1e-12)

    def test_poses_of_any_links_are_given_in_any_link_frame(self, world):
        links = ["base_link", "tool0", "left_finger_link"]
        request = SolveFK.Request(links=links, reference_frame="shoulder_link")
        request.joint_state = joint_state({"waist": 0.5, "shoulder": 0.1})
        answer = world.call("solve_fk", request)
        assert answer.status == SolveFK.Response.SUCCESS
        base, tip, _ = (pose_matrix(pose.pose) for pose in answer.poses)
        expected = MODEL.fk([0.5, 0.1, REST["elbow"], REST["wrist_roll"]])
        assert np.allclose(np.linalg.inv(base) @ tip, expected, atol=1e-12)
        assert {pose.header.frame_id for pose in answer.poses} == {"shoulder_link"}
        assert list(answer.links) == links and answer.message.startswith("Poses of 3 links")

    def test_stamp_is_that_of_the_joint_positions(self, world):
        own = joint_state({"waist": 0.5})
        own.header.stamp = Time(sec=7)
        answer = world.call("solve_fk", SolveFK.Request(joint_state=own))
        assert [pose.header.stamp.sec for pose in answer.poses] == [7]
        assert answer.message == "Pose of 'tool0' in 'base_link'."

        def received() -> bool:
            message = joint_state({**REST, **FINGERS})
            message.header.stamp = Time(sec=9)
            world.joint_states.publish(message)
            (pose,) = world.call("solve_fk", SolveFK.Request()).poses
            return pose.header.stamp.sec == 9

        world.until(received)

    @pytest.mark.parametrize(
        ("request_", "message"),
        [
            (SolveFK.Request(links=["tail"]), "'tail'"),
            (SolveFK.Request(joint_state=JointState(name=["waist"])), "1 names but 0"),
        ],
    )
    def test_invalid_fk_requests_are_rejected(self, world, request_, message):
        answer = world.call("solve_fk", request_)
        assert answer.status == SolveFK.Response.BAD_REQUEST
        assert message in answer.message and not answer.poses

    @pytest.mark.parametrize("unknown", ["tail", "palm_tree"])
    def test_unconnected_reference_has_no_transform(self, world, unknown):
        answer = world.call("solve_fk", SolveFK.Request(reference_frame=unknown))
        assert answer.status == SolveFK.Response.NO_TRANSFORM
        assert f"'{unknown}'" in answer.message and not answer.poses


class TestGetJacobian:
    def test_response_holds_matrix_and_measures(self, world):
        answer = world.call("get_jacobian", GetJacobian.Request())
        assert answer.status == GetJacobian.Response.SUCCESS
        J = np.reshape(answer.jacobian, (6, 4))
        assert np.allclose(J, CHAIN.jacobian(list(REST.values())))
        assert (answer.manipulability, answer.condition_number) == pytest.approx(measures(J))
        assert tuple(answer.joint_names) == CHAIN.joint_names

    def test_invalid_jacobian_request_is_rejected(self, world):
        answer = world.call("get_jacobian", GetJacobian.Request(tip_frame="tail"))
        assert answer.status == GetJacobian.Response.BAD_REQUEST

    def test_joints_beyond_all_sense_are_a_bad_request_not_an_internal_error(self, world):
        state = joint_state({**REST, "waist": -1e308})
        for name, field in (("get_jacobian", "joint_state"), ("solve_fk", "joint_state")):
            answer = world.call(name, KINDS[name].Request(**{field: state}))
            assert answer.status == GetJacobian.Response.BAD_REQUEST
            assert "joint positions" in answer.message and "internal" not in answer.message


class TestSolveDynamics:
    def test_motion_with_a_payload_has_the_torques_of_the_chain(self, world):
        state = joint_state(dict(zip(REST, Q, strict=True)))
        state.velocity, rates = [0.5, 0.0, -1.0, 0.2], [1.0, 2.0, 0.0, -3.0]
        request = SolveDynamics.Request(
            joint_state=state,
            acceleration=rates,
            payload_mass=0.05,
            payload_centre=Point(z=0.02),
            payload_size=Vector3(x=0.01, y=0.02, z=0.03),
            gravity=Vector3(z=9.81),
        )
        answer = world.call("solve_dynamics", request)
        assert answer.status == SolveDynamics.Response.SUCCESS
        load, up = Payload(0.05, (0.0, 0.0, 0.02), (0.01, 0.02, 0.03)), (0.0, 0.0, 9.81)
        torques = URDF_CHAIN.inverse_dynamics(Q, state.velocity, rates, load, up)
        assert np.allclose(answer.torques, torques, rtol=1e-12)
        assert np.allclose(answer.gravity_torques, URDF_CHAIN.gravity_torques(Q, load, up))
        assert np.allclose(answer.shares, torques / URDF_CHAIN.effort)
        inertia = np.reshape(answer.inertia, (4, 4))
        assert np.allclose(inertia, URDF_CHAIN.inertia_matrix(Q, load))
        assert tuple(answer.joint_names) == CHAIN.joint_names

    def test_empty_request_is_the_arm_at_rest_where_it_is(self, world):
        answer = world.call("solve_dynamics", SolveDynamics.Request())
        held = URDF_CHAIN.gravity_torques(list(REST.values()))
        assert np.allclose(answer.torques, held) and answer.torques == answer.gravity_torques
        most = (
            np.abs(
                held
                + answer.payload_capacity
                * (URDF_CHAIN.gravity_torques(list(REST.values()), 1.0) - held)
            )
            / URDF_CHAIN.effort
        )
        assert most.max() == pytest.approx(1.0)
        assert "is loaded most" in answer.message and " % of its effort" in answer.message

    @pytest.mark.parametrize(
        ("request_", "message"),
        [
            (SolveDynamics.Request(tip_frame="tail"), "tail"),
            (SolveDynamics.Request(acceleration=[1.0]), "1 numbers for 0 joints"),
            (SolveDynamics.Request(payload_mass=-0.1), "payload_mass is -0.1"),
            (SolveDynamics.Request(payload_size=Vector3(x=-1.0)), "payload_size is (-1.0"),
            (SolveDynamics.Request(gravity=Vector3(x=math.inf)), "gravity: contains NaN"),
            (
                SolveDynamics.Request(
                    joint_state=JointState(name=["elbow"], position=[0.1], velocity=[math.nan])
                ),
                "joint_state.velocity: the value of joint 'elbow' is nan",
            ),
        ],
    )
    def test_invalid_dynamics_requests_are_rejected(self, world, request_, message):
        answer = world.call("solve_dynamics", request_)
        assert answer.status == SolveDynamics.Response.BAD_REQUEST
        assert message in answer.message and not answer.torques


def test_diagnostics_count_requests(world):
    world.diagnostics.clear()
    world.until(lambda: any("kinematics" in s.name for s in world.diagnostics))
    (status, *_) = [s for s in world.diagnostics if "kinematics" in s.name]
    assert status.level == DiagnosticStatus.OK
    assert any(value.key.startswith("solve_ik") for value in status.values)


def test_invalid_description_is_rejected_and_a_new_one_used(world):
    try:
        world.describe("<robot><link/></robot>")
        world.diagnostics.clear()
        world.until(lambda: any("rejected" in s.message for s in world.diagnostics))
        assert world.call("solve_fk", SolveFK.Request()).status == SolveFK.Response.SUCCESS
        world.describe(load_robot("planar2").to_urdf())
        request = GetJacobian.Request(joint_state=joint_state({"shoulder": 0.1, "elbow": 0.2}))
        world.until(lambda: len(world.call("get_jacobian", request).joint_names) == 2)
    finally:
        world.describe(MODEL.to_urdf())
        world.until(
            lambda: len(world.call("get_jacobian", GetJacobian.Request()).joint_names) == 4
        )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_node_without_description_is_not_ready_and_ends_cleanly(fresh_domain, serving, number):
    with serving(number=number) as world:
        for name, kind in KINDS.items():
            answer = world.call(name, kind.Request())
            assert answer.status == SolveIK.Response.NOT_READY
            assert "robot_description" in answer.message
        world.describe(MODEL.to_urdf())
        world.until(lambda: "joint_states" in world.call("solve_fk", SolveFK.Request()).message)
        assert "waist" in world.solve(np.eye(4), status=Answer.NOT_READY).message


def test_invalid_parameter_ends_the_node_with_a_message():
    process = start("--ros-args", "-p", "default_timeout:=-1.0")
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "default_timeout" in output and "Traceback" not in output
