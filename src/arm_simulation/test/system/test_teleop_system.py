# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from arm_testing.programs import terminal as pp
from arm_testing.programs.processes import output_of, start_python
from arm_testing.ros import driver as nc
from sensor_msgs.msg import JointState, Joy

from arm_description import load_robot
from arm_interfaces.msg import HardwareStatus

BETWEEN = 0.04  # [s] repeat period of a held key or a joystick


@pytest.fixture(scope="module")
def client():
    client = nc.Client()
    with nc.running_driver(client, robot="nut_arm", hardware="fake", autostart="activate"):
        client.wait_armed()
        yield client


@pytest.fixture
def arm(client):
    """Return the arm at home."""
    bring_home(client)
    return client


def bring_home(client):
    """Bring the arm home; a late message of a former teleop may preempt the motion."""
    deadline = time.monotonic() + nc.BOUND
    while True:
        try:
            client.restore()
            return
        except AssertionError as error:
            if "Preempted" not in str(error) or time.monotonic() > deadline:
                raise


def started(*arguments):
    program = pp.PtyProgram(
        *(sys.executable, "-m", "arm_tasks.commands.teleop", "nut_arm", *arguments),
    )
    program.wait_for("tip 160 0 185 mm")
    return program


@pytest.fixture(scope="module")
def running(client):
    """Run a teleop and check that it quits cleanly."""
    with started() as program:
        yield program
        program.type("q")
        assert program.end() == 0 and "Traceback" not in program.said
        assert "The arm holds" in program.said and program.attributes() == program.before


@pytest.fixture
def teleop(running, arm):
    """Return it in joint mode at a slow speed, once it shows the arm at home."""
    running.type("-----")
    running.ask("?", "now: joints")
    running.wait_for("tip 160 0 185 mm")
    return running


def repeat(act, condition, what):
    deadline = time.monotonic() + nc.BOUND
    while not condition():
        assert time.monotonic() < deadline, f"no {what}"
        act()
        time.sleep(BETWEEN)


def hold(program, key, condition):
    repeat(lambda: program.type(key), condition, f"motion by {key!r}")
    program.read()


def test_held_key_moves_a_joint_until_it_is_released(arm, teleop):
    hold(teleop, "w", lambda: arm.position("waist") > 0.1)
    arm.wait_settled(HardwareStatus.ARMED)
    assert abs(arm.position("shoulder")) < nc.NEAR
    before = arm.position("waist")
    hold(teleop, "s", lambda: arm.position("waist") < before - 0.05)
    arm.wait_settled(HardwareStatus.ARMED)


def test_arm_stops_when_teleop_is_killed(arm):
    with started() as program:
        program.type("++")
        hold(program, "w", lambda: arm.position("waist") > 0.1)
        program.kill()
        arm.wait_settled(HardwareStatus.ARMED)
        assert program.end() == -signal.SIGKILL
        assert arm.position("waist") < 1.5


def test_held_keys_move_the_jaws_until_they_are_released(arm, teleop):
    def width():
        return 2.0 * arm.position("left_finger")

    gripper = load_robot("nut_arm").gripper
    hold(teleop, ".", lambda: width() > 0.6 * gripper.max_width)
    arm.wait_settled(HardwareStatus.ARMED)
    assert width() < gripper.max_width
    assert abs(arm.position("waist")) < nc.NEAR
    hold(teleop, ",", lambda: width() < gripper.min_width + 5e-5)
    arm.wait_settled(HardwareStatus.ARMED)
    teleop.ask(",,,", "(the jaws are closed)")  # visible on a terminal of 80 columns


def test_stop_key_latches_until_reset(arm, teleop):
    hold(teleop, "w", lambda: arm.position("waist") > 0.05)
    teleop.type(" ")
    arm.wait_settled(HardwareStatus.STOPPED)
    stopped = arm.position("waist")
    teleop.type("wwww")
    teleop.wait_for("not armed: Stopped")
    assert arm.position("waist") == stopped
    teleop.type("z")
    arm.wait_settled(HardwareStatus.ARMED)
    hold(teleop, "w", lambda: arm.position("waist") > stopped + 0.05)
    arm.wait_settled(HardwareStatus.ARMED)


@pytest.fixture
def joystick(arm):
    """Return a factory of functions that push a stick forward once a teleop subscribes."""
    publishers = []

    def plugged(topic):
        publisher = arm.node.create_publisher(Joy, topic, 1)
        publishers.append(publisher)
        nc.wait_for(publisher.get_subscription_count, "subscription of teleop")
        axes = [0.0, 1.0] + [0.0] * 6
        return lambda *buttons: publisher.publish(Joy(axes=axes, buttons=list(buttons)))

    yield plugged
    for publisher in publishers:
        arm.node.destroy_publisher(publisher)


JOINTS, JOINTS_AND_DEAD_MAN = (0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 1, 1)


def test_joystick_moves_the_arm_only_with_the_dead_mans_button(arm, teleop, joystick):
    waited, joy = iter(range(12)), joystick("joy")
    repeat(lambda: joy(*JOINTS), lambda: next(waited, None) is None, "last joystick message")
    assert abs(arm.position("waist")) < nc.NEAR
    repeat(lambda: joy(*JOINTS_AND_DEAD_MAN), lambda: arm.position("waist") > 0.1, "motion")
    arm.wait_settled(HardwareStatus.ARMED)  # silence stops it


def test_joystick_only_mode_needs_no_terminal(arm, joystick):
    program = [sys.executable, "-m", "arm_tasks.commands.teleop", "nut_arm", "--joystick-only"]
    process = subprocess.Popen(
        [*program, "--ros-args", "-r", "joy:=another_joy"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        joy = joystick("another_joy")
        repeat(lambda: joy(*JOINTS_AND_DEAD_MAN), lambda: arm.position("waist") > 0.1, "motion")
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=nc.BOUND)
        assert process.returncode == 0 and "Traceback" not in output
        arm.wait_settled(HardwareStatus.ARMED)
    finally:
        process.kill()


ALIGN_SPEED = 0.2 * load_robot("nut_arm").velocity[0]  # [rad/s]


def duration(states, first, last):
    """Return the time in which the waist moved from one position to another [s]."""
    at = [(nc.seconds(s), dict(zip(s.name, s.position, strict=True))["waist"]) for s in states]
    return min(t for t, q in at if q >= last) - max(t for t, q in at if q <= first)


class FakeLeader:
    """Publishes joint_states in a namespace, with names of its own."""

    def __init__(self, node):
        self._node, self._publisher = (
            node,
            node.create_publisher(JointState, "/left/joint_states", 10),
        )
        nc.wait_for(self._publisher.get_subscription_count, "subscription of the follower")

    def publish(self, base, shoulder=0.0):
        message = JointState(name=["base", "shoulder", "elbow", "wrist_roll"])
        message.position = [base, shoulder, 0.9, 0.0]
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


def started_tool(tool, *arguments):
    program = f"from arm_tasks.commands.entry_points import {tool}; exit({tool}())"
    return start_python("-c", program, *map(str, arguments))


@pytest.fixture
def following(arm, joystick, tmp_path):
    """Return a program that follows /left/joint_states and records followed.csv."""
    process = started_tool(
        "follow",
        *("nut_arm", "--leader", "left/joint_states", "--joystick-only"),
        *("--record", tmp_path / "followed.csv"),
        *("--ros-args", "-r", "joy:=third_joy", "-p", "align_speed:=0.2"),
        *("-p", "joints.waist.leader:=base", "-p", "joints.waist.scale:=-1.0"),
        *("-p", "joints.waist.offset:=0.1", "-p", "joints.elbow.leader:=none"),
    )
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
    reader.start()
    try:
        yield SimpleNamespace(
            process=process,
            lines=lines,
            reader=reader,
            joy=joystick("third_joy"),
            leader=FakeLeader(arm.node),
        )
    finally:
        process.kill()


def test_arm_follows_a_leader_and_plays_what_it_did(arm, following, tmp_path):
    leader, joy, lines = following.leader, following.joy, following.lines

    def state():
        return lines[-1].partition(".")[0] if lines else ""

    def hold_and_publish(base, shoulder):
        joy(*JOINTS_AND_DEAD_MAN)
        leader.publish(base, shoulder)

    def lead(base, shoulder):
        """Publish; release the button if a busy machine has stopped the arm."""
        hold_and_publish(base, shoulder)
        if state() == "Stopped":
            joy(*JOINTS)

    def be_silent():
        """Publish nothing, unless a busy machine has released the button."""
        joy(*JOINTS_AND_DEAD_MAN)
        if state() == "Waiting":
            leader.publish(-0.4, -0.4)

    def is_with_leader():
        return arm.position("waist") > 0.49 and arm.position("shoulder") < -0.39

    waited = iter(range(12))
    repeat(lambda: leader.publish(-0.4), lambda: next(waited, None) is None, "last message")
    assert abs(arm.position("waist")) < nc.NEAR  # nobody holds the button

    begin = len(arm.states)
    repeat(lambda: lead(-0.4, 0.0), lambda: arm.position("waist") > 0.49, "alignment")
    # on average, since the driver catches up with messages that a busy machine delays
    assert duration(arm.states[begin:], 0.05, 0.3) > 0.8 * 0.25 / ALIGN_SPEED

    def hold_after_stop():
        """Hold the button after a stop; return whether a busy machine has released it."""
        repeat(lambda: lead(-0.4, -0.4), is_with_leader, "motion")
        repeat(be_silent, lambda: state() == "Stopped", "stop without the leader")
        before, waited = len(lines), iter(range(12))
        repeat(lambda: hold_and_publish(0.4, 0.4), lambda: next(waited, None) is None, "message")
        return any(line.startswith("Waiting") for line in lines[before:])

    for _ in range(5):
        if not hold_after_stop():
            break
    else:
        pytest.fail(f"the button was released each time: {lines[-20:]}")
    assert state() == "Stopped"  # the button is still held
    arm.wait_settled(HardwareStatus.ARMED)
    assert arm.position("waist") == pytest.approx(0.5, abs=0.02)
    assert arm.position("shoulder") == pytest.approx(-0.4, abs=0.02)
    assert abs(arm.position("elbow")) < nc.NEAR

    following.process.send_signal(signal.SIGTERM)
    assert following.process.wait(nc.BOUND) == 0
    following.reader.join(nc.BOUND)
    states = [line.partition(".")[0] for line in lines]
    assert {"Aligning", "Following", "Stopped"} <= set(states), lines
    file = tmp_path / "followed.csv"
    assert any(f"in {file}" in line for line in lines), lines
    bring_home(arm)
    code, output = output_of(started_tool("play", "nut_arm", file))
    assert code == 0, output
    assert arm.position("waist") == pytest.approx(0.5, abs=0.02)
    assert arm.position("shoulder") == pytest.approx(-0.4, abs=0.02)


def test_teleop_reports_a_different_robot(arm, monkeypatch):
    with pp.PtyProgram(sys.executable, "-m", "arm_tasks.commands.teleop", "puma560") as program:
        program.wait_for("is it the same robot?")
        program.type("\x03")
        assert program.end() == 0 and "Traceback" not in program.said
