# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Servos that answer: two on one joint, and limits that depend on other joints."""

import math
from functools import partial
from types import SimpleNamespace

import pytest
from arm_hardware.bus.feetech import sts3215
from arm_hardware.control import controller
from arm_hardware.control.snapshot import DriverState
from arm_hardware.errors import PATH_TOLERANCE_VIOLATED, CommandError, StateError
from arm_hardware.motion.goal_validation import Tolerances, single_point_goal

from arm_description import parse_robot

pytest.importorskip("scservo_sdk")
ROBOT = """\
name: bus_arm
convention: standard
units: {length: mm, angle: deg}
joints:
  - {name: waist, type: revolute, d: 92, a: 0, alpha: 90,
     limits: {lower: -80, upper: 80, velocity: 90}}
  - {name: shoulder, type: revolute, d: 0, a: 135, alpha: 0,
     limits: {lower: -80, upper: 80, velocity: 60}}
  - {name: elbow, type: revolute, d: 0, a: 100, alpha: 0,
     limits: {lower: -shoulder - 60, upper: -shoulder + 2, velocity: 90}}
transmissions:
  - {type: several, joint: shoulder, actuators: [left, right], mirrored: [false, true],
     allowed_difference: 3}
postures: {rest: {waist: 0, shoulder: 0, elbow: 0}}
"""
RANGE = "points_deg_counts: [[-90, 1024], [90, 3072]], count_limits: [1024, 3072]"
SERVOS = f"""\
example: true
robot: bus_arm
bus: {{port: /dev/ttyACM0}}
joints:
  waist: {{id: 1, {RANGE}}}
  left: {{id: 2, {RANGE}}}
  right: {{id: 3, {RANGE}}}
  elbow: {{id: 4, {RANGE}}}
"""
LEFT, RIGHT, ELBOW = 2, 3, 4
MIDDLE, DEGREE = 2048, 4096 / 360


@pytest.fixture
def model():
    return parse_robot(ROBOT)


@pytest.fixture
def make(tmp_path, make_bench):
    path = tmp_path / "bus_arm_servos.yaml"
    path.write_text(SERVOS)
    return partial(make_bench, backend="feetech", calibration=str(path))


@pytest.fixture
def bench(make):
    bench = make()
    bench.driver.open()
    bench.tick()
    return bench


@pytest.fixture
def servos(bench):
    return bench.driver.emulation.servos


def torques(servos):
    return [servo.get(sts3215.TORQUE_ENABLE) for servo in servos.values()]


def follow(bench, *degrees, path):
    goal = single_point_goal(bench.driver.axes, 2.0, [math.radians(q) for q in degrees])
    return bench.controller.follow(goal, Tolerances(path=path))


def test_servo_that_holds_does_not_jump_to_its_limp_partner(bench, servos):
    servos[LEFT].set(sts3215.TORQUE_ENABLE, 1)
    servos[LEFT].set(sts3215.GOAL_POSITION, MIDDLE)
    servos[RIGHT].position = MIDDLE + 300
    bench.tick(3)
    with pytest.raises(StateError, match="would work against each other"):
        bench.controller.arm()
    bench.tick(10)
    assert servos[LEFT].get(sts3215.GOAL_POSITION) == MIDDLE
    assert torques(servos) == [0, 1, 0, 0]


def test_servos_that_pull_each_other_apart_lose_their_torque(bench, servos):
    bench.controller.arm()
    servos[LEFT].stops = (2000, 2050)
    goal = follow(bench, 0, 35, -35, path={})
    bench.tick(250)
    assert goal.done and bench.controller.state is DriverState.FAULT
    assert "They were released" in bench.message
    assert torques(servos) == [1, 0, 0, 1]


def test_diagnostics_name_every_servo(bench):
    publisher = pytest.importorskip("arm_hardware.ros.state_publisher")
    context = SimpleNamespace(
        robot="bus_arm",
        last_rejection="",
        driver=bench.driver,
        parameters=SimpleNamespace(options=bench.driver.options),
    )
    snapshot = bench.controller.snapshot()
    message = publisher.diagnostics("driver", context, snapshot, publisher.Time())
    keys = [value.key for value in message.status[0].values]
    for name in ("waist", "left", "right", "elbow"):
        assert f"{name}: temperature, supply, load, current" in keys


def test_release_takes_a_torque_that_an_earlier_driver_left(bench, servos):
    for servo in servos.values():
        servo.set(sts3215.TORQUE_ENABLE, 1)
    bench.controller.read()
    bench.controller.release("test.")
    assert not any(torques(servos))


def test_driver_that_never_armed_ends_without_releasing(bench, servos):
    for servo in servos.values():
        servo.set(sts3215.TORQUE_ENABLE, 1)
    bench.driver.close("release")
    assert all(torques(servos))


def test_joint_beyond_the_limit_by_another_joint_is_to_be_moved_by_hand(bench, servos):
    servos[ELBOW].position = MIDDLE + 30 * DEGREE
    bench.tick(3)
    with pytest.raises(StateError, match=r"allows -60 to 2 deg, but as measured .* by hand"):
        bench.controller.arm()
    assert not any(torques(servos))


def test_joint_just_beyond_the_limit_by_another_joint_is_moved_back(bench, servos):
    servos[ELBOW].position = MIDDLE + 3 * DEGREE
    bench.tick(3)
    bench.controller.arm()
    bench.tick(20)
    assert bench.controller.state is DriverState.ARMED
    assert servos[ELBOW].position == pytest.approx(MIDDLE + 2 * DEGREE, abs=1)


def test_messages_have_the_prefix_of_the_joints(make):
    bench = make(prefix="left_")
    bench.driver.open()
    servos = bench.driver.emulation.servos
    servos[ELBOW].position = MIDDLE + 30 * DEGREE
    bench.tick(3)
    with pytest.raises(StateError, match=r"^left_elbow: at left_shoulder 0 deg the linkage"):
        bench.controller.arm()
    with pytest.raises(CommandError, match=r"^left_elbow: at left_shoulder 20 deg") as caught:
        follow(bench, 0, 20, 0, path={})
    assert caught.value.joint == "left_elbow"
    servos[LEFT].position = MIDDLE + 20 * DEGREE
    with pytest.raises(StateError, match=r"^left_shoulder: its servos left_left and left_right d"):
        bench.controller.arm()


def test_blocked_joint_yields_within_limits_that_depend_on_others(bench, servos):
    bench.controller.arm()
    bench.tick(3)
    servos[ELBOW].stops = (MIDDLE - 8, MIDDLE + 8)
    goal = follow(bench, 0, 30, -30, path={"elbow": 0.1})
    bench.tick(300)
    assert goal.code == PATH_TOLERANCE_VIOLATED
    assert bench.controller.state is DriverState.ARMED
    snapshot = bench.controller.snapshot()
    assert snapshot.message.endswith("Holding where it is.")
    assert abs(snapshot.measured.loads[-1]) < 0.1
    assert servos[ELBOW].get(sts3215.GOAL_POSITION) == pytest.approx(MIDDLE - 8, abs=4)


def test_blocked_arm_plans_nothing_in_the_tick(bench, servos, monkeypatch):
    bench.controller.arm()
    bench.tick(3)
    servos[ELBOW].stops = (MIDDLE - 8, MIDDLE + 8)
    goal = follow(bench, 0, 0, -30, path={"elbow": 0.1})
    monkeypatch.setattr(controller, "plan_motion", None)
    bench.tick(300)
    assert goal.code == PATH_TOLERANCE_VIOLATED
    assert bench.controller.state is DriverState.ARMED
