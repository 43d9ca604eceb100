# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is driven of a trajectory: on its path, never ahead of it, all joints late together."""

import itertools
import math

import numpy as np
import pytest
from arm_hardware.errors import CommandError
from arm_hardware.motion.goal_validation import ValidatedGoal
from arm_hardware.motion.limiter import AxisState, track
from arm_hardware.motion.options import DEFAULT_MOTION, MotionOptions
from arm_hardware.motion.trajectory import Trajectory, concatenate
from arm_hardware.motion.trajectory_start import plan_motion
from arm_testing.hardware.random_motions import AXES, DT, SPEED, ZERO, random_motion
from hypothesis import given, settings
from hypothesis import strategies as st

ON_PATH = 0.004  # [rad] half a count of the board


def motion_of(plan, position=ZERO, velocity=ZERO, options=DEFAULT_MOTION):
    return plan_motion(plan, AXES, position, velocity, DT, options)


def ticks(motion) -> np.ndarray:
    """Return the times of the ticks of a motion [s]."""
    return DT * np.arange(math.ceil(motion.duration / DT - 1e-9) + 1)


def planned(motion) -> np.ndarray:
    """Return the planned positions at the ticks."""
    return motion.samples(ticks(motion))


def drive(motion, position=ZERO, velocity=ZERO) -> np.ndarray:
    """Return where the axes are at each tick, the limits kept by the limiter."""
    states = [AxisState(p, v) for p, v in zip(position, velocity, strict=True)]
    rows = [[s.position for s in states]]
    for time, (now, then) in zip(ticks(motion), itertools.pairwise(planned(motion)), strict=False):
        turns = motion.next_reversals(float(time))
        for i, axis in enumerate(AXES.arm):
            track(axis, states[i], float(now[i]), float(then[i]), DT, turns[i])
        rows.append([s.position for s in states])
    return np.array(rows)


seeds = st.integers(0, 100_000)


@settings(max_examples=150)
@given(seeds, st.sampled_from(["linear", "cubic", "quintic"]))
def test_arm_starting_at_rest_stays_on_its_path(seed, kind):
    motion = random_motion(np.random.default_rng(seed), kind)
    times = motion.timing.at(ticks(motion))
    assert times[0] == 0.0 and times[-1] == motion.path.duration
    assert (np.diff(times) >= 0.0).all() and (np.diff(times) <= DT + 1e-9).all()
    np.testing.assert_allclose(drive(motion), planned(motion), atol=ON_PATH)
    np.testing.assert_allclose(motion.path.final, motion.requested.final)


@settings(max_examples=100)
@given(seeds, st.sampled_from(["linear", "cubic"]))
def test_moving_arm_joins_its_path(seed, kind):
    rng = np.random.default_rng(seed)
    velocity = rng.uniform(-1.0, 1.0, 3) * SPEED
    motion = random_motion(rng, kind, velocity)
    way = drive(motion, ZERO, velocity)
    n = len(way) // 2
    np.testing.assert_allclose(way[n:], planned(motion)[n:], atol=5 * ON_PATH)


def test_feasible_trajectory_is_not_retimed():
    plan = ValidatedGoal(np.array([2.0]), np.array([[1.0, -0.5, 0.3]]), np.zeros((1, 3)))
    motion = motion_of(plan)
    np.testing.assert_allclose(
        motion.timing.at(DT * np.arange(101)), DT * np.arange(101), atol=1e-9
    )
    assert motion.duration == pytest.approx(2.0)


def test_all_joints_are_delayed_together():
    alone = ValidatedGoal(np.array([0.5]), np.array([[0.0, 0.0, 0.6]]), np.zeros((1, 3)))
    beside = ValidatedGoal(np.array([0.5]), np.array([[0.3, -0.3, 0.6]]), np.zeros((1, 3)))
    slow, both = motion_of(alone), motion_of(beside)
    assert both.duration == pytest.approx(slow.duration) and slow.duration > 0.5 + 5 * DT
    way = drive(both)
    np.testing.assert_allclose(way[:, 0], way[:, 2] / 2.0, atol=ON_PATH)
    np.testing.assert_allclose(way[:, 1], -way[:, 2] / 2.0, atol=ON_PATH)


def test_corners_are_blended_as_tightly_as_the_accelerations_allow():
    points = np.array([[0.5, 0.0, 0.0], [0.5, 0.5, 0.0]])
    motion = motion_of(ValidatedGoal(np.array([0.5, 1.0]), points, None))
    way = motion.path.samples(np.linspace(0.0, 1.0, 2001))
    assert np.abs(way - points[0]).max(axis=1).min() <= 1.0**2 / (8 * 0.9 * 12.0) + 1e-3
    low, high = motion.path.extremes()
    assert (low >= -1e-12).all() and (high <= 0.5 + 1e-12).all()
    assert motion.duration < 1.0 + 0.3


def test_reversal_in_motion_is_blended_with_joints_in_step():
    velocity = np.array([1.0, 0.5, 0.5])
    plan = ValidatedGoal(np.array([0.6]), np.array([[-0.4, -0.2, -0.2]]), np.zeros((1, 3)))
    motion = motion_of(plan, ZERO, velocity)
    way = drive(motion, ZERO, velocity)
    np.testing.assert_allclose(way, planned(motion), atol=ON_PATH)
    np.testing.assert_allclose(way[:, 0], 2.0 * way[:, 1], atol=ON_PATH)


def moving_joints(rows: np.ndarray) -> np.ndarray:
    return (np.abs(np.diff(rows, axis=0)) > 1e-7).sum(axis=1)


@settings(max_examples=60)
@given(seeds, st.integers(1, 3), st.sampled_from([0.0, 0.1]), st.booleans())
def test_no_more_joints_move_at_once_than_the_power_budget_allows(seed, joints, stagger, moving):
    rng = np.random.default_rng(seed)
    goal = rng.uniform(-1.0, 1.0, (1, 3)) * (rng.random(3) < 0.8)
    velocity = np.array([0.5, 0.0, 0.0]) * moving
    plan = ValidatedGoal(np.array([2.0]), goal, None)
    motion = motion_of(
        plan, ZERO, velocity, MotionOptions(max_moving_joints=joints, stagger=stagger)
    )
    way = drive(motion, ZERO, velocity)
    braking = math.ceil(velocity[0] / (AXES.arm[0].acceleration * DT))  # ticks
    assert braking == 3 * moving and len(way) > braking + 1
    assert moving_joints(way)[braking:].max() <= joints
    np.testing.assert_allclose(way[-1], goal[0], atol=ON_PATH)


def test_staggered_joints_start_one_by_one_and_arrive_together():
    plan = ValidatedGoal(np.array([1.0]), np.array([[0.5, -0.5, 0.5]]), None)
    way = drive(motion_of(plan, options=MotionOptions(stagger=0.1)))
    away = np.abs(way - way[0]) > 1e-6
    starts = [int(np.argmax(column)) for column in away.T]
    assert [b - a for a, b in itertools.pairwise(starts)] == [pytest.approx(5, abs=1)] * 2
    near = np.abs(way - way[-1]) > 1e-3
    ends = [int(np.flatnonzero(column)[-1]) for column in near.T]
    assert max(ends) - min(ends) <= 3


def test_path_moving_too_many_joints_at_once_is_rejected():
    both = ValidatedGoal(np.array([1.0, 2.0]), np.array([[0.1, 0, 0], [0.2, 0.1, 0]]), None)
    with pytest.raises(CommandError, match=r"point 2 moves 2 joints.*max_moving_joints"):
        plan_motion(both, AXES, ZERO, ZERO, DT, MotionOptions(max_moving_joints=1))
    one = ValidatedGoal(np.array([1.0, 2.0]), np.array([[0.1, 0, 0], [0.1, 0.1, 0]]), None)
    assert (
        planned(plan_motion(one, AXES, ZERO, ZERO, DT, MotionOptions(max_moving_joints=1)))[-1][1]
        == 0.1
    )


def test_single_point_at_time_zero_must_be_near_the_arm():
    near = ValidatedGoal(np.array([0.0]), np.array([[0.01, 0.0, 0.0]]), None)
    motion = motion_of(near)
    assert planned(motion)[-1][0] == 0.01 and motion.duration < 10 * DT


def test_concatenation_requires_velocities():
    bare = Trajectory(np.array([0.0]), np.zeros((1, 3)))
    with pytest.raises(ValueError, match="velocities"):
        concatenate(bare, bare)
