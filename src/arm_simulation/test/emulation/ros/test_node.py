# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import itertools
import math
import signal
from pathlib import Path

import pytest
import yaml
from action_msgs.msg import GoalStatus
from arm_description.library import robot_path
from arm_testing.ros import driver as nc
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import Transition
from std_msgs.msg import Empty

from arm_interfaces.msg import HardwareStatus

pytestmark = pytest.mark.system
SPEEDS = {"fake": 4, "sim": 1}  # fake in simulated time, so that the contract is seen in both
HOME = nc.HOME
THERE = (0.4, -0.3, 0.3, 0.8)


@pytest.fixture(scope="module")
def slow_jaws(tmp_path_factory):
    """Path of the shipped robot with jaws that take two minutes to open."""
    robot = yaml.safe_load(robot_path("nut_arm").read_text())
    robot["gripper"]["velocity"] = 0.25  # [mm/s]
    file = tmp_path_factory.mktemp("robot") / "nut_arm.yaml"
    file.write_text(yaml.safe_dump(robot))
    return file


@pytest.fixture(scope="module", params=["fake", "sim"])
def running(request, slow_jaws):
    client = nc.Client()
    client.hardware, client.speed = request.param, SPEEDS[request.param]
    with nc.running_driver(
        client,
        robot=slow_jaws,
        hardware=request.param,
        backend="i2c_dev",
        speed=client.speed,
        autostart="activate",
    ):
        client.wait_armed()
        yield client


@pytest.fixture
def arm(running):
    """The same, at rest and at HOME whatever the test before it did."""
    running.restore()
    return running


def test_executes_a_trajectory(arm):
    handle = arm.send((0.25, (0.2, -0.15, 0.15, 0.4)), (0.5, THERE))
    assert handle.accepted
    result = arm.result(handle)
    assert result.status == GoalStatus.STATUS_SUCCEEDED and result.result.error_code == 0
    for name, value in zip(nc.NAMES, THERE, strict=True):
        nc.wait_for(lambda n=name, v=value: abs(arm.position(n) - v) < nc.NEAR, "arrival")


def test_current_goal_is_published_until_it_is_reached(arm):
    nc.wait_for(lambda: not arm.goals or not arm.goals[-1].name, "the end of what was before")
    count = len(arm.goals)
    assert not arm.send((1.0, (9.0, 0.0, 0.0, 0.0))).accepted
    names = list(nc.NAMES)
    for number, goal in enumerate((THERE, HOME), 1):
        arm.go(*goal, time=2.0)
        nc.wait_for(lambda n=number: len(arm.goals) >= count + 2 * n, "goal and end")
    heard = [(list(goal.name), list(goal.position)) for goal in arm.goals[count:]]
    assert heard == [(names, [*THERE]), ([], []), (names, [*HOME]), ([], [])]


def test_canceled_goal_is_no_longer_published(arm):
    handle = arm.send((nc.CREEP, nc.AWAY))
    arm.wait_moving()
    nc.wait_for(lambda: list(arm.goals[-1].position) == [*nc.AWAY], "the goal")
    arm.done(arm.cancel(handle))
    assert arm.result(handle).status == GoalStatus.STATUS_CANCELED
    arm.wait_settled(HardwareStatus.ARMED)
    assert 0.0 < arm.position("waist") < 1.0
    nc.wait_for(lambda: not arm.goals[-1].name, "the end of the goal")
    assert not arm.goals[-1].position


def test_joint_states_have_all_joints_and_consistent_stamps(arm):
    """However late ticks come and are told: no joint seems faster than it was ever sent."""
    arm.states.clear()
    arm.go(*nc.AWAY, time=2.0)
    states = arm.states.copy()
    assert all(set(m.name) == {*nc.NAMES, "left_finger", "right_finger"} for m in states)
    assert all(len(m.name) == len(m.position) == len(m.velocity) for m in states)
    fastest = max(abs(v) for m in states for v in m.velocity)
    count = 0.01  # [rad] positions are told in whole counts
    for former, later in itertools.pairwise(states):
        way = max(abs(b - a) for a, b in zip(former.position, later.position, strict=True))
        passed = nc.seconds(later) - nc.seconds(former)
        assert passed >= 0.0 and way <= 1.01 * fastest * passed + count, (way, passed)
    arm.go(*HOME, time=2.0)


def test_empty_and_past_trajectories_are_rejected(arm):
    assert not arm.send().accepted
    assert not arm.send((0.5, THERE), stamp=Time(sec=1)).accepted
    assert arm.wait_state(HardwareStatus.ARMED)


def test_last_rejection_is_in_the_diagnostics(arm):
    assert not arm.send((9.0, (2.0, 0.0, 0.0, 0.0))).accepted

    def told():
        status = arm.diagnostics and arm.diagnostics.status[0]
        values = {v.key: v.value for v in status.values} if status else {}
        return "waist: 2 rad at point 1 is 0.4292 rad" in values.get("last refusal", "")

    nc.wait_for(told, "diagnostics")


def test_button_with_the_former_name_of_the_stop_topic_is_an_error(arm):
    """It stops nothing, and must not fail silently."""

    def level():
        return arm.diagnostics and arm.diagnostics.status[0].level

    nc.wait_for(lambda: level() == DiagnosticStatus.OK, "good diagnostics")
    button = arm.node.create_publisher(Empty, "arm_hardware/stop_now", 1)
    nc.wait_for(lambda: level() == DiagnosticStatus.ERROR, "an error")
    assert "let it publish on arm_hardware/emergency_stop" in arm.diagnostics.status[0].message
    arm.node.destroy_publisher(button)
    nc.wait_for(lambda: level() == DiagnosticStatus.OK, "good diagnostics again")


def test_stop_latches_and_reset_does_not_move(arm):
    handle, grip = arm.creep(), arm.grip(0.03)
    finger = arm.position("left_finger")
    arm.wait_moving()
    nc.wait_for(lambda: arm.position("left_finger") != finger, "motion of the jaws")
    assert arm.trigger("stop").success
    result = arm.result(handle)
    assert result.status == GoalStatus.STATUS_ABORTED and "Stopped" in result.result.error_string
    assert arm.result(grip).status == GoalStatus.STATUS_ABORTED
    arm.wait_settled(HardwareStatus.STOPPED)
    nc.wait_for(lambda: not arm.goals[-1].name, "the end of the goal")
    assert not arm.send((nc.CREEP, nc.AWAY)).accepted and not arm.grip(0.01).accepted
    held = list(arm.states[-1].position)
    assert arm.trigger("reset").success
    arm.wait_settled(HardwareStatus.ARMED)
    count = len(arm.states)
    nc.wait_for(lambda: len(arm.states) > count + 2, "joint states")
    assert list(arm.states[-1].position) == held


def test_gripper_result_reports_the_commanded_width(arm):
    width = 2.0 * arm.position("left_finger") + 0.0005
    handle = arm.grip(width)
    result = arm.result(handle)
    assert result.status == GoalStatus.STATUS_SUCCEEDED
    assert result.result.reached_goal and not result.result.stalled
    assert result.result.effort == 0.0 and result.result.position == pytest.approx(width)
    nc.wait_for(lambda: abs(arm.position("left_finger") - width / 2) < 1e-4, "width")
    assert arm.position("right_finger") == arm.position("left_finger")
    assert not arm.grip(math.nan).accepted


def test_trajectory_topic_moves_and_rejects(arm):
    arm.topic.publish(nc.trajectory([(0.4, (0.2, 0.0, 0.0, 0.0))]))
    nc.wait_for(lambda: abs(arm.position("waist") - 0.2) < nc.NEAR, "motion")
    arm.topic.publish(nc.trajectory([(0.4, (9.0, 0.0, 0.0, 0.0))]))
    arm.topic.publish(nc.trajectory([(0.4, HOME)]))
    nc.wait_for(lambda: abs(arm.position("waist")) < nc.NEAR, "motion back")


def test_many_preemptions_and_cancels_all_get_results(arm):
    handles, grips = [], []
    for k in range(40):
        handle = arm.send((2.0 * arm.speed, THERE if k % 2 else HOME))
        assert handle.accepted
        handles.append(handle)
        if k % 3 == 0:
            arm.cancel(handle)
        if k % 5 == 0:
            grips.append(arm.grip(0.01 + 0.0003 * k))
    ended = [arm.result(handle).status for handle in handles]
    assert GoalStatus.STATUS_ABORTED in ended and GoalStatus.STATUS_UNKNOWN not in ended
    arm.done(arm.cancel(grips[-1]))
    *before, last = [arm.result(grip).status for grip in grips]
    assert set(before) == {GoalStatus.STATUS_ABORTED} and last == GoalStatus.STATUS_CANCELED
    arm.wait_state(HardwareStatus.ARMED)
    arm.go(*HOME, time=1.0)


def test_status_reports_pulses_except_with_fake_hardware(arm):
    status = arm.wait_state(HardwareStatus.ARMED)
    assert status.hardware == arm.hardware
    by_name = {pulse.name: pulse for pulse in status.joints}
    assert list(by_name) == [*nc.NAMES, "gripper"]
    waist = by_name["waist"]
    if arm.hardware == "fake":
        assert (waist.channel, waist.count, waist.pulse_us) == (-1, 0, 0.0)
    else:
        assert waist.channel == 0 and waist.pulse_us == pytest.approx(waist.count * 4.88)
        assert waist.position == pytest.approx(arm.position("waist"))


def test_clock_is_published_unless_speed_is_1(arm):
    assert (arm.speed == 1) == (arm.clocks == [])


@pytest.fixture
def start(fresh_domain, start):
    return start


@pytest.fixture
def client(fresh_domain, client):
    return client


def test_lifecycle_transitions(start, client):
    process = start(hardware="sim", backend="i2c_dev")
    assert client.lifecycle() == "unconfigured"
    assert client.change(Transition.TRANSITION_CONFIGURE)
    status = client.wait_state(HardwareStatus.UNKNOWN)
    assert [pulse.count for pulse in status.joints] == [0] * 5
    assert all(math.isnan(pulse.position) for pulse in status.joints)
    assert client.arm.wait_for_server(nc.BOUND)
    assert not client.send((1.0, THERE)).accepted and client.states == []
    assert client.change(Transition.TRANSITION_ACTIVATE)
    status = client.wait_state(HardwareStatus.ARMED)
    assert "assumed" in status.message and all(pulse.count > 0 for pulse in status.joints)
    client.go(*THERE)
    held = client.creep()
    assert client.change(Transition.TRANSITION_DEACTIVATE)
    assert client.result(held).status == GoalStatus.STATUS_ABORTED
    assert not client.send((1.0, THERE)).accepted
    status = client.wait_state(HardwareStatus.DISARMED)
    pulses = [pulse.count for pulse in status.joints]
    assert all(pulses)
    assert client.change(Transition.TRANSITION_ACTIVATE)
    status = client.wait_state(HardwareStatus.ARMED)
    assert [pulse.count for pulse in status.joints] == pulses
    assert client.change(Transition.TRANSITION_DEACTIVATE)
    assert client.change(Transition.TRANSITION_CLEANUP)
    assert client.lifecycle() == "unconfigured"
    code, output = process.end(signal.SIGTERM)
    assert code == 0 and "Traceback" not in output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_during_start_ends_the_process(start, number):
    process = start(hardware="fake", autostart="activate")
    nc.wait_for(process.handles_sigterm, "handler")
    code, output = process.end(number)
    assert code == 0 and "Traceback" not in output, output


def test_simulated_time_is_scaled_and_published(start, client):
    process = start(hardware="fake", autostart="auto", speed=8)
    client.wait_armed()
    nc.wait_for(lambda: len(client.clocks) > 3, "clock")
    first = len(client.clocks)
    client.go(*THERE, time=8.0)  # one second of the wall

    def clocks():
        return [c.clock.sec + 1e-9 * c.clock.nanosec for c in client.clocks[first - 1 :]]

    nc.wait_for(lambda: clocks()[-1] - clocks()[0] >= 7.5, "seven seconds of the driver")
    state = nc.seconds(client.states[-1])
    nc.wait_for(lambda: clocks()[-1] > state, "a later clock")
    assert clocks() == sorted(clocks()) and clocks()[0] < state
    stamp = Time(sec=client.clocks[-1].clock.sec + 40)  # five seconds of the wall
    handle = client.send((1.0, HOME), stamp=stamp)
    assert handle.accepted
    assert client.result(handle).status == GoalStatus.STATUS_SUCCEEDED
    assert process.end()[0] == 0


BAD = [
    ({"hardware": "real", "speed": 2.0}, "speed 2 is for simulated time only"),
    ({"hardware": "toaster"}, "one of fake, sim, real"),
    ({"autostart": "maybe"}, "autostart is 'maybe'"),
    ({"robot": "no_such_arm", "autostart": "activate"}, "no_such_arm"),
    ({"hardware": "sim", "calibration": "x", "autostart": "activate"}, "no calibration 'x'"),
]


if not Path("/dev/i2c-1").exists():
    BAD.append(({"hardware": "real", "autostart": "auto"}, "no /dev/i2c-1; enable I2C"))


def test_bad_parameters_end_the_process_with_one_sentence(start):
    processes = [start(**parameters) for parameters, _ in BAD]
    for process, (parameters, says) in zip(processes, BAD, strict=True):
        code, output = process.output()
        assert code == 1 and says in output, (parameters, output)
        assert "Traceback" not in output
