# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tool paths: shapes, samples that stay on them, no jumps, and reasons for ending."""

import math

import numpy as np
import pytest
from arm_common.transforms import inverse, is_rigid, pose, so3_exp, so3_log
from arm_kinematics.paths.cartesian_path import PathOptions, PathStatus
from arm_kinematics.paths.planner import follow, plan_path
from arm_kinematics.paths.shapes import arc, line, screw
from arm_kinematics.paths.timing import point_to_point, time_result
from arm_testing.arms.chains import REGULAR, posture, shipped
from arm_testing.arms.samples import ROBOTS
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from arm_kinematics import Chain, ChainJoint, KinematicsError

CHAINS = {name: shipped(name) for name in REGULAR}
# Yaw, shoulder and elbow; upright at zero, links of 0.4 m.
ELBOW_ARM = Chain(
    np.transpose([[0, 0, 0, 0, 0, 1], [0, 0, 0, 0, -1, 0], [0.4, 0, 0, 0, -1, 0]]),
    pose(p=[0.0, 0.0, 0.8]),
    [ChainJoint(name, False, -3.1, 3.1, 2.0, 6.0) for name in ("yaw", "shoulder", "elbow")],
)


def arm(name: str) -> tuple[Chain, np.ndarray, np.ndarray]:
    """Return an arm, its start, and the tool's pose there."""
    chain, q = CHAINS[name], np.array(REGULAR[name])
    return chain, q, chain.fk(q)


numbers = st.floats(-1.0, 1.0)
points = st.tuples(numbers, numbers, numbers).map(np.array)


def moved(T: np.ndarray, shift, turn=(0.0, 0.0, 0.0)) -> np.ndarray:
    return pose(so3_exp(turn) @ T[:3, :3], T[:3, 3] + np.array(shift))


@given(points, points, points, points, st.floats(0.0, 1.0))
def test_a_line_runs_from_start_to_goal(a, turn_a, b, turn_b, share):
    start, goal = pose(so3_exp(3.0 * turn_a), a), pose(so3_exp(3.0 * turn_b), b)
    shape = line(start, goal)
    assert np.allclose(shape.pose(0.0), start, atol=1e-13)
    assert np.allclose(shape.goal, goal, atol=1e-13)
    assert is_rigid(shape.pose(share))
    assert 0.0 <= shape.angle <= math.pi + 1e-9


@settings(deadline=None, max_examples=60)
@given(points, points, points, points, points)
def test_arc_passes_its_three_points_on_one_circle(a, b, c, first, last):
    u, v = b - a, c - a
    if np.linalg.norm(np.cross(u, v)) < 0.01 * np.linalg.norm(u) * np.linalg.norm(v) + 1e-6:
        return
    start, goal = pose(so3_exp(first), a), pose(so3_exp(last), c)
    shape = arc(start, b, goal)
    shares = np.linspace(0.0, 1.0, 201)
    points = np.array([shape.pose(s)[:3, 3] for s in shares])
    assert np.allclose(shape.pose(0.0), start, atol=1e-9)
    assert np.allclose(shape.goal, goal, atol=1e-7)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert np.allclose(steps, steps.mean(), rtol=1e-5, atol=1e-9)  # even
    assert steps.sum() == pytest.approx(shape.length, rel=1e-3)
    assert np.linalg.norm(points - b, axis=1).min() <= steps.max() + 1e-9
    normal = np.cross(u, v) / np.linalg.norm(np.cross(u, v))
    assert np.abs((points - a) @ normal).max() < 1e-7
    middle = (shape.pose(0.5 + 1e-6) - shape.pose(0.5 - 1e-6))[:3, 3] / 2e-6
    assert np.allclose(shape.velocity(0.5)[:3], middle, atol=1e-5 * (1 + shape.length))


def test_collinear_arc_is_a_line_and_invalid_ones_are_rejected():
    a, b = np.eye(4), moved(np.eye(4), (0.2, 0.0, 0.0))
    assert arc(a, [0.1, 0.0, 0.0], b).length == pytest.approx(0.2)
    with pytest.raises(KinematicsError, match="not between them"):
        arc(a, [0.3, 0.0, 0.0], b)
    with pytest.raises(KinematicsError, match="ends where it starts"):
        arc(a, [0.3, 0.1, 0.0], a)
    with pytest.raises(KinematicsError, match="via: expected 3 finite"):
        arc(a, [math.nan, 0.0, 0.0], b)


@given(points, points)
@settings(deadline=None, max_examples=40)
def test_orientation_turns_evenly_the_shorter_way_round(first, last):
    shape = line(pose(so3_exp(first), first), pose(so3_exp(last), last))
    assert shape.angle <= math.pi + 1e-12
    half = shape.start[:3, :3].T @ shape.pose(0.5)[:3, :3]
    rest = shape.pose(0.5)[:3, :3].T @ shape.goal[:3, :3]
    assert np.allclose(half, rest, atol=1e-9)
    assert np.allclose(so3_log(half) * 2.0, shape.turn, atol=1e-9)


def test_screw_may_exceed_a_whole_turn():
    T = CHAINS["puma560"].fk(REGULAR["puma560"])
    shape = screw(T, 0.01, 3.0 * math.pi)
    end = inverse(T) @ shape.goal
    assert np.allclose(end, pose(so3_exp([0, 0, math.pi]), [0, 0, 0.01]), atol=1e-12)
    assert shape.angle == pytest.approx(3.0 * math.pi)


def between(result, chain, shares=(0.25, 0.5, 0.75)):
    """Yield tool poses on straight joint motions between the samples."""
    for a, b in zip(result.positions, result.positions[1:], strict=False):
        for s in shares:
            yield chain.fk(a + s * (b - a))


@pytest.mark.parametrize("name", ["puma560", "ur5", "panda"])
def test_line_is_kept_between_the_samples(name):
    chain, q, T = arm(name)
    goal = moved(T, (0.05, -0.08, 0.04), (0.2, -0.1, 0.3))
    options = PathOptions(max_deviation=2e-5, max_tilt=1e-3)
    result = plan_path(chain, [goal], q, options)
    assert result.status == PathStatus.SUCCESS and result.fraction == 1.0, result.message
    assert np.array_equal(result.positions[0], q)
    assert np.allclose(chain.fk(result.positions[-1]), goal, atol=1e-4)
    direction = goal[:3, 3] - T[:3, 3]
    for reached in between(result, chain):
        share = (reached[:3, 3] - T[:3, 3]) @ direction / (direction @ direction)
        expected = line(T, goal).pose(share)
        assert np.linalg.norm(reached[:3, 3] - expected[:3, 3]) < 4e-5
        assert np.linalg.norm(so3_log(expected[:3, :3].T @ reached[:3, :3])) < 2e-3
    steps = np.abs(np.diff(result.positions, axis=0))
    assert steps.max() <= 0.1
    assert (result.positions <= chain.upper).all() and (result.positions >= chain.lower).all()
    assert result.position_error <= 1e-5 and result.orientation_error <= 1e-4


@pytest.mark.parametrize("mode", ["position", "position_axis"])
def test_arm_with_four_joints_follows_an_arc(mode):
    chain, q, T = arm("nut_arm")
    if mode == "position_axis":  # the tool's axis stays in the plane of the forearm
        via, goal = (chain.fk(q + np.array([s, 0, 0, 0])) for s in (-0.2, -0.5))
    else:
        via, goal = moved(T, (0.01, -0.02, 0.01)), moved(T, (0.0, -0.04, 0.0))
    options = PathOptions(mode=mode)
    result = plan_path(chain, [via, goal], q, options, arc_via=[True, False])
    assert result.ok, result.message
    shape = arc(T, via[:3, 3], goal)
    passed = np.array([shape.pose(s)[:3, 3] for s in np.linspace(0, 1, 2001)])
    for reached in between(result, chain):
        assert np.linalg.norm(passed - reached[:3, 3], axis=1).min() < 1e-4


def test_requested_step_bounds_are_kept():
    chain, q, T = arm("puma560")
    result = plan_path(chain, [moved(T, (0.03, 0.0, 0.0))], q, PathOptions(max_step=5e-4))
    tips = np.array([chain.fk(row)[:3, 3] for row in result.positions])
    assert np.linalg.norm(np.diff(tips, axis=0), axis=1).max() <= 5.3e-4
    fine = plan_path(chain, [moved(T, (0.03, 0.0, 0.0))], q, PathOptions(max_joint_step=2e-3))
    assert np.abs(np.diff(fine.positions, axis=0)).max() <= 2e-3


def test_plan_path_is_deterministic():
    chain, q, T = arm("panda")
    goal = moved(T, (0.1, 0.1, 0.0))
    one, other = (plan_path(chain, [goal], q) for _ in range(2))
    assert np.array_equal(one.positions, other.positions) and one.message == other.message


def test_waypoints_at_the_current_pose_need_no_motion():
    chain, q, T = arm("puma560")
    result = plan_path(chain, [T] * 2, q)
    assert result.ok and len(result.positions) == 1 and result.fraction == 1.0
    timed = time_result(result, chain.velocity, chain.acceleration)
    assert len(timed.times) == 1 and not timed.velocities.any()


def test_path_without_start_tries_other_branches():
    """Only some configurations of the first pose have room for this turn of the wrist."""
    chain = CHAINS["puma560"]
    q = np.array([0.2, 0.7, -2.7, 2.9, 0.9, 0.1])  # joint 4 is near its end
    waypoints = [chain.fk(q), chain.fk(q + 0.6 * np.eye(6)[3])]
    stuck = plan_path(chain, waypoints, q)
    assert not stuck.ok and stuck.limiting_joints == ("wrist_roll",)
    free = plan_path(chain, waypoints, seed=q)
    assert free.ok, free.message
    assert np.allclose(chain.fk(free.positions[0]), waypoints[0], atol=1e-4)


def test_elbow_of_a_redundant_arm_does_not_drift():
    chain, q, T = arm("panda")
    result = plan_path(chain, [moved(T, (0.1, 0.0, 0.0)), T], q)
    assert result.ok and np.abs(result.positions[-1] - q).max() < 0.02


def test_unreachable_path_reports_where_it_ends():
    chain, q, T = arm("puma560")
    result = plan_path(chain, [moved(T, (2.0, 0.0, 0.0))], q)
    assert result.status == PathStatus.UNREACHABLE_POSITION
    assert 0.0 < result.fraction < 1.0 and len(result.positions) > 2
    assert f"{100 * result.fraction:.3g} %" in result.message and "out of reach" in result.message
    end = chain.fk(result.positions[-1])[:3, 3]
    assert end == pytest.approx(T[:3, 3] + [2.0 * result.fraction, 0, 0], abs=1e-4)
    assert f"({end[0]:.4g}, {end[1]:.4g}, {end[2]:.4g}) m" in result.message


def test_reason_is_sought_only_where_a_path_ends(monkeypatch):
    calls, ik = [], Chain.ik

    def counted(*arguments, timeout=None, **options):
        calls.append(timeout)
        return ik(*arguments, timeout=timeout, **options)

    monkeypatch.setattr(Chain, "ik", counted)
    arm = shipped("planar3")
    q = np.array([0.3, 0.5, 0.4])
    goal = arm.fk(q) @ pose(p=(10.0, 0.0, 0.0))
    result = plan_path(arm, [goal], q)
    assert not result.ok and 0.0 < result.fraction < 0.2
    assert calls.count(None) <= 2 < len(calls)


def test_unreachable_orientation_is_reported():
    chain, q, T = arm("nut_arm")
    result = plan_path(chain, [moved(T, (0.0, 0.0, 0.0), (0.5, 0.3, 0.4))], q)
    assert result.status == PathStatus.UNREACHABLE_ORIENTATION and result.fraction < 0.1


def test_limiting_joint_is_named():
    chain, q, T = arm("nut_arm")
    goal = screw(T, 0.0, 2.0)
    result = follow(chain, [goal], q, PathOptions())
    assert result.status == PathStatus.JOINT_LIMIT
    assert result.limiting_joints == ("wrist_roll",) and "wrist_roll" in result.message
    assert result.positions[-1][3] == pytest.approx(chain.upper[3], abs=1e-3)
    assert result.fraction == pytest.approx((chain.upper[3] - 0.1) / 2.0, abs=1e-3)


def test_start_beyond_a_limit_is_rejected():
    chain = CHAINS["nut_arm"]
    q = np.array([0.3, 0.4, 0.2, 2.0])
    result = plan_path(chain, [chain.fk(q)], q)
    assert result.status == PathStatus.JOINT_LIMIT and result.fraction == 0.0
    assert result.limiting_joints == ("wrist_roll",) and "beyond" in result.message


def test_singularity_on_the_path_is_reported():
    """With the tool on a joint's axis, that joint would have to jump for a sideways motion."""
    chain, q = ELBOW_ARM, np.array([0.1, -0.6, 1.2])
    T = chain.fk(q)
    assert np.allclose(T[:2, 3], 0.0, atol=1e-12)
    aside = moved(T, (-0.1 * math.sin(0.1), 0.1 * math.cos(0.1), 0.0))
    result = plan_path(chain, [aside], q, PathOptions(mode="position"))
    assert result.status == PathStatus.SINGULARITY, result.message
    assert result.fraction < 1e-3 and result.limiting_joints
    assert "singular" in result.message


def test_samples_are_denser_near_a_singularity():
    chain, q = ELBOW_ARM, np.array([0.1, 0.9, 1.2])
    T = chain.fk(q)
    x, y, z = T[:3, 3]
    beside, across = pose(T[:3, :3], [0.002, 0.003, z]), pose(T[:3, :3], [-x, -y, z])
    result = plan_path(chain, [beside, across], q, PathOptions(mode="position"))
    assert result.ok, result.message
    assert np.abs(np.diff(result.positions, axis=0)).max() <= 0.1
    tips = np.array([chain.fk(row)[:3, 3] for row in result.positions])
    steps = np.linalg.norm(np.diff(tips, axis=0), axis=1)
    assert steps.min() < 0.2 * steps.max()


@pytest.mark.parametrize("paths", [5, pytest.param(12, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("mode", ["pose", "position_axis"])
@pytest.mark.parametrize("name", ROBOTS)
def test_wider_tolerance_solves_what_a_narrower_one_does(name, mode, paths, rng):
    """With no joint step larger: what the tolerance allows does not change where the arm goes."""
    chain, solved = shipped(name), 0
    length = float(np.linalg.norm(chain.M[:3, 3]))
    tolerances = [1e-4, *np.radians([2.0, 5.0, 10.0, 11.0, 20.0, 30.0, 45.0])]
    for _ in range(paths):
        q = posture(chain, rng, 3.0)
        shape = line(T := chain.fk(q), moved(T, 0.15 * length * rng.normal(size=3)))
        smallest = math.inf
        for tolerance in tolerances:
            options = PathOptions(mode, orientation_tolerance=tolerance)
            result = follow(chain, [shape], q, options)
            assert result.ok or smallest == math.inf, (tolerance, result.message)
            if result.ok and len(result.positions) > 1:
                step = float(np.abs(np.diff(result.positions, axis=0)).max())
                assert step <= smallest * 1.01 + 1e-4, tolerance
                smallest = min(smallest, step)
        solved += smallest < math.inf
    assert solved >= (0 if chain.constraints.constraints else max(2, paths // 5))


@pytest.mark.parametrize("mode", ["pose", "position_axis"])
@pytest.mark.parametrize("name", ["braccio", "five_axis", "learm", "puma560", "so101"])
def test_wider_tolerance_starts_where_a_narrower_one_does(name, mode, rng):
    """Of a path whose first pose a joint limit rules out, so that the arm has to tilt."""
    chain, solved = shipped(name), 0
    length = float(np.linalg.norm(chain.M[:3, 3]))
    for _ in range(7):
        q, i = np.array(posture(chain, rng, 2.0)), rng.integers(chain.n)
        q[i] = rng.choice([chain.lower[i] - 0.4, chain.upper[i] + 0.4])
        T = chain.fk(q)
        poses = [T, *(moved(T, shift) for shift in 0.04 * length * rng.normal(size=(2, 3)))]
        smallest = math.inf
        for tilt in np.radians([10.0, 18.0, 25.0, 30.0, 45.0]):
            turns = (tilt, tilt, 1e-4) if mode == "pose" else tilt
            result = plan_path(
                chain, poses, options=PathOptions(mode, orientation_tolerance=turns)
            )
            assert result.ok or smallest == math.inf, (tilt, result.message)
            if result.ok:
                step = float(np.abs(np.diff(result.positions, axis=0)).max())
                assert step <= smallest * 1.1, tilt
                smallest = min(smallest, step)
        solved += smallest < math.inf
    assert solved >= 1


def test_branch_change_ends_the_path():
    """If inverse kinematics finds only the other elbow, denser samples do not help."""
    chain, q = ELBOW_ARM, np.array([0.1, 0.9, 1.2])

    class OtherElbow:
        """The arm, but its inverse kinematics prefers another configuration half way."""

        def __getattr__(self, name):
            return getattr(chain, name)

        def ik(self, T, seed, **arguments):
            if abs(T[2, 3] - chain.fk(q)[2, 3]) < 0.05:
                return chain.ik(T, seed, **arguments)
            others = chain.ik(T, [seed[0], seed[1] + seed[2], -seed[2]], **arguments)
            assert np.abs(others.q - seed).max() > 0.5
            return others

    goal = moved(chain.fk(q), (0.0, 0.0, 0.1))
    assert plan_path(chain, [goal], q, PathOptions(mode="position")).ok
    result = plan_path(OtherElbow(), [goal], q, PathOptions(mode="position"))
    assert result.status == PathStatus.BRANCH_CHANGE and "another configuration" in result.message
    assert result.fraction == pytest.approx(0.5, abs=1e-3) and result.limiting_joints


def test_collision_ends_the_path():
    chain, q, T = arm("puma560")
    wall = T[0, 3] + 0.05

    def check(joints):
        return "tool at the wall" if chain.fk(joints)[0, 3] > wall else None

    result = plan_path(chain, [moved(T, (0.1, 0.0, 0.0))], q, collision=check)
    assert result.status == PathStatus.COLLISION and "tool at the wall" in result.message
    assert result.fraction == pytest.approx(0.5, abs=0.01)
    assert all(check(row) is None for row in result.positions)
    nowhere = plan_path(chain, [T], q, collision=lambda _: "always")
    assert nowhere.status == PathStatus.COLLISION and nowhere.fraction == 0.0


def test_timeout_ends_the_path():
    chain, q, T = arm("puma560")
    result = plan_path(chain, [moved(T, (0.1, 0.0, 0.0))], q, timeout=1e-9)
    assert result.status == PathStatus.TIMEOUT and result.fraction == 0.0


def test_unreachable_first_waypoint_is_reported():
    chain = CHAINS["puma560"]
    far = moved(np.eye(4), (5.0, 0.0, 0.0))
    result = plan_path(chain, [far, far])
    assert result.status == PathStatus.UNREACHABLE_POSITION
    assert result.positions.shape == (0, 6) and "cannot start" in result.message
    assert len(time_result(result, chain.velocity, chain.acceleration).times) == 0


BAD = {
    "no waypoints": (([],), {}, "no waypoints"),
    "no pose": (([np.zeros((4, 4))],), {}, "waypoint 1"),
    "arc without an end": (([np.eye(4)],), {"arc_via": [True]}, "begin and end"),
    "two middles": (([np.eye(4)] * 3,), {"arc_via": [True, True, False]}, "one middle"),
    "too few flags": (([np.eye(4)] * 3,), {"arc_via": [True]}, "1 entries for 3"),
    "a step of nothing": (([np.eye(4)],), {"options": PathOptions(max_step=0.0)}, "max_step"),
    "steps without end": (([np.eye(4)],), {"options": PathOptions(max_step=1e-9)}, "samples"),
    "mode": (([np.eye(4)],), {"options": PathOptions(mode="pos")}, "mode is 'pos'"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_arguments_are_rejected(case):
    arguments, keywords, message = BAD[case]
    with pytest.raises(KinematicsError, match=message):
        plan_path(CHAINS["nut_arm"], *arguments, REGULAR["nut_arm"], **keywords)


def test_tool_stops_at_corners():
    chain, q, T = arm("ur5")
    corner, goal = moved(T, (0.05, 0.0, 0.0)), moved(T, (0.05, 0.05, 0.0))
    result = plan_path(chain, [corner, goal], q)
    assert len(result.stops) == 1
    assert np.allclose(chain.fk(result.positions[result.stops[0]]), corner, atol=1e-4)
    timed = time_result(result, chain.velocity, chain.acceleration)
    still = [i for i, v in enumerate(timed.velocities) if not v.any()]
    assert len(still) == 3 and (np.diff(timed.times) > 0.0).all()
    for row in CubicHermiteSpline(*timed)(np.linspace(0.0, timed.times[-1], 400)):
        x, y, z = chain.fk(row)[:3, 3] - T[:3, 3]
        assert min(math.hypot(y, z), math.hypot(x - 0.05, z)) < 5e-5
    straight = plan_path(chain, [corner, moved(T, (0.1, 0.0, 0.0))], q)
    assert straight.stops == ()


@pytest.mark.parametrize("scaling", [1.0, 0.25])
def test_trajectory_keeps_path_and_limits(scaling):
    chain, q, T = arm("puma560")
    via, goal = moved(T, (0.03, 0.05, 0.0)), moved(T, (0.1, 0.0, 0.0), (0.3, 0.0, 0.2))
    options = PathOptions(max_deviation=5e-5)
    result = plan_path(chain, [via, goal], q, options, arc_via=[True, False])
    timed = time_result(result, chain.velocity, chain.acceleration, scaling)
    assert timed.times[0] == 0.0 and not timed.velocities[[0, -1]].any()
    t = np.linspace(0.0, timed.times[-1], 3000)
    rows = CubicHermiteSpline(*timed)(t)
    speed = np.abs(np.diff(rows, axis=0)) / np.diff(t)[:, None]
    assert (speed <= scaling * chain.velocity * (1 + 1e-6)).all()
    shape = arc(T, via[:3, 3], goal)
    passed = np.array([shape.pose(s)[:3, 3] for s in np.linspace(0, 1, 4001)])
    for row in rows[::30]:
        assert np.linalg.norm(passed - chain.fk(row)[:3, 3], axis=1).min() < 1e-4


@example([-1.5, 0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0], 0.05)
@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(-1.5, 1.5), min_size=8, max_size=8), st.floats(0.05, 1.0))
def test_point_to_point_is_synchronised_and_time_optimal(values, scaling):
    chain = CHAINS["nut_arm"]
    start, goal = np.array(values[:4]), np.array(values[4:])
    distance = np.abs(goal - start)
    if distance.max() < 1e-3:
        return
    timed = point_to_point(chain, start, goal, scaling)
    v, a, d = scaling * chain.velocity, chain.acceleration, distance
    trapezoid = np.where(d * a > v * v, d / v + v / a, 2.0 * np.sqrt(d / a))
    assert timed.times[-1] == pytest.approx(trapezoid.max(), rel=0.03)
    assert timed.times[-1] >= trapezoid.max() * (1 - 1e-9)
    shares = (timed.positions - start) @ (goal - start) / (distance @ distance)
    assert np.allclose(timed.positions, start + shares[:, None] * (goal - start), atol=1e-9)
    assert (np.abs(timed.velocities) <= v * (1 + 1e-9)).all()


def test_goal_beyond_a_limit_is_rejected():
    chain = CHAINS["nut_arm"]
    with pytest.raises(KinematicsError, match=r"elbow is .* beyond the limit"):
        point_to_point(chain, [0.0] * 4, [0.0, 0.0, 2.0, 0.0])
    with pytest.raises(KinematicsError, match="start: expected 4"):
        point_to_point(chain, [0.0] * 3, [0.0] * 4)
