# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest

pytest.importorskip("control_msgs")

from arm_description.urdf.elements import MOVING
from arm_description.urdf.reader import read_urdf
from arm_hardware.errors import CommandError
from arm_hardware.motion.goal_validation import Tolerances
from arm_hardware.ros.driver_messages import controller_state, goal_tolerances, joint_state, status
from arm_testing.waiting import wait_for
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance

from arm_description import load_robot

Goal = FollowJointTrajectory.Goal


@pytest.fixture
def bench(make_bench):
    made = make_bench()
    made.driver.open()
    made.controller.arm()
    return made


DEFAULTS = Tolerances(
    {"waist": 0.5, "elbow": 0.6, "shoulder": 0.7},
    {"elbow": 0.8, "shoulder": 0.9},
    {"waist": 0.01, "elbow": 0.01, "shoulder": 0.01},
    2.0,
)


def test_tolerances_of_a_goal_override_the_defaults(rig):
    """0 is the default, -1 no bound, as in control_msgs/msg/JointTolerance."""
    rest = [
        JointTolerance(name="elbow", position=0.0),
        JointTolerance(name="shoulder", position=-1.0, velocity=-1.0),
    ]
    goal = Goal(
        path_tolerance=[JointTolerance(name="waist", position=0.1), *rest],
        goal_tolerance=[JointTolerance(name="waist", position=0.2, velocity=0.3), *rest],
        goal_time_tolerance=Duration(sec=-1),
    )
    bounds = goal_tolerances(goal, rig.axes, DEFAULTS)
    assert bounds.path == {"waist": 0.1, "elbow": 0.6, "shoulder": math.inf}
    assert bounds.goal == {"waist": 0.2, "elbow": 0.8, "shoulder": math.inf}
    assert bounds.stopped == {"waist": 0.3, "elbow": 0.01, "shoulder": math.inf}
    assert bounds.goal_time == 0.0
    goal.goal_time_tolerance = Duration(sec=1, nanosec=500_000_000)
    assert goal_tolerances(goal, rig.axes, DEFAULTS).goal_time == 1.5


def test_goal_without_tolerances_has_the_defaults(rig):
    assert goal_tolerances(Goal(), rig.axes, DEFAULTS) == DEFAULTS


def test_controller_state_is_trajectory_command_and_their_difference(armed):
    """Feedback is the command: its error is the delay by limits, and 0 at rest."""
    armed.controller.set_speed_scaling(0.5)
    armed.follow((1.0, (0.5, 0.0, 0.0, 0.0)))
    armed.tick(20)
    message = controller_state(armed.axes, armed.controller.tracking(), Time())
    reference, feedback = message.reference.positions, message.feedback.positions
    assert message.joint_names == list(armed.axes.names)
    assert list(feedback) == list(armed.positions[:4])
    np.testing.assert_allclose(message.error.positions, np.subtract(reference, feedback))
    assert message.error.positions[0] > 0.0  # it started from rest, the trajectory at once
    assert abs(message.output.positions[0] - feedback[0]) <= 0.004
    assert message.speed_scaling_factor == 0.5
    assert message.reference.time_from_start.nanosec == pytest.approx(2e8, abs=2e6)
    assert message.feedback.time_from_start.nanosec == pytest.approx(4e8, abs=2)
    assert message.reference.velocities[0] == pytest.approx(0.25)
    armed.rest()
    message = controller_state(armed.axes, armed.controller.tracking(), Time())
    assert list(message.error.positions) == [0.0] * 4
    assert list(message.reference.positions) == list(armed.positions[:4])


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
        goal_tolerances(goal, rig.axes, Tolerances())


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


def test_joint_states_have_the_joints_that_follow_others(opened):
    """Those of the table, where the description has them; not the rods that are only drawn."""
    model = load_robot("mearm")
    driver = opened(model, hardware="fake")
    driver.controller.arm()
    wait_for(lambda: None not in driver.controller.snapshot().positions, "the first pulses")
    message = joint_state(driver.axes.prefixed("left_"), driver.controller.snapshot(), Time())
    found = dict(zip(message.name, message.position, strict=True))
    tree = read_urdf(model.to_urdf("left_"))
    moving = [joint for joint in tree.joints if joint.kind in MOVING and joint.name in found]
    assert len(found) == len(moving)
    assert {"left_level_shoulder", "left_level_elbow", "left_right_jaw"} <= found.keys()
    for joint in moving:
        leader, ratio, offset = tree.drive_of(joint)
        assert found[joint.name] == pytest.approx(ratio * found[leader.name] + offset)
    assert len(message.velocity) == len(found)


@pytest.mark.parametrize("model", [load_robot("mearm")], ids=["mearm"])
def test_messages_of_an_arm_with_linkages_have_joints_and_their_servos(make_bench, model):
    """joint_states are the joints', the status with its estimate the servos'."""
    bench = make_bench()
    driver = bench.driver
    driver.open()
    bench.arm()
    bench.tick(75)
    goal = bench.go(*map(math.radians, (20, 80, -100)), time=2.0)
    bench.tick(200)
    assert goal.done
    snapshot = driver.controller.snapshot()
    state = joint_state(driver.axes, snapshot, Time())
    shown = dict(zip(state.name, map(math.degrees, state.position), strict=True))
    assert shown["shoulder"] == pytest.approx(80, abs=0.6)
    assert shown["elbow"] == pytest.approx(-100, abs=1.0)
    servos = {j.name: j for j in status("sim", driver, snapshot, Time()).joints}
    assert math.degrees(servos["elbow"].position) == pytest.approx(-20, abs=0.5)  # on the base
    for name, degrees in (("waist", 20), ("shoulder", 80), ("elbow", -20)):
        estimate = math.degrees(servos[name].estimated_position)
        assert estimate == pytest.approx(degrees, abs=1.5), name
    assert servos["elbow"].channel == 2
    assert servos["elbow"].position == pytest.approx(
        math.radians(shown["shoulder"] + shown["elbow"]), abs=1e-9
    )


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
