# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a user of joint_trajectory_controller expects of the node, over ROS."""

import math

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from arm_testing.ros import driver as nc
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, SpeedScalingFactor
from trajectory_msgs.msg import JointTrajectory

from arm_interfaces.msg import HardwareStatus

pytestmark = pytest.mark.system
SUCCEEDED, ABORTED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED
Result = FollowJointTrajectory.Result
THERE = (0.4, -0.3, 0.3, 0.8)
SPEED = 8  # simulated seconds per second
SHIFT = 0.2  # [s] later than this, a tick of a driver in simulated time shifts its schedule
TIGHT = 1e-4  # [rad] lag of a linear profile that starts from rest is larger


@pytest.fixture(scope="module")
def running():
    client = nc.Client()
    client.scaling.publish(SpeedScalingFactor(factor=1.0))  # latched, and for another driver
    with nc.running_driver(
        client,
        hardware="sim",
        backend="i2c_dev",
        speed=SPEED,
        autostart="activate",
        action_monitor_rate=50.0,
        **{
            "constraints.waist.trajectory": TIGHT,
            "constraints.elbow.goal": 0.2,
            "speed_scaling.initial_scaling_factor": 0.5,
        },
    ):
        client.wait_armed()
        yield client


def test_initial_scaling_factor_holds_until_the_first_message(running):
    """A message from before the driver's start is none, even if it is latched."""
    nc.wait_for(running.scaling.get_subscription_count, "subscription of the scaling")
    assert running.status.speed_scaling == 0.5


@pytest.fixture
def arm(running):
    """The same, at rest, at HOME and unscaled whatever the test before it did."""
    running.scale(1.0)
    if running.status.state != HardwareStatus.ARMED:
        assert running.trigger("stop").success and running.trigger("reset").success
        running.wait_settled(HardwareStatus.ARMED)
    if max(abs(running.position(name)) for name in nc.NAMES) > nc.NEAR:
        check_result(running, send_smooth(running, 2.0, nc.HOME), SUCCEEDED, Result.SUCCESSFUL)
    running.states[:-1] = []
    running.feedback.clear()
    running.controller_states.clear()
    return running


def smooth(time, q) -> JointTrajectory:
    """Return a trajectory from rest to rest, which needs no delay."""
    message = nc.trajectory([(time, q)])
    message.points[0].velocities = [0.0] * 4
    return message


def send_smooth(arm, time, q, **fields):
    handle = arm.send_goal(trajectory=smooth(time, q), **fields)
    assert handle.accepted
    return handle


def check_result(arm, handle, status, code):
    result = arm.result(handle)
    assert (result.status, result.result.error_code) == (status, code), result.result.error_string


def later(message, seconds) -> Time:
    """Return the stamp of a message, so many seconds later."""
    nanoseconds = round((nc.seconds(message) + seconds) * 1e9)
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def test_pause_and_resume_by_scaling_keep_the_goal_active(arm):
    handle = send_smooth(arm, 4.0, THERE)
    arm.wait_moving()
    arm.scale(0.0)
    nc.wait_for(lambda: not any(arm.states[-1].velocity), "rest")
    held = list(arm.states[-1].position)
    assert 0.0 < arm.position("waist") < THERE[0]
    assert "Paused" in arm.status.message and arm.status.state == HardwareStatus.MOVING
    states = len(arm.states)
    nc.wait_for(lambda: len(arm.states) > states + 25, "states while paused")
    assert list(arm.states[-1].position) == held
    assert handle.status in (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING)
    arm.scale(1.0)
    check_result(arm, handle, SUCCEEDED, Result.SUCCESSFUL)


def test_scaling_outside_0_to_1_is_refused_with_a_reason(arm):
    arm.scaling.publish(SpeedScalingFactor(factor=math.nan))
    nc.wait_for(lambda: "of nan is not within 0 to 1" in str(arm.diagnostics), "the refusal")
    assert arm.status.speed_scaling == 1.0


def test_query_state_equals_what_is_executed_at_that_time(arm):
    arm.scale(0.5)
    handle = send_smooth(arm, 3.0, THERE)
    arm.wait_moving()
    asked = nc.seconds(arm.states[-1])
    times = [later(arm.states[-1], ahead) for ahead in (0.5, 1.0, 2.0)]
    answers = [arm.query(time) for time in times]
    assert all(answer.success for answer in answers), answers
    check_result(arm, handle, SUCCEEDED, Result.SUCCESSFUL)
    states = arm.states.copy()  # more arrive meanwhile
    stamps = np.array([nc.seconds(m) for m in states])
    gaps = np.diff(stamps)[stamps[1:] > asked]
    late = gaps[gaps > SHIFT].sum()  # what late ticks shifted: no query can foresee it
    for time, answer in zip(times, answers, strict=True):
        assert tuple(answer.name) == nc.NAMES
        at = time.sec + 1e-9 * time.nanosec
        executed = [
            np.interp((at, at + late), stamps, [m.position[i] for m in states]) for i in range(4)
        ]
        assert (np.array(answer.position) > np.min(executed, axis=1) - 0.02).all()
        assert (np.array(answer.position) < np.max(executed, axis=1) + 0.02).all()
        assert all(answer.velocity)


def test_query_without_a_trajectory_or_outside_of_it_fails_with_a_reason(arm):
    now = arm.states[-1]
    answer = arm.query(later(now, 0.1))
    assert (answer.success, answer.message) == (False, "No trajectory is running.")
    handle = send_smooth(arm, 60.0, THERE)
    arm.wait_moving()  # accepted before it runs
    for ahead, says in ((-5.0, "before the start"), (600.0, "after the end")):
        answer = arm.query(later(now, ahead))
        assert not answer.success and says in answer.message
    assert arm.query(Time()).success  # now
    arm.done(arm.cancel(handle))
    assert arm.result(handle).status == GoalStatus.STATUS_CANCELED


def test_controller_state_is_published_with_every_joint_state(arm):
    handle = send_smooth(arm, 2.0, THERE)
    check_result(arm, handle, SUCCEEDED, Result.SUCCESSFUL)
    states = arm.controller_states.copy()
    moving = [nc.seconds(m) for m in arm.states if any(m.velocity)]
    assert len({nc.seconds(m) for m in states} & set(moving)) > 0.8 * len(moving)
    assert max(m.reference.positions[0] for m in states) == pytest.approx(THERE[0], abs=0.02)
    assert all(abs(e) < 1e-6 for m in states for e in m.error.positions)  # nothing is delayed
    assert {m.speed_scaling_factor for m in states} == {1.0}


def test_feedback_comes_at_the_action_monitor_rate(arm):
    handle = send_smooth(arm, 8.0, THERE)
    check_result(arm, handle, SUCCEEDED, Result.SUCCESSFUL)
    rate = len(arm.feedback) / (8.0 / SPEED)
    assert 25.0 < rate <= 52.0  # 50, fewer on a busy computer; at the default 20
    assert all(len(m.desired.velocities) == 4 for m in arm.feedback)


@pytest.mark.parametrize(
    ("tolerance", "status", "code"),
    [
        ({}, ABORTED, Result.PATH_TOLERANCE_VIOLATED),  # the parameter's
        ({"position": 0.5}, SUCCEEDED, Result.SUCCESSFUL),
        ({"position": -1.0}, SUCCEEDED, Result.SUCCESSFUL),
    ],
)
def test_path_tolerance_of_the_goal_overrides_the_parameter(arm, tolerance, status, code):
    """A profile without velocities starts later than requested, by more than the parameter."""
    handle = arm.send_goal(
        trajectory=nc.trajectory([(1.0, THERE)]),
        path_tolerance=[JointTolerance(name="waist", **tolerance)] if tolerance else [],
    )
    check_result(arm, handle, status, code)
    arm.wait_settled(HardwareStatus.ARMED)


def test_goal_tolerance_is_checked_after_goal_time(arm):
    """The parameter allows the elbow 0.2 rad; the others must be at the goal."""
    for bounds, status, code in (
        ([], ABORTED, Result.GOAL_TOLERANCE_VIOLATED),
        ([JointTolerance(name=n, position=-1.0, velocity=-1.0) for n in nc.NAMES], SUCCEEDED, 0),
    ):
        handle = arm.send_goal(
            trajectory=nc.trajectory([(0.3, THERE)]),
            path_tolerance=[JointTolerance(name="waist", position=-1.0)],
            goal_tolerance=bounds,
            goal_time_tolerance=Duration(nanosec=1_000_000),
        )
        check_result(arm, handle, status, code)
        arm.wait_settled(HardwareStatus.ARMED)
        arm.result(send_smooth(arm, 2.0, nc.HOME))
