# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.control.snapshot import DriverState
from arm_hardware.control.watchdogs import StreamWatchdog
from arm_hardware.errors import GOAL_TOLERANCE_VIOLATED, CommandError, StateError
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.goal_validation import Tolerances, ValidatedGoal
from arm_hardware.motion.gripper import pressed_width
from arm_hardware.motion.limiter import Smoother, smoothing_ticks
from arm_hardware.motion.options import MotionOptions
from hypothesis import given, settings
from hypothesis import strategies as st

DT = 0.02
AWAY = (1.2, -0.4, 0.3, 1.0)
HOME = (0.0,) * 4


@given(
    st.lists(st.floats(-12.0, 12.0), min_size=1, max_size=60),
    st.floats(0.01, 0.3),
    st.sampled_from([0.005, 0.02]),
)
def test_smoother_bounds_jerk_and_keeps_the_other_limits(pushes, jerk_time, dt):
    n = smoothing_ticks(jerk_time, dt)
    smoother, x, v, out = Smoother(n), 0.0, 0.0, [0.0] * 3
    smoother.hold([0.0])
    speeds = []
    for push in pushes + [0.0] * n:
        v = min(max(v + push * dt, -2.0), 2.0)
        x += v * dt
        speeds.append(abs(v))
        out.append(smoother.push([x])[0])
    jerk = np.abs(np.diff(out, 3)).max() / dt**3
    assert jerk <= 12.0 / jerk_time * (1 + 1e-6) + 1e-6 / dt**3 * 1e-6
    assert np.abs(np.diff(out, 2)).max() / dt**2 <= 12.0 * (1 + 1e-6) + 1e-6
    assert np.abs(np.diff(out)).max() / dt <= max(speeds) + 1e-9


def test_goals_preemptions_and_cancels_work_with_a_jerk_limit(gentle):
    goal = gentle.follow((1.5, AWAY))
    rows = [gentle.positions, *gentle.tick(30)]
    second = gentle.follow((1.5, HOME))
    grip = gentle.controller.grip(0.02)
    rows += gentle.tick(30)
    gentle.controller.cancel(second)
    rows += gentle.rest()[1:]
    last = gentle.follow((2.0, AWAY))
    rows += gentle.rest()[1:]
    assert [g.outcome for g in (goal, second, grip, last)] == [
        GoalOutcome.ABORTED,
        GoalOutcome.CANCELED,
        GoalOutcome.SUCCEEDED,
        GoalOutcome.SUCCEEDED,
    ]
    np.testing.assert_allclose(gentle.positions[:4], AWAY, atol=1e-12)
    jerk = np.abs(np.diff(rows, 3, axis=0)) / DT**3
    limit = np.array([axis.acceleration for axis in gentle.axes]) / 0.15
    assert (jerk <= limit * (1 + 1e-6)).all() and (jerk.max(axis=0) > 0.4 * limit).any()
    assert gentle.controller.command()[1] == [0.0] * 5


def stream(rig, messages: int, every: int = 5, seconds: float = 0.4) -> list:
    """Send short trajectories, each a bit farther, as a held teleoperation key does."""
    goals = []
    for k in range(messages):
        ahead = 0.02 * (k + 1) * np.array(AWAY)
        goals.append(rig.follow((seconds, ahead), streamed=True))
        rig.tick(every)
    return goals


def test_stream_that_ends_early_is_braked_within_the_limits(armed, caplog):
    """At a speed scaling its last message would take longer than command_timeout."""
    stream(armed, 4)
    armed.controller.set_speed_scaling(0.1)
    *_, last = stream(armed, 5)
    rows = armed.rest()
    assert last.outcome is GoalOutcome.ABORTED and "stream of trajectories ended" in last.message
    assert caplog.text.count("A motion ended early: The stream of trajectories ended") == 1
    armed.controller.set_speed_scaling(1.0)
    assert 0.0 < armed.positions[0] < AWAY[0] / 2
    assert len(rows) * DT < 1.0
    change = np.abs(np.diff(rows, 2, axis=0)) / DT**2
    assert (change <= np.array([axis.acceleration for axis in armed.axes]) + 1e-6).all()
    message = armed.controller.snapshot().message
    assert "ended before the arm was at rest. Holding" in message
    armed.follow((1.0, HOME))
    armed.rest()
    assert "Holding; positions" in armed.controller.snapshot().message


@pytest.mark.parametrize("number", [1, 2, 10])
def test_same_trajectory_published_again_runs_to_its_end(armed, number):
    for _ in range(number):
        armed.follow((4.0, AWAY), streamed=True)
        armed.tick(15)
    armed.rest()
    np.testing.assert_allclose(armed.positions[:4], AWAY)


def test_short_trajectory_published_twice_starts_no_stream(armed):
    armed.controller.set_speed_scaling(0.1)
    for _ in range(2):
        armed.follow((0.4, 0.1 * np.array(AWAY)), streamed=True)
        armed.tick(5)
    armed.rest()
    np.testing.assert_allclose(armed.positions[:4], 0.1 * np.array(AWAY))


def test_trajectory_longer_than_the_timeout_ends_a_stream(armed):
    stream(armed, 4)
    armed.follow((3.0, AWAY), streamed=True)
    armed.rest()
    np.testing.assert_allclose(armed.positions[:4], AWAY)


def test_stream_that_comes_to_rest_in_time_succeeds(armed):
    for k in range(1, 6):
        goal = armed.follow((0.2, (0.1 * k, 0, 0, 0)), streamed=True)
        armed.tick(5)
    armed.rest()
    assert goal.outcome is GoalOutcome.SUCCEEDED


def test_goal_ends_a_stream(armed):
    stream(armed, 3)
    goal = armed.follow((3.0, AWAY))
    armed.run(goal)
    assert goal.outcome is GoalOutcome.SUCCEEDED


def test_stream_watchdog_without_timeout_never_expires():
    watch = StreamWatchdog(0.0)
    watch.command_received(False, 0.1, False)
    watch.command_received(True, 0.1, False)
    assert not any(watch.expired(10.0) for _ in range(10))


def test_hold_brakes_and_aborts(armed):
    goal = armed.follow((2.0, AWAY))
    armed.tick(30)
    armed.controller.hold("An empty trajectory came on the topic.")
    assert goal.outcome is GoalOutcome.ABORTED and armed.controller.state is DriverState.MOVING
    armed.rest()
    assert "empty trajectory" in armed.controller.snapshot().message
    armed.follow((2.0, HOME))
    armed.tick(30)
    armed.controller.hold("Again.")
    assert armed.controller.state is DriverState.MOVING
    armed.follow((2.0, HOME))
    armed.rest()
    assert "Holding; positions" in armed.controller.snapshot().message
    armed.controller.stop()
    with pytest.raises(StateError, match="STOPPED"):
        armed.controller.hold("Once more.")


def test_give_up_aborts_only_the_given_goal(armed):
    goal, grip = armed.follow((2.0, AWAY)), armed.controller.grip(0.03)
    armed.tick()
    armed.controller.give_up(goal, "The client has gone.")
    assert goal.outcome is GoalOutcome.ABORTED and grip.outcome is None
    armed.controller.give_up(grip, "The client has gone.")
    armed.rest()
    assert grip.outcome is GoalOutcome.ABORTED and armed.positions[4] < 0.03


def paused(armed, factor=0.5):
    """Return goals of arm and gripper that are paused in motion."""
    armed.controller.set_speed_scaling(factor)
    goal, grip = armed.follow((2.0, AWAY)), armed.controller.grip(0.03)
    armed.tick(30)
    armed.controller.set_speed_scaling(0.0)
    armed.tick(60)
    return goal, grip


def test_pause_ends_once_the_last_motion_of_lost_clients_has_ended(armed):
    goal, grip = paused(armed)
    armed.controller.give_up(goal, "The client has gone.")
    armed.tick(60)
    assert armed.controller.speed_scaling == 0.0 and grip.outcome is None  # someone else's
    before = armed.positions
    armed.controller.give_up(grip, "The client has gone.")
    armed.rest()
    assert armed.controller.speed_scaling == 0.5
    assert "the speed scaling is 0.5 again" in armed.controller.snapshot().message
    np.testing.assert_allclose(armed.positions, before, atol=2e-3)


def test_pause_outlasts_a_motion_that_its_client_or_a_stop_ends(armed):
    goal, grip = paused(armed)
    armed.controller.cancel(goal)
    armed.controller.cancel(grip)
    armed.rest()
    assert armed.controller.speed_scaling == 0.0
    armed.controller.set_speed_scaling(1.0)
    goal, _ = paused(armed)
    armed.controller.stop()
    armed.tick(10)
    assert goal.done and armed.controller.speed_scaling == 0.0


def test_final_velocity_is_reached_and_braked_after_the_end(armed):
    goal = armed.follow((1.0, (0.5, 0, 0, 0)), velocities=[(1.0, 0, 0, 0)], end=True)
    armed.run(goal)
    assert goal.outcome is GoalOutcome.SUCCEEDED and "Passed" in goal.message
    armed.rest()
    axis = armed.axes.arm[0]
    assert 0.5 < armed.positions[0] <= 0.5 + 1.0 / (2 * axis.acceleration) + DT


def test_segments_with_end_velocities_join_without_a_halt(armed):
    rates = []
    for k in (1, 2, 3):
        goal = armed.follow((0.4, (0.4 * k, 0, 0, 0)), velocities=[(1.0, 0, 0, 0)], end=True)
        while not goal.done:
            armed.tick()
            rates.append(armed.controller.command()[1][0])
    assert min(rates[25:]) > 0.9


@pytest.mark.parametrize(
    ("goal", "outcome"),
    [({}, GoalOutcome.ABORTED), ({"waist": 0.001}, GoalOutcome.ABORTED), ({"waist": 3.0}, None)],
)
def test_goal_tolerances_apply_when_the_goal_time_is_over(armed, goal, outcome):
    bounds = Tolerances(goal=goal, goal_time=0.02)
    ended = armed.follow((0.5, (1.5, 0, 0, 0)), tolerances=bounds)
    armed.tick(int(0.55 / DT))
    assert ended.outcome is outcome
    if outcome is GoalOutcome.ABORTED:
        assert ended.code == GOAL_TOLERANCE_VIOLATED and ended.message.startswith("waist")
    else:
        armed.run(ended)
        assert ended.outcome is GoalOutcome.SUCCEEDED


def test_trajectory_at_full_speed_is_delayed_but_stays_on_its_path(armed):
    plan = ValidatedGoal(np.array([0.6]), np.array([[1.5, -0.75, 0.75, 0.3]]), None)
    goal = armed.controller.follow(plan)
    rows = np.array(armed.rest())
    assert goal.outcome is GoalOutcome.SUCCEEDED and len(rows) * DT > 0.7
    for column, share in ((1, -0.5), (2, 0.5), (3, 0.2)):
        np.testing.assert_allclose(rows[:, column], share * rows[:, 0], atol=1e-9)


def count_of(rig) -> int:
    return rig.bus.counts[rig.maps[-1].channel]


def test_gripper_presses_past_the_contact_and_backs_off_in_time(armed):
    armed.run(armed.controller.grip(0.02))
    servo = armed.maps[-1]
    goal = armed.controller.grip(0.011, 5)
    armed.run(goal)
    contact = servo.count_of(0.011)
    assert count_of(armed) == contact - 5
    assert goal.message == (
        "Commanded closed to 11.0 mm and 5 counts past it; grasp not measured."
    )
    assert goal.message in armed.controller.snapshot().message
    armed.tick(int(MotionOptions().gripper_hold_time / DT) - 5)
    assert count_of(armed) == contact - 5
    armed.tick(100)
    assert count_of(armed) == contact - MotionOptions().gripper_hold_squeeze
    assert armed.controller.state is DriverState.ARMED
    assert "reduced to 2 counts" in armed.controller.snapshot().message
    armed.run(armed.controller.grip(0.02))
    armed.tick(int(MotionOptions().gripper_hold_time / DT) + 100)
    assert count_of(armed) == servo.count_of(0.02)


def test_stop_ends_the_grip_timer(armed):
    armed.run(armed.controller.grip(0.011, 5))
    held = count_of(armed)
    armed.controller.stop()
    armed.controller.reset()
    armed.tick(int(MotionOptions().gripper_hold_time / DT) + 100)
    assert count_of(armed) == held


@pytest.mark.parametrize(
    ("width", "counts", "says"),
    [
        (0.011, 9, "max_effort 9 is not a whole number of counts from 0 to 8"),
        (0.011, 0.5, "max_effort 0.5"),
        (0.011, -1, "max_effort -1"),
        (0.011, math.nan, "max_effort nan"),
        (0.011, math.inf, "max_effort inf"),
        (0.0, 3, "beyond its closed end"),
        *((width, 0, "gripper") for width in (math.nan, math.inf, -0.001, 0.031)),
    ],
)
def test_invalid_widths_and_forces_are_rejected(armed, width, counts, says):
    before = armed.controller.snapshot()
    with pytest.raises(CommandError, match=says):
        armed.controller.grip(width, counts)
    assert armed.controller.snapshot() == before


@settings(max_examples=30)
@given(st.floats(0.002, 0.028), st.integers(0, 8))
def test_pressed_width_is_exact_in_counts(calibration, model, width, counts):
    servo = calibration.maps(axes_of(model))[-1]
    at = servo.count_of(pressed_width(servo, width, counts))
    assert at == servo.count_of(width) - counts


def test_reported_velocities_match_the_sent_positions(armed):
    armed.follow((1.0, AWAY))
    rows, rates = [armed.positions], []
    for _ in range(40):
        rows += armed.tick()
        rates.append(armed.controller.snapshot().velocities)
    np.testing.assert_allclose(np.diff(rows, axis=0) / DT, rates, atol=1e-9)


@settings(max_examples=8)
@given(st.integers(0, 10_000))
def test_scaling_goals_cancels_and_grips_at_random_break_no_limit(make_rig, seed):
    rng = np.random.default_rng(seed)
    rig = make_rig()
    rows = [rig.positions, rig.positions]
    goals = []
    for _ in range(40):
        choice = rng.integers(6)
        if choice < 3:
            factor = rng.choice([0.0, 1.0, rng.uniform()])
            rig.controller.set_speed_scaling(float(factor))
        elif choice == 3:
            goals.append(rig.follow((2.0, rng.uniform(-0.6, 0.6, 4))))
        elif choice == 4:
            rig.controller.grip(float(rng.uniform(0.0, 0.03)))
        elif goals:
            rig.controller.cancel(goals[-1])
        rows += rig.tick(int(rng.integers(1, 30)))
    rig.controller.set_speed_scaling(1.0)
    rows += rig.rest()[1:]
    assert rig.controller.state is DriverState.ARMED
    assert all(goal.done for goal in goals)
    speed, acceleration = (
        np.array([getattr(axis, what) for axis in rig.axes])
        for what in ("velocity", "acceleration")
    )
    assert (np.abs(np.diff(rows, axis=0)) / DT <= speed * (1 + 1e-9)).all()
    changes = np.abs(np.diff(rows, 2, axis=0)) / DT**2
    assert (changes <= acceleration * (1 + 1e-6) + 1e-6).all()


def test_scaling_of_0_pauses_arm_and_jaws_with_their_goals_active(armed):
    goal, grip = armed.follow((1.0, AWAY)), armed.controller.grip(0.005)
    armed.tick(5)
    armed.controller.set_speed_scaling(0.0)
    assert "Paused" in armed.controller.snapshot().message
    armed.tick(40)
    held = armed.positions
    armed.tick(200)
    np.testing.assert_array_equal(armed.positions, held)
    assert not goal.done and not grip.done
    assert armed.controller.state is DriverState.MOVING
    armed.controller.set_speed_scaling(1.0)
    armed.run(goal)
    armed.run(grip)
    assert {goal.outcome, grip.outcome} == {GoalOutcome.SUCCEEDED}
    np.testing.assert_allclose(armed.positions[:4], AWAY)


def test_goal_at_scaling_0_waits_for_the_scaling(armed):
    armed.controller.set_speed_scaling(0.0)
    before, goal = armed.positions, armed.follow((1.0, AWAY))
    armed.tick(100)
    np.testing.assert_array_equal(armed.positions, before)
    armed.controller.set_speed_scaling(0.5)
    assert armed.run(goal) * DT > 1.9
    assert goal.outcome is GoalOutcome.SUCCEEDED


def test_stop_is_at_once_whatever_the_scaling(armed):
    goal = armed.follow((2.0, AWAY))
    armed.tick(30)
    armed.controller.set_speed_scaling(0.4)
    armed.tick(1)
    before = armed.positions
    armed.controller.stop()
    armed.tick(2)
    np.testing.assert_array_equal(armed.positions, before)
    assert goal.outcome is GoalOutcome.ABORTED


def test_cancel_of_a_paused_goal_ends_it(armed):
    goal = armed.follow((1.0, AWAY))
    armed.tick(10)
    armed.controller.set_speed_scaling(0.0)
    armed.tick(100)
    armed.controller.cancel(goal)
    armed.tick(2)
    assert goal.outcome is GoalOutcome.CANCELED
    assert armed.controller.state is DriverState.ARMED


@pytest.mark.parametrize("factor", [-0.1, 1.5, math.nan, math.inf])
def test_scaling_outside_0_to_1_is_rejected(armed, factor):
    with pytest.raises(CommandError, match="not within 0 to 1"):
        armed.controller.set_speed_scaling(factor)
    assert armed.controller.speed_scaling == 1.0


def test_grip_force_is_reduced_at_scaling_0(make_rig):
    rig = make_rig(gripper_hold_time=1.0)
    rig.run(rig.controller.grip(0.02, 6))
    rig.controller.set_speed_scaling(0.0)
    pressed = rig.positions[4]
    rig.tick(100)
    assert rig.positions[4] > pressed


@pytest.mark.parametrize("factor", [1.0, 0.3])
def test_state_at_a_later_time_is_what_is_executed_then(armed, factor):
    """Also in the past, at whatever scaling it was executed; positions, speeds, accelerations."""
    controller = armed.controller
    goal = armed.follow((0.6, AWAY), (1.2, HOME))
    rows, moment = {}, 0.0

    def tick():
        nonlocal moment
        moment += DT
        controller.tick(moment)
        rows[round(moment, 6)] = armed.positions[:4]

    for k in range(20):
        controller.set_speed_scaling((0.7, 1.0, 0.2)[k // 5 % 3])
        tick()
    controller.set_speed_scaling(factor)
    for _ in range(10):
        tick()
    assert not goal.done
    times = [DT * k for k in range(2, 45)]
    states = [controller.state_at(time) for time in times]
    while len(rows) < 45:
        tick()
    for time, state in zip(times, states, strict=True):
        np.testing.assert_allclose(state.positions, rows[round(time, 6)], atol=1e-4)
    ahead = slice(30, None)
    between = np.diff([state.positions for state in states[ahead]], axis=0) / DT
    speeds = np.array([state.velocities for state in states[ahead]])
    np.testing.assert_allclose((speeds[1:] + speeds[:-1]) / 2, between, atol=0.02)
    changes = np.array([state.accelerations for state in states[ahead]])
    np.testing.assert_allclose(
        np.cumsum((changes[1:] + changes[:-1]) / 2 * DT, axis=0), speeds[1:] - speeds[0], atol=0.1
    )


def test_state_outside_of_the_trajectory_is_rejected(armed):
    with pytest.raises(StateError, match="No trajectory is running"):
        armed.controller.state_at(0.0)
    goal = armed.follow((1.0, AWAY))
    armed.controller.tick(5.0)
    for moment, says in ((4.9, "before the start"), (7.0, "after the end")):
        with pytest.raises(CommandError, match=says):
            armed.controller.state_at(moment)
    armed.controller.cancel(goal)
    armed.controller.tick(5.02)
    with pytest.raises(StateError, match="No trajectory is running"):
        armed.controller.state_at(5.02)


def test_joint_still_moving_after_goal_time_aborts(armed):
    """Within its goal tolerance, but faster than stopped_velocity_tolerance."""
    bounds = {name: 10.0 for name in armed.axes.names}
    stopped = dict.fromkeys(armed.axes.names, 0.01)
    for limits, outcome in (({}, GoalOutcome.SUCCEEDED), (stopped, GoalOutcome.ABORTED)):
        goal = armed.follow((0.65, AWAY), tolerances=Tolerances({}, bounds, limits, 0.02))
        armed.run(goal)
        assert goal.outcome is outcome
        armed.rest()
        armed.run(armed.follow((2.0, HOME)))
    assert goal.code == GOAL_TOLERANCE_VIOLATED and "moving at" in goal.message


def test_violated_tolerance_of_a_trajectory_on_the_topic_is_in_the_status(armed):
    armed.follow((0.65, AWAY), tolerances=Tolerances({"waist": 0.001}), streamed=True)
    armed.rest()
    assert "more than the tolerance 0.001. Holding" in armed.controller.snapshot().message
    assert armed.positions[0] < AWAY[0]
