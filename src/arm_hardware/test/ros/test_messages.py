# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math

import pytest

pytest.importorskip("control_msgs")

from arm_hardware.errors import CommandError
from arm_hardware.ros.messages import goal_tolerances, joint_state, status
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance

Goal = FollowJointTrajectory.Goal


@pytest.fixture
def bench(make_bench):
    made = make_bench()
    made.driver.open()
    made.controller.arm()
    return made


def test_tolerances_of_0_and_minus_1_are_no_bounds(rig):
    none = [
        JointTolerance(name="elbow", position=0.0),
        JointTolerance(name="shoulder", position=-1.0),
    ]
    goal = Goal(
        path_tolerance=[JointTolerance(name="waist", position=0.1), *none],
        goal_tolerance=[JointTolerance(name="waist", position=0.2), *none],
        goal_time_tolerance=Duration(sec=-1),
    )
    bounds = goal_tolerances(goal, rig.axes)
    assert bounds.path == {"waist": 0.1}
    assert bounds.goal == {"waist": 0.2, "shoulder": math.inf} and bounds.goal_time == 0.0
    goal.goal_time_tolerance = Duration(sec=1, nanosec=500_000_000)
    assert goal_tolerances(goal, rig.axes).goal_time == 1.5


@pytest.mark.parametrize(
    ("goal", "says"),
    [
        (Goal(path_tolerance=[JointTolerance(name="waist", position=-0.5)]), "waist: -0.5 is not"),
        (
            Goal(goal_tolerance=[JointTolerance(name="waist", position=math.nan)]),
            "nan is not a",
        ),
        (Goal(goal_time_tolerance=Duration(sec=-2)), "goal_time: -2 is not"),
        (Goal(path_tolerance=[JointTolerance(name="tail", position=1.0)]), "names 'tail'"),
    ],
)
def test_invalid_tolerances_are_rejected(rig, goal, says):
    with pytest.raises(CommandError, match=says):
        goal_tolerances(goal, rig.axes)


def test_status_reports_what_is_known_of_each_servo(bench):
    driver = bench.driver

    def servos():
        return status("sim", driver, driver.controller.snapshot(), Time()).joints

    unknown = servos()
    assert all(math.isnan(j.position) and math.isnan(j.estimated_position) for j in unknown)
    assert all(j.count == 0 and j.pulse_us == 0.0 for j in unknown)
    assert joint_state(driver.axes, driver.controller.snapshot(), Time()) is None
    count = math.pi / 2 / 1000 * 4.88
    assert [j.resolution for j in unknown] == pytest.approx([count] * 4 + [4.88 * 0.03 / 1000])
    bench.tick(25)
    fresh = servos()
    assert not any(math.isnan(j.position) for j in fresh)
    assert math.isnan(fresh[4].estimated_position)  # its first pulse came last
    bench.tick(50)
    assert all(abs(j.estimated_position - j.position) <= 2 * j.resolution for j in servos())


def test_joint_states_are_whole_counts_with_zero_velocity_at_rest(bench):
    driver = bench.driver
    bench.tick(75)
    goal = bench.controller.grip(0.02)
    while not goal.done:
        bench.tick()
    message = joint_state(driver.axes, driver.controller.snapshot(), Time())
    assert message.name == [*driver.axes.names, "left_finger", "right_finger"]
    width = 2.0 * message.position[-1]
    servo = driver.output.maps[-1]
    assert width == servo.position_of(servo.count_of(0.02)) != 0.02
    assert list(message.velocity) == [0.0] * 6 and list(message.effort) == []


def test_no_joint_states_and_unknown_status_in_fault(bench):
    bench.tick(100)
    assert joint_state(bench.driver.axes, bench.controller.snapshot(), Time()) is not None
    bench.chip.power_off()
    bench.tick(6)
    seen = bench.controller.snapshot()
    assert joint_state(bench.driver.axes, seen, Time()) is None
    message = status("sim", bench.driver, seen, Time())
    assert message.state == message.FAULT
    for joint in message.joints:
        assert math.isnan(joint.position) and math.isnan(joint.estimated_position)
        assert joint.pulse_us == 0.0 and joint.count == 0
