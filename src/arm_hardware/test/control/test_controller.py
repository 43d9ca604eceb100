# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math
import re
import threading
import weakref

import numpy as np
import pytest
from arm_hardware.bus.fake import FakeBus
from arm_hardware.calibration.axes import rest_positions
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.file import load_calibration
from arm_hardware.calibration.selection import config_folder
from arm_hardware.control import controller
from arm_hardware.control.controller import TrajectoryController
from arm_hardware.control.servo_output import ServoOutput
from arm_hardware.control.snapshot import DriverState
from arm_hardware.errors import (
    ARM,
    HARDWARE_FAILED,
    PATH_TOLERANCE_VIOLATED,
    HardwareError,
    StateError,
)
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.goal_validation import Tolerances, validate_goal
from arm_hardware.motion.trajectory_start import plan_motion

from arm_description import load_robot

THERE = (0.5, -0.4, 0.3, 1.0)
BOUND = 30.0  # [s]


def test_arming_starts_one_servo_after_another(rig):
    rig.controller.read()
    assert rig.controller.state is DriverState.UNKNOWN
    assert rig.controller.snapshot().positions == (None,) * 5
    rig.controller.arm()
    woken = []
    while rig.controller.arming:
        before = len(rig.bus.counts)
        rig.tick()
        woken.append(len(rig.bus.counts) - before)
    assert max(woken) == 1 and sum(woken) == 5 and len(woken) == 4 * 5 + 1
    assert rig.controller.state is DriverState.ARMED
    assert "assumed" in rig.controller.snapshot().message


def test_arming_takes_over_the_counts_on_the_board(armed, rig):
    rig.run(rig.follow((1.0, THERE)))
    counts = dict(rig.bus.counts)
    again = ServoOutput(rig.bus, rig.axes, rig.maps, 0.02)
    motion = TrajectoryController(rig.axes, again, 0.02, (0.0,) * 5)
    motion.read()
    assert motion.state is DriverState.DISARMED
    motion.arm()
    motion.tick()
    assert motion.state is DriverState.ARMED and rig.bus.counts == counts and again.writes == 0
    np.testing.assert_allclose(motion.command()[0][:4], THERE, atol=0.008)


def test_arming_rejects_counts_outside_the_calibration(rig):
    rig.bus.counts = {m.channel: 300 for m in rig.maps} | {1: 700}
    rig.controller.read()
    with pytest.raises(StateError, match=r"shoulder.*channel 1 is at count 700"):
        rig.controller.arm()
    assert rig.controller.state is DriverState.DISARMED


def test_trajectory_is_followed_to_its_end(armed):
    goal = armed.follow((1.0, THERE))
    assert armed.controller.state is DriverState.MOVING
    ticks = armed.run(goal)
    assert goal.outcome is GoalOutcome.SUCCEEDED and goal.code == 0
    assert 50 <= ticks <= 60  # one second, and the corners of a linear profile
    np.testing.assert_array_equal(armed.positions[:4], THERE)
    assert armed.controller.state is DriverState.ARMED
    shown = armed.controller.snapshot().positions
    assert all(abs(a - b) <= 0.0039 for a, b in zip(shown, THERE, strict=False))


def test_linear_corners_do_not_overshoot(armed):
    goal = armed.follow((0.4, (0.9, 0, 0, 0)), (0.8, (0, 0, 0, 0)), (1.6, (0, 0, 0, 0)))
    while not goal.done:
        armed.tick()
        assert -1e-9 <= armed.positions[0] <= 0.9 + 1e-9
    assert goal.outcome is GoalOutcome.SUCCEEDED


def test_newer_goal_preempts_the_older_and_blends(armed):
    first = armed.follow((1.0, THERE))
    armed.tick(25)
    before, rates = armed.controller.command()
    assert max(map(abs, rates)) > 0.5
    second = armed.follow((2.0, (0, 0, 0, 0)))
    assert first.outcome is GoalOutcome.ABORTED and "Preempted" in first.message
    armed.tick()
    after, new_rates = armed.controller.command()
    for axis, v, w in zip(armed.axes, rates, new_rates, strict=True):
        assert abs(w - v) <= axis.acceleration * 0.02 + 1e-9
    assert before != after
    armed.run(second)
    assert second.outcome is GoalOutcome.SUCCEEDED


def test_cancel_brakes_and_holds(armed):
    goal = armed.follow((1.0, THERE))
    armed.tick(25)
    position, rates = (np.array(values)[:4] for values in armed.controller.command())
    armed.controller.cancel(goal)
    armed.run(goal)
    assert goal.outcome is GoalOutcome.CANCELED and armed.controller.state is DriverState.ARMED
    way = armed.positions[:4] - position
    slowest = max(abs(v) / a.acceleration for a, v in zip(armed.axes, rates, strict=False))
    assert (np.abs(way) <= 0.5 * slowest * np.abs(rates) + 1e-9).all()
    held = armed.positions
    armed.tick()
    np.testing.assert_array_equal(armed.positions, held)


@pytest.mark.parametrize("how", ["cancel", "hold", "give_up"])
@pytest.mark.parametrize("ticks", [5, 20, 35, 52, 66])
def test_arm_brakes_on_its_path(armed, how, ticks):
    points = [(0.4, (0.3, 0.0, 0.1, 0.5)), (0.9, (0.3, -0.5, -0.2, 0.4)), (1.4, (-0.1, 0, 0, 0))]
    goal = armed.follow(*points)
    motion = armed.controller._arm._motion
    armed.tick(ticks)
    speed = np.abs(armed.controller.command()[1][:4]).max()
    {
        "cancel": lambda: armed.controller.cancel(goal),
        "hold": lambda: armed.controller.hold("why"),
        "give_up": lambda: armed.controller.give_up(goal, "why"),
    }[how]()
    while armed.controller.state is DriverState.MOVING:
        armed.tick()
    path = motion.samples(np.linspace(0.0, motion.duration, 20_000))
    assert speed > 0.1 and np.abs(path - armed.positions[:4]).max(axis=1).min() < 1e-3


@pytest.mark.parametrize("rig_name", ["armed", "gentle"])
def test_stop_freezes_and_latches_and_reset_does_not_move(request, rig_name):
    armed = request.getfixturevalue(rig_name)
    goal = armed.follow((1.0, THERE))
    grip = armed.controller.grip(0.02)
    armed.tick(20)
    armed.controller.stop()
    counts = dict(armed.bus.counts)
    assert goal.outcome is grip.outcome is GoalOutcome.ABORTED and "Stopped" in goal.message
    assert armed.controller.state is DriverState.STOPPED
    armed.tick(50)
    with pytest.raises(StateError, match=r"STOPPED.*reset"):
        armed.follow((1.0, THERE))
    with pytest.raises(StateError, match="reset"):
        armed.controller.grip(0.01)
    armed.controller.reset()
    armed.tick(50)
    assert armed.bus.counts == counts and armed.controller.state is DriverState.ARMED
    assert armed.controller.reset() == "Nothing to reset."
    armed.run(armed.follow((2.0, THERE)))


def test_gripper_moves_during_a_trajectory(armed):
    arm, grip = armed.follow((1.0, THERE)), armed.controller.grip(0.02)
    armed.run(grip)
    assert not arm.done and grip.message == "Commanded open to 20.0 mm; not measured."
    assert armed.positions[4] == 0.02
    armed.run(arm)
    older = armed.controller.grip(0.0)
    newer = armed.controller.grip(0.03)
    assert older.outcome is GoalOutcome.ABORTED
    armed.tick()
    armed.controller.cancel(newer)
    armed.run(newer)
    assert newer.outcome is GoalOutcome.CANCELED


def test_path_tolerance_violation_aborts_and_brakes(armed):
    late = Tolerances(path={"waist": 0.01})
    goal = armed.follow((0.5, (1.2, 0, 0, 0)), tolerances=late)
    armed.run(goal)
    assert (goal.outcome, goal.code) == (GoalOutcome.ABORTED, PATH_TOLERANCE_VIOLATED)
    assert goal.message.startswith("waist:")
    armed.rest()
    assert max(map(abs, armed.controller.command()[1])) == 0.0


def test_future_start_delays_the_first_point(armed):
    goal = armed.follow((0, (0, 0, 0, 0)), (0.5, (0.2, 0, 0, 0)), start=1.0)
    armed.tick(45)
    assert armed.positions[0] == 0.0 and not goal.done
    assert 75 <= 45 + armed.run(goal) <= 80
    assert armed.positions[0] == 0.2


def test_disarm_aborts_and_holds(armed):
    goal = armed.follow((1.0, THERE))
    armed.tick()
    armed.controller.disarm("the test says so.")
    counts = dict(armed.bus.counts)
    armed.tick()
    assert goal.outcome is GoalOutcome.ABORTED and armed.bus.counts == counts
    assert armed.controller.state is DriverState.DISARMED
    with pytest.raises(StateError, match=f"not armed; run {re.escape(ARM)}"):
        armed.follow((1.0, THERE))
    armed.controller.release("the test says so.")
    assert armed.bus.counts == {} and armed.controller.state is DriverState.UNKNOWN


@pytest.mark.parametrize(
    ("position", "says"),
    [
        (math.nan, "held back"),
        (math.inf, "held back"),
        (2.0, "limits"),
        (0.5, "speed limit"),
        (0.02, "acceleration limit"),
    ],
)
def test_output_blocks_positions_that_break_a_bound(armed, position, says):
    counts = dict(armed.bus.counts)
    with pytest.raises(HardwareError, match=says):
        armed.output.write([0.0, position, 0.0, 0.0, 0.0])
    assert armed.bus.counts == counts


def test_output_also_bounds_steps_in_counts(armed):
    armed.output.counts[1] += 30  # as if the board stood elsewhere than was sent
    with pytest.raises(HardwareError, match=r"shoulder: a step of 0\.23 rad, faster than"):
        armed.output.write([0.0] * 5)


@pytest.mark.parametrize("robot", ["braccio", "learm", "mearm", "nut_arm", "so101"])
@pytest.mark.parametrize("dt", [0.02, 0.025, 0.05])
def test_no_step_within_the_limits_is_held_back_by_rounding(robot, dt):
    """Counts differ in size at calibrated points and along a claw."""
    model = load_robot(robot)
    axes = axes_of(model)
    calibration = load_calibration(config_folder() / f"{robot}_servos.yaml")
    maps, axes = calibration.maps(axes), calibration.narrowed(axes)
    jaws, rest = axes.gripper, rest_positions(model, axes)[: len(axes.arm)]
    output = ServoOutput(FakeBus(), axes, maps, dt)
    for start in np.linspace(jaws.lower, jaws.upper, 60):
        for sign in (-1.0, 1.0):
            width, step = start, 0.0
            output.write([*rest, width], first=True)
            while jaws.lower <= (width := width + sign * step) <= jaws.upper:
                output.write([*rest, width])
                step = min(step + jaws.acceleration * dt**2, jaws.velocity * dt)


def test_unchanged_counts_are_not_rewritten(armed):
    writes = armed.output.writes
    armed.run(armed.follow((1.0, (0.0005, 0.0, 0.0, 0.0))))
    assert armed.output.writes == writes
    armed.run(armed.follow((2.0, (0.1, 0.0, 0.0, 0.0))))
    assert armed.output.writes - writes == 13  # 0.1 rad are 13 counts


def test_failure_aborts_with_the_actions_result_code(armed):
    goal = armed.follow((1.0, THERE))
    armed.controller.fail("broken on purpose.")
    assert (goal.code, goal.message) == (HARDWARE_FAILED, "broken on purpose.")
    assert HARDWARE_FAILED < -99  # no code of a controller


def test_planned_goal_is_replanned_only_if_the_arm_has_moved(armed, monkeypatch):
    planned = []

    def counted(*arguments):
        planned.append(arguments)
        return plan_motion(*arguments)

    monkeypatch.setattr(controller, "plan_motion", counted)
    motion = armed.controller.plan(validate_goal(armed.request((1.0, THERE)), armed.axes))
    armed.tick()
    goal = armed.controller.follow(motion)
    assert len(planned) == 1
    armed.tick(2)
    armed.run(armed.controller.follow(motion))
    assert len(planned) == 2 and goal.outcome is GoalOutcome.ABORTED
    np.testing.assert_array_equal(armed.positions[:4], THERE)


@pytest.fixture
def slow_planning(armed, monkeypatch):
    """Return a function that lets so many ticks pass during each planning."""

    def slow(ticks, then=lambda: None):
        def plan(*arguments):
            thread = threading.Thread(target=lambda: (armed.tick(ticks), then()), daemon=True)
            thread.start()
            thread.join(BOUND)
            assert not thread.is_alive(), "planning holds the lock of the ticks"
            return plan_motion(*arguments)

        monkeypatch.setattr(controller, "plan_motion", plan)

    return slow


@pytest.mark.parametrize("ticks", [0, 1, 3, 20])
@pytest.mark.parametrize("points", [1, 200])
def test_ticks_continue_while_a_trajectory_is_planned(armed, slow_planning, ticks, points):
    first = armed.follow((3.0, THERE))
    armed.tick(20)
    slow_planning(ticks)
    way = [
        ((k + 1) * 2.0 / points, [q * (1 - (k + 1) / points) for q in THERE])
        for k in range(points)
    ]
    before = armed.positions
    goal = armed.follow(*((2.0 + t, q) for t, q in way))
    assert first.outcome is GoalOutcome.ABORTED and goal.outcome is None
    assert ticks == 0 or np.abs(armed.positions - before).max() > 0.0
    armed.run(goal)  # the output raises for a step beyond the limits
    assert goal.outcome is GoalOutcome.SUCCEEDED
    np.testing.assert_allclose(armed.positions[:4], 0.0, atol=1e-9)


def test_arm_at_rest_is_planned_once_however_long_it_takes(armed, slow_planning):
    slow_planning(100)
    armed.run(armed.follow((1.0, THERE)))
    np.testing.assert_array_equal(armed.positions[:4], THERE)


def test_stop_during_planning_refuses_the_trajectory(armed, slow_planning):
    first = armed.follow((3.0, THERE))
    armed.tick(20)
    slow_planning(2, armed.controller.stop)
    with pytest.raises(StateError, match="STOPPED"):
        armed.follow((2.0, (0.0,) * 4))
    assert first.outcome is GoalOutcome.ABORTED
    held = armed.positions
    np.testing.assert_array_equal(armed.tick(5)[-1], held)


def test_cancel_during_planning_brakes_before_the_new_trajectory(armed, slow_planning):
    first = armed.follow((3.0, THERE))
    armed.tick(20)
    slow_planning(2, lambda: armed.controller.cancel(first))
    goal = armed.follow((2.0, (0.0,) * 4))
    assert first.outcome is GoalOutcome.CANCELED
    armed.run(goal)
    np.testing.assert_array_equal(armed.positions[:4], 0.0)


def test_planning_that_never_catches_up_is_refused_and_the_motion_continues(armed, slow_planning):
    first = armed.follow((60.0, THERE))
    armed.tick(20)
    slow_planning(300)
    with pytest.raises(StateError, match="too slow"):
        armed.follow((2.0, (0.0,) * 4))
    assert first.outcome is None


@pytest.mark.parametrize("number", [50, pytest.param(2000, marks=pytest.mark.thorough)])
def test_goals_planned_during_a_motion_leave_nothing_behind(armed, slow_planning, number):
    slow_planning(2)
    armed.follow((30.0, THERE))
    armed.tick(5)
    motions = []
    for k in range(number):
        armed.follow((2.0, THERE if k % 2 else (0.0,) * 4))
        run = armed.controller._arm
        motions.append(weakref.ref(run._motion))
        assert len(run._lead_in) <= 1 and all(not part.run._lead_in for part in run._lead_in)
    assert sum(motion() is not None for motion in motions) < 5


def test_goals_within_the_lead_in_of_another_are_not_nested(armed, slow_planning):
    slow_planning(20)
    armed.follow((30.0, THERE))
    armed.tick(20)
    goals = [armed.follow((3.0, (0.0,) * 4))]
    slow_planning(1)
    for k in range(5):
        goals.append(armed.follow((3.0 + k, THERE)))
        for part in armed.controller._arm._lead_in:
            assert part.ticks > 0 and not part.run._lead_in
    armed.run(goals[-1])  # the output raises for a step beyond the limits
    assert [goal.outcome for goal in goals[:-1]] == [GoalOutcome.ABORTED] * 5
    np.testing.assert_allclose(armed.positions[:4], THERE, atol=1e-9)


def test_arm_too_fast_for_its_scaling_is_planned_from_its_velocity(armed):
    armed.follow((3.0, THERE))
    armed.tick(30)
    run, velocity = armed.controller._arm, np.array(armed.controller.command()[1][:4])
    assert np.abs(velocity).max() > 0.1
    for scaling, explained in ((0.0, 1.0), (1e-9, 1.0), (0.9, 0.9)):
        run._time.scaling = scaling
        start = armed.controller._forecast().start
        np.testing.assert_allclose(start[1], velocity / explained)
        assert start[2] == explained
