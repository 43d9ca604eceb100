# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The service plan_path over real DDS: paths, rejections, and concurrent requests."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from arm_common.transforms import pose
from arm_kinematics.paths.shapes import arc
from arm_testing.ros.kinematics import World, joint_state, stamped
from geometry_msgs.msg import Pose, PoseStamped, Quaternion, Vector3
from sensor_msgs.msg import JointState

from arm_description import load_robot
from arm_interfaces.srv import PlanPath, SolveFK
from arm_kinematics import Chain

MODEL = load_robot("puma560")
CHAIN = Chain.from_urdf(MODEL.to_urdf())
REST = np.array([0.1, 0.6, -2.8, 0.3, 0.8, 0.1])
HERE = CHAIN.fk(REST)
TABLE = CHAIN.fk([0.3, 0.5, -2.7, 0.1, 0.7, 0.0])
Result = PlanPath.Response


def moved(x: float, y: float, z: float) -> np.ndarray:
    return pose(p=(x, y, z)) @ HERE


def request(*waypoints: np.ndarray, frame: str = "", **fields) -> PlanPath.Request:
    return PlanPath.Request(waypoints=[stamped(T, frame) for T in waypoints], **fields)


def joints(q) -> JointState:
    return joint_state(dict(zip(CHAIN.joint_names, map(float, q), strict=True)))


def rows(answer) -> np.ndarray:
    return np.array([point.positions for point in answer.trajectory.points])


def seconds(answer) -> np.ndarray:
    stamps = [point.time_from_start for point in answer.trajectory.points]
    return np.array([stamp.sec + 1e-9 * stamp.nanosec for stamp in stamps])


@pytest.fixture(scope="module")
def world(serving) -> Iterator[World]:
    with serving() as world:
        assert plan(world, request(HERE)).status == Result.NOT_READY
        now = dict(zip(CHAIN.joint_names, REST.tolist(), strict=True))
        frames = {"table": ("base_link", TABLE), "x": ("island", np.eye(4))}
        world.set_up(MODEL.to_urdf(), now, **frames)
        yield world


def plan(world: World, asked: PlanPath.Request) -> PlanPath.Response:
    return world.call("plan_path", asked)


def test_straight_path_starts_at_the_current_position(world):
    goal = moved(0.05, -0.05, 0.05)
    answer = plan(world, request(goal))
    assert answer.status == Result.SUCCESS and answer.fraction == 1.0, answer.message
    assert tuple(answer.trajectory.joint_names) == CHAIN.joint_names
    q, t = rows(answer), seconds(answer)
    assert np.array_equal(q[0], REST) and np.allclose(CHAIN.fk(q[-1]), goal, atol=1e-4)
    assert t[0] == 0.0 and (np.diff(t) > 0.0).all()
    v = np.array([point.velocities for point in answer.trajectory.points])
    assert not v[[0, -1]].any() and (np.abs(v) <= CHAIN.velocity * (1 + 1e-9)).all()
    direction = goal[:3, 3] - HERE[:3, 3]
    for row in q:
        offset = CHAIN.fk(row)[:3, 3] - HERE[:3, 3]
        assert np.linalg.norm(np.cross(offset, direction / np.linalg.norm(direction))) < 2e-5
    slow = plan(world, request(goal, velocity_scaling=0.1))
    assert seconds(slow)[-1] > 2.0 * t[-1]
    assert plan(world, request(goal)) == answer


def test_arc_may_be_in_a_tf_frame_with_a_given_start(world):
    """The middle of the arc needs no orientation."""
    start = CHAIN.ik(TABLE, REST).q
    poses = [pose(p=(0.02, 0.03, 0.0)), pose(p=(0.0, 0.06, 0.0))]
    asked = request(*poses, frame="table", arc_via=[True, False], start=joints(start))
    asked.waypoints[0].pose.orientation.w = 0.0
    answer = plan(world, asked)
    assert answer.status == Result.SUCCESS, answer.message
    shape = arc(CHAIN.fk(start), (TABLE @ poses[0])[:3, 3], TABLE @ poses[1])
    points = np.array([shape.pose(s)[:3, 3] for s in np.linspace(0.0, 1.0, 2001)])
    for row in rows(answer):
        assert np.linalg.norm(points - CHAIN.fk(row)[:3, 3], axis=1).min() < 2e-4


def test_response_reports_where_and_why_the_path_ends(world):
    answer = plan(world, request(moved(1.5, 0.0, 0.0)))
    assert answer.status == Result.UNREACHABLE_POSITION
    assert 0.0 < answer.fraction < 1.0 and "out of reach" in answer.message
    end = CHAIN.fk(rows(answer)[-1])[:3, 3]
    assert end == pytest.approx(moved(1.5 * answer.fraction, 0.0, 0.0)[:3, 3], abs=1e-3)
    outside = joints(REST + 5.0 * np.eye(6)[0])
    answer = plan(world, request(HERE, start=outside))
    assert answer.status == Result.JOINT_LIMIT and answer.fraction == 0.0
    assert list(answer.limiting_joints) == [CHAIN.joint_names[0]]


def test_other_requests_are_served_during_planning(world):
    """A path of many samples is requested first; later requests are answered first."""
    goals = [moved(0.05, 0.0, 0.0), HERE] * 5
    long = world.clients["plan_path"].call_async(request(*goals, max_step=3e-4))
    answered = 0
    while not long.done():
        short = world.clients["solve_fk"].call_async(SolveFK.Request())
        world.until(short.done)
        assert short.result().status == SolveFK.Response.SUCCESS
        answered += not long.done()
    assert long.result().status == Result.SUCCESS, long.result().message
    assert len(long.result().trajectory.points) > 1500 and answered > 5


NO_QUATERNION = PoseStamped(pose=Pose(orientation=Quaternion(w=0.0)))
BAD = {
    "no waypoints": (request(), "no waypoints"),
    "NaN": (request(moved(math.nan, 0.0, 0.0)), "waypoint 1: the pose contains NaN"),
    "zero quaternion": (PlanPath.Request(waypoints=[NO_QUATERNION]), "length 0"),
    "scaling above 1": (request(HERE, velocity_scaling=1.5), "velocity_scaling is 1.5"),
    "negative scaling": (request(HERE, velocity_scaling=-0.1), "velocity_scaling is -0.1"),
    "NaN as scaling": (request(HERE, velocity_scaling=math.nan), "velocity_scaling is nan"),
    "negative step": (request(HERE, max_step=-1.0), "max_step is -1"),
    "steps without end": (request(moved(0.1, 0.0, 0.0), max_step=1e-9), "samples"),
    "negative tolerance": (request(HERE, position_tolerance=-1.0), "position_tolerance"),
    "unknown mode": (request(HERE, mode=9), "mode is 9"),
    "unknown joint": (
        request(HERE, start=joint_state({"knee": 0.0})),
        "start: the robot has no joint 'knee'",
    ),
    "flags of another number": (request(HERE, arc_via=[True, False]), "2 entries for 1"),
    "NaN as axis": (request(HERE, axis=Vector3(x=math.nan)), "axis: contains NaN"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_path_requests_are_rejected(world, case):
    asked, message = BAD[case]
    answer = plan(world, asked)
    assert answer.status == Result.BAD_REQUEST
    assert message in answer.message and answer.message.endswith(".")
    assert not answer.trajectory.points and answer.fraction == 0.0


@pytest.mark.parametrize("frame", ["nowhere", "x"])
def test_unconnected_frame_has_no_transform(world, frame):
    answer = plan(world, request(HERE, frame=frame))
    assert answer.status == Result.NO_TRANSFORM and f"'{frame}'" in answer.message
