# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tool poses to joints: residuals, errors of unreachable targets, and the wrist's range."""

import math

import numpy as np
import pytest
from arm_common.transforms import pose, shift_z
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.motion.goal_validation import GoalPoint, TrajectoryGoal, validate_goal
from arm_kinematics.paths.cartesian_path import PathOptions
from arm_kinematics.paths.planner import plan_path
from arm_kinematics.paths.shapes import line, screw
from arm_kinematics.paths.timing import point_to_point, time_result
from arm_tasks.errors import TaskFileError
from arm_tasks.planning.screwing.wrist import Place, between, thread_turn_to_go, wrists
from arm_tasks.planning.tool_path import OutOfReach, branches, path_options, tool_path
from arm_tasks.task.steps import Tolerance

from arm_kinematics import Chain, ChainJoint

LOOSE = Tolerance(tilt=math.radians(8.0))


@pytest.mark.parametrize("orientation", ["full", "axis", "any"])
def test_reachable_poses_are_solved(chain, orientation):
    rng = np.random.default_rng(7)
    for q in rng.uniform(0.9 * chain.lower, 0.9 * chain.upper, (60, chain.n)):
        T = chain.fk(q)
        seed = np.clip(q + rng.uniform(-0.2, 0.2, chain.n), chain.lower, chain.upper)
        found = next(branches(chain, T, seed, path_options(orientation, Tolerance())))
        assert np.linalg.norm(chain.fk(found.q)[:3, 3] - T[:3, 3]) < 2e-5
        assert found.position_error < 2e-5
        if orientation == "full":
            assert found.orientation_error <= LOOSE.tilt + 1e-4


def test_ik_branches_are_sorted_by_distance_to_the_seed(chain):
    q = np.array([0.4, 0.5, -0.9, 0.3])
    solutions = branches(chain, chain.fk(q), q, path_options("any", Tolerance()))
    distances = [np.linalg.norm(s.q - q) for s in solutions]
    assert distances[0] < 1e-3 and distances == sorted(distances)


def test_arc_goes_round_through_its_middle_point(plan_of, chain):
    plan = plan_of(
        [
            "move_posture: ready",
            "move_arc: "
            "{frame: tool0, via_mm: [0, 10, -10], xyz_mm: [0, 0, -20], orientation: any}",
        ]
    )
    start = chain.fk(plan.steps[1].start)
    rows = plan.steps[1].trajectory.positions
    points = np.array([(np.linalg.inv(start) @ chain.fk(q))[:3, 3] for q in rows])
    assert np.linalg.norm(points - [0.0, 0.0, -0.01], axis=1) == pytest.approx(0.01, abs=5e-5)
    assert np.linalg.norm(points - [0.0, 0.01, -0.01], axis=1).min() < 1e-3
    assert points[-1] == pytest.approx([0.0, 0.0, -0.02], abs=2e-5)


@pytest.mark.parametrize(
    ("via", "xyz"), [("[0, 0, 0.01]", "[0, 0, 0]"), ("[0, 0, 9]", "[0, 0, 1]")]
)
def test_arc_that_does_not_exist_is_refused_with_its_line(plan_of, via, xyz):
    with pytest.raises(TaskFileError, match="step move_arc: the "):
        plan_of([f"move_arc: {{frame: tool0, via: {via}, xyz: {xyz}}}"])


def test_turn_beyond_a_limit_is_reported_with_joint_and_angle(chain):
    turn = screw(chain.fk(np.zeros(4)), 0.0, math.radians(100.0))
    with pytest.raises(OutOfReach, match=r"90 % .* wrist_roll at 100 deg \(limit 90") as miss:
        tool_path(chain, turn, np.zeros(4), path_options("full", LOOSE))
    assert miss.value.orientation_error == pytest.approx(math.radians(10.0), abs=1e-3)


def test_unreachable_line_is_reported_with_the_missing_distance(chain):
    T = chain.fk(np.zeros(4))
    with pytest.raises(OutOfReach, match=r"ends after \d.* % .* out of reach.* mm") as miss:
        tool_path(chain, line(T, T @ shift_z(0.2)), np.zeros(4), path_options("any", LOOSE))
    # The arm reaches 265 mm from the shoulder, which is 80 mm above the base.
    assert miss.value.position_error == pytest.approx(math.hypot(0.36, 0.105) - 0.265, abs=1e-4)


def test_excessive_tilt_is_reported_with_the_tolerance(chain):
    down = pose(np.diag([1.0, -1.0, -1.0]), (0.2, 0.0, 0.15))
    with pytest.raises(OutOfReach, match="where 8 deg are allowed") as miss:
        list(branches(chain, down, np.zeros(4), path_options("full", LOOSE)))
    assert miss.value.orientation_error > LOOSE.tilt


def test_wrist_range_is_found_by_trial(scene, chain):
    bolt = scene.bolt("upper_bolt")
    (found,) = wrists(chain, bolt, 0.00278, [-0.00278], np.zeros(4), LOOSE)
    assert np.degrees((found.low, found.high)) == pytest.approx((-90.0, 90.0), abs=0.02)
    turned = found.joints_at(chain, 1.0, LOOSE)
    T = np.linalg.inv(bolt.pose) @ chain.fk(turned)
    assert math.atan2(T[1, 0], T[0, 0]) == pytest.approx(1.0, abs=1e-3)
    with pytest.raises(OutOfReach):
        found.joints_at(chain, 1.7, LOOSE)


def test_wrist_range_includes_coupled_joints(scene, model):
    """A wrist whose roll is split over two joints still turns as far as both together."""
    first = Chain.from_model(model)
    S = np.column_stack([first.S, first.S[:, -1]])
    limits = [*[(name, math.pi / 2) for name in first.joint_names], ("roll_2", math.pi / 4)]
    joints = [ChainJoint(name, False, -limit, limit, 3.0, 10.0) for name, limit in limits]
    split = Chain(S, first.M, joints)
    found = next(iter(wrists(split, scene.bolt("upper_bolt"), 0.0028, [0.0], np.zeros(5), LOOSE)))
    spare = 2.0  # at each end
    assert math.degrees(found.high - found.low) == pytest.approx(270.0 - 2 * spare, abs=0.5)


def test_roll_and_depth_change_in_proportion(scene):
    bolt = scene.bolt("upper_bolt")
    path = between(Place(bolt, 0.0, 0.0), Place(bolt, 0.001, 4.0))
    for u in (0.25, 0.5, 1.0):
        assert np.allclose(path.pose(u), Place(bolt, 0.001 * u, 4.0 * u).pose)


def test_turn_to_the_start_of_the_thread(scene):
    bolt = scene.bolt("lower_bolt")
    for off, to_go in ((0.0, 0.0), (-0.5, 0.5), (0.5, 2 * math.pi - 0.5)):
        assert thread_turn_to_go(bolt, bolt.start + off) == pytest.approx(to_go)


@pytest.mark.parametrize("scaling", [1.0, 0.3])
def test_driver_accepts_a_planned_path_unchanged(model, chain, scaling):
    axes, q = axes_of(model), np.array([0.3, 0.4, 0.2, 0.1])
    poses = [chain.fk(q), chain.fk(q + 0.2), chain.fk(q - 0.3)]
    path = plan_path(chain, poses, q, PathOptions(mode="position"))
    assert path.ok, path.message
    timed = time_result(path, chain.velocity, chain.acceleration, scaling)
    back = point_to_point(chain, path.positions[-1], q, scaling)
    for times, positions, velocities in (timed, back):
        rows = zip(times, positions.tolist(), velocities.tolist(), strict=True)
        goal = TrajectoryGoal(chain.joint_names, [GoalPoint(*row) for row in rows])
        plan = validate_goal(goal, axes)
        assert np.array_equal(plan.positions, positions) and np.array_equal(plan.times, times)
