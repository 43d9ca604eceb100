# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""However the speed scaling changes: limits hold, the arm stays on its path, time stretches."""

import math

import numpy as np
import pytest
from arm_hardware.motion.execution import GoalOutcome, TrajectoryExecution
from arm_hardware.motion.goal_validation import Tolerances, ValidatedGoal
from arm_hardware.motion.limiter import AxisState
from arm_hardware.motion.trajectory_start import plan_motion
from arm_testing.hardware.random_motions import ACCELERATION, AXES, DT, SPEED, ZERO, random_motion
from hypothesis import given, settings
from hypothesis import strategies as st

COUNT = 0.0077  # [rad] one count of the board
seeds = st.integers(0, 100_000)
kinds = st.sampled_from(["linear", "cubic", "quintic"])


def execute(motion, factor_at, tolerances=None):
    """Execute a motion from rest with a factor for each tick; return run, rows and scalings."""
    run = TrajectoryExecution(AXES, motion, tolerances or Tolerances())
    states = [AxisState(0.0) for _ in AXES.arm]
    rows, scalings, over = [ZERO, ZERO], [], False
    while not over and len(rows) < 20_000:
        over = run.advance(states, DT, factor_at(len(scalings)))
        rows.append(np.array([state.position for state in states]))
        scalings.append(run.scaling)
    assert over
    return run, np.array(rows), scalings


def random_factors(rng):
    """Return a function of the tick: factors that change at random, often to 0 and 1."""
    factors = [1.0]

    def factor_at(tick):
        while len(factors) <= tick:
            level = float(rng.choice([0.0, 1.0, rng.uniform(), rng.uniform(0.01, 0.1)]))
            factors.extend([level] * int(rng.integers(1, 40)))
        return factors[tick] if tick < 2000 else 1.0

    return factor_at


def distance_from_path(motion, rows):
    """Return how far positions (k, n) are from the path of a motion [rad], largest joint."""
    path = motion.samples(np.arange(0.0, motion.duration + 1e-3, 1e-3))
    distinct = np.unique(rows, axis=0)
    return max(np.abs(path - row).max(axis=1).min() for row in distinct)


def check_random_scaling(seed, kind):
    rng = np.random.default_rng(seed)
    motion = random_motion(rng, kind)
    _, rows, _ = execute(motion, random_factors(rng))
    speeds = np.abs(np.diff(rows, axis=0)) / DT
    changes = np.abs(np.diff(rows, 2, axis=0)) / DT**2
    assert (speeds <= SPEED * (1 + 1e-9)).all()
    assert (changes <= ACCELERATION * (1 + 1e-6) + 1e-6).all()
    assert distance_from_path(motion, rows) <= COUNT
    np.testing.assert_allclose(rows[-1], motion.path.final, atol=1e-9)


@settings(max_examples=10)
@given(seeds, kinds)
def test_random_scaling_breaks_no_limit_and_keeps_the_path(seed, kind):
    check_random_scaling(seed, kind)


@pytest.mark.thorough
@settings(max_examples=500)
@given(seeds, kinds)
def test_scaling_breaks_no_limit_of_many_trajectories(seed, kind):
    check_random_scaling(seed, kind)


@settings(max_examples=10)
@given(seeds, kinds)
def test_time_stretches_by_the_integral_of_the_scaling(seed, kind):
    rng = np.random.default_rng(seed)
    motion = random_motion(rng, kind)
    _, rows, scalings = execute(motion, random_factors(rng))
    times = DT * np.concatenate([[0.0], np.cumsum(scalings)])
    np.testing.assert_allclose(rows[1:], motion.samples(times), atol=COUNT)
    spent = DT * sum(scalings)
    assert motion.duration - 1e-6 <= spent <= motion.duration + 10 * DT


@settings(max_examples=8)
@given(seeds, kinds, st.floats(0.05, 1.0))
def test_constant_scaling_takes_that_much_longer(seed, kind, factor):
    motion = random_motion(np.random.default_rng(seed), kind)
    _, rows, _ = execute(motion, lambda _: factor)
    ticks = len(rows) - 2
    assert abs(ticks * DT - motion.duration / factor) <= 0.05 * motion.duration / factor + 10 * DT


def straight_motion(seconds: float = 2.0):
    goal = ValidatedGoal(np.array([seconds]), np.array([[2.0, -1.0, 0.5]]), np.zeros((1, 3)))
    return plan_motion(goal, AXES, ZERO, ZERO, DT)


def test_scaling_of_0_brakes_on_the_path_at_once_and_1_continues():
    motion = straight_motion()
    run, rows, scalings = execute(motion, lambda tick: 0.0 if 40 <= tick < 200 else 1.0)
    rest = scalings.index(0.0)
    assert 40 < rest < 40 + math.ceil(SPEED[0] / ACCELERATION[0] / DT) + 2
    held = rows[rest + 2 : 202]
    np.testing.assert_array_equal(held, np.broadcast_to(held[0], held.shape))
    assert scalings[240] == 1.0
    run.finish()
    assert run.goal.outcome is GoalOutcome.SUCCEEDED


def test_motion_that_accelerates_at_its_limits_brakes_at_once():
    """By rounding, a path may exceed the limits by less than anyone checks."""
    rate = ACCELERATION * 0.12 * (1.0 + 1e-7)
    points, rates = np.array([0.06 * rate, 0.12 * rate]), np.array([rate, ZERO])
    goal = ValidatedGoal(np.array([0.12, 0.24]), points, rates)
    motion = plan_motion(goal, AXES, ZERO, ZERO, DT)
    _, _, scalings = execute(motion, lambda tick: 0.0 if 2 <= tick < 100 else 1.0)
    assert 2 < scalings.index(0.0) <= 2 + 2 + 1


def test_slow_or_paused_motion_violates_no_tolerance():
    bounds = Tolerances({"a": 0.02, "b": 0.02, "c": 0.02}, {"a": 0.01}, goal_time=0.1)
    run, _, _ = execute(straight_motion(), lambda tick: 0.0 if tick < 300 else 0.1, bounds)
    run.finish()
    assert run.goal.outcome is GoalOutcome.SUCCEEDED


def test_cancel_brakes_whatever_the_scaling():
    run = TrajectoryExecution(AXES, straight_motion(), Tolerances())
    states = [AxisState(0.0) for _ in AXES.arm]
    for _ in range(50):
        run.advance(states, DT, 0.5)
    run.cancel()
    ticks = 0
    while not run.advance(states, DT, 0.0):
        ticks += 1
    assert 1 <= ticks <= SPEED[0] / ACCELERATION[0] / DT + 1


@pytest.mark.parametrize("factor", [0.5, 0.2])
def test_goal_that_continues_a_slowed_motion_keeps_its_pace(factor):
    """A stream at a scaling settles at that share of its speed, not below."""
    velocity, position, speed = ZERO, ZERO, []
    scaling = factor
    for _ in range(20):
        ahead = position + np.array([0.1, 0.0, 0.0])
        goal = ValidatedGoal(
            np.array([0.1, 0.6]),
            np.array([ahead, ahead + np.array([0.15, 0.0, 0.0])]),
            np.array([[1.0, 0.0, 0.0], ZERO]),
        )
        motion = plan_motion(goal, AXES, position, velocity / scaling, DT, scaling=scaling)
        run = TrajectoryExecution(AXES, motion, Tolerances())
        states = [AxisState(p, v) for p, v in zip(position, velocity, strict=True)]
        for _ in range(4):
            run.advance(states, DT, factor)
        position, velocity = (
            np.array([getattr(state, what) for state in states])
            for what in ("position", "velocity")
        )
        scaling = run.scaling
        speed.append(velocity[0])
    assert speed[-1] == pytest.approx(factor, rel=0.1)
