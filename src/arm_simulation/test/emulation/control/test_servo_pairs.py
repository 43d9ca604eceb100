# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Two mirrored servos on a joint, while the bus fails between them."""

import errno
import math
import os

import numpy as np
import pytest
from arm_hardware.bus.feetech import sts3215
from arm_hardware.control.snapshot import DriverState
from arm_hardware.errors import CalibrationError, HardwareError, StateError

from arm_description import parse_robot

ROBOT = """\
name: kit_arm
convention: standard
units: {length: mm, angle: deg}
joints:
  - {name: waist, type: revolute, d: 90, a: 0, alpha: 90,
     limits: {lower: -90, upper: 90, velocity: 300, acceleration: 3000}}
  - {name: shoulder, type: revolute, d: 0, a: 105, alpha: 0,
     limits: {lower: 0, upper: 120, velocity: 300, acceleration: 6000}}
transmissions:
  - {type: several, joint: shoulder, actuators: [left, right], mirrored: [false, true],
     allowed_difference: 3}
postures: {rest: {waist: 0, shoulder: 60}}
"""
SERVOS = """\
example: true
robot: kit_arm
board: {}
joints:
  waist: {channel: 0, points_deg_us: [[-90, 500], [90, 2500]], pulse_limits_us: [500, 2500]}
  left: {channel: 1, points_deg_us: [[-10, 600], [130, 2200]], pulse_limits_us: [500, 2500]}
  right: {channel: 2, points_deg_us: [[-130, 700], [10, 2310]], pulse_limits_us: [500, 2500]}
"""
LEFT, RIGHT = 1, 2


@pytest.fixture
def model():
    return parse_robot(ROBOT)


@pytest.fixture
def bench(tmp_path, make_bench):
    path = tmp_path / "kit_arm_servos.yaml"
    path.write_text(SERVOS)
    bench = make_bench(calibration=str(path))
    bench.driver.open()
    return bench


def counts(bench):
    return [bench.chip.count(channel) for channel in (LEFT, RIGHT)]


def difference(bench):
    """By how much the servos' pulses differ [deg]."""
    left, right = (
        bench.driver.output.maps[k].position_of(n) for k, n in enumerate(counts(bench), 1)
    )
    return abs(math.degrees(left + right))


@pytest.fixture
def at_write(bench, monkeypatch):
    """Call a function before each write to the bus, with its channels."""
    bus = bench.driver.bus
    write = bus.write_counts

    def install(act):
        def hooked(counts):
            act(set(counts))
            write(counts)

        monkeypatch.setattr(bus, "write_counts", hooked)

    return install


def failing(channel, number):
    def act(channels):
        if channel in channels:
            raise OSError(number, os.strerror(number))

    return act


@pytest.mark.parametrize("channel", [LEFT, RIGHT])
def test_failed_write_to_one_servo_leaves_both_where_they_were(bench, at_write, channel):
    bench.arm()
    bench.go(0.5, 2.0, time=0.6)
    bench.tick(16)  # about 2 deg a tick
    before = counts(bench)
    at_write(failing(channel, errno.EIO))
    bench.tick(3)
    assert bench.controller.state is DriverState.FAULT
    assert difference(bench) < 0.5
    assert counts(bench) == pytest.approx(before, abs=30)


@pytest.mark.parametrize("channel", [LEFT, RIGHT])
def test_servo_that_keeps_no_write_is_released_with_its_partner(bench, at_write, channel):
    bench.arm()
    bench.go(0.5, 2.0, time=0.6)
    bench.tick(16)  # about 2 deg a tick
    at_write(failing(channel, errno.EBADMSG))
    bench.tick(3)
    assert bench.controller.state is DriverState.FAULT
    assert counts(bench) == [0, 0]


@pytest.mark.parametrize("number", [errno.EIO, errno.EBADMSG])
@pytest.mark.parametrize("channel", [LEFT, RIGHT])
def test_servo_that_cannot_be_started_leaves_its_partner_limp(bench, at_write, channel, number):
    at_write(failing(channel, number))
    bench.controller.arm()
    bench.tick(50)
    assert bench.controller.state is DriverState.FAULT
    assert counts(bench) == [0, 0]


def test_partner_that_holds_a_load_keeps_it_if_the_other_cannot_be_started(bench, at_write):
    bench.arm()
    bench.driver.output.bus.release([RIGHT])
    bench.controller.disarm("test.")
    left = counts(bench)[0]
    at_write(failing(RIGHT, errno.EIO))
    bench.controller.arm()
    bench.tick(50)
    assert bench.controller.state is DriverState.FAULT
    assert counts(bench) == [left, 0]


def test_stop_between_the_two_writes_puts_the_first_servo_back(bench, at_write):
    bench.arm()
    bench.go(0.5, 2.0, time=0.6)
    bench.tick(16)  # about 2 deg a tick
    at_write(lambda channels: LEFT in channels and bench.controller.stop())
    bench.tick(3)
    assert bench.controller.state is DriverState.STOPPED
    assert difference(bench) < 0.5
    at_write(lambda channels: None)
    bench.controller.reset()
    goal = bench.go(0.0, 0.5, time=2.0)
    bench.tick(200)
    assert goal.outcome.name == "SUCCEEDED", goal.message


@pytest.mark.parametrize("phase", range(5, 30, 5))
def test_bus_lost_between_the_two_writes_leaves_no_more_than_is_allowed(bench, at_write, phase):
    bench.arm()
    bench.go(0.5, 2.0, time=0.6)
    bench.tick(phase)

    def cut(channels):
        if RIGHT in channels:
            bench.faults.fail()

    at_write(cut)
    bench.tick(20)
    bench.faults.clear()
    assert difference(bench) <= 3.0 + 1e-6


def test_servos_of_one_joint_move_at_most_the_allowed_difference_in_a_tick(bench):
    servos = bench.driver.axes.coupling.actuators[1:]
    for servo, count in zip(servos, (0.4274, 0.4247), strict=True):  # deg
        assert math.degrees(servo.velocity) * 0.02 == pytest.approx(3.0 - count, abs=0.01)
    assert bench.driver.axes.arm[0].velocity == pytest.approx(math.radians(300))


@pytest.mark.parametrize("model", [parse_robot(ROBOT.replace("difference: 3", "difference: 0.4"))])
def test_difference_below_a_count_is_refused(model, tmp_path, make_bench):
    path = tmp_path / "kit_arm_servos.yaml"
    path.write_text(SERVOS)
    with pytest.raises(CalibrationError, match=r"shoulder: .* 0.4 deg, no more than one count of"):
        make_bench(calibration=str(path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "channel: 2",
            "channel: 1",
            r"yaml:7: joints.right: has channel 1, which left already has",
        ),
        ("[[-130, 700], [10", "[[-130, 700], [-70", "position in common .* check sign and zero"),
        ("  right:", "  #right:", "'right' has no entry"),
        ("  left:", "  shoulder:", "'shoulder' is not an actuator of this robot; known are"),
        ("left: {channel: 1, points_deg", "left: {channel: 1, points_mm", "left: this axis needs"),
        ("left: {", "left: {limits_deg: [0, 20], ", "of the rest posture is .* outside of its"),
    ],
)
def test_wrong_calibration_of_a_pair_is_one_sentence(tmp_path, make_bench, old, new, message):
    path = tmp_path / "kit_arm_servos.yaml"
    text = SERVOS.replace("[[-10, 600], [130", "[[-10, 600], [40") if "[10" in old else SERVOS
    path.write_text(text.replace(old, new))
    with pytest.raises(HardwareError, match=message) as found:
        make_bench(calibration=str(path))
    assert "\n" not in str(found.value)


def test_servos_agree_at_every_tick_of_any_motion(bench):
    rng = np.random.default_rng(3)
    bench.arm()
    for _ in range(12):
        bench.go(float(rng.uniform(-1.5, 1.5)), float(rng.uniform(0.0, 2.0)), time=1.1)
        for _ in range(30):
            bench.tick()
            assert difference(bench) < 0.45  # half a count each


SERIAL = """\
example: true
robot: kit_arm
bus: {port: /dev/ttyACM0}
joints:
  waist: {id: 1, points_deg_counts: [[-90, 1024], [90, 3072]], count_limits: [1024, 3072]}
  left: {id: 2, points_deg_counts: [[-10, 1934], [130, 3527]], count_limits: [1934, 3527]}
  right: {id: 3, points_deg_counts: [[-130, 569], [10, 2162]], count_limits: [569, 2162]}
"""


@pytest.fixture
def serial(tmp_path, make_bench):
    pytest.importorskip("scservo_sdk")
    path = tmp_path / "kit_arm_bus.yaml"
    path.write_text(SERIAL)
    bench = make_bench(backend="feetech", calibration=str(path))
    bench.servos = bench.driver.emulation.servos
    bench.servos[2].position, bench.servos[3].position = 2700.0, 1396.0  # 57.3 deg both
    bench.driver.open()
    return bench


def torques(bench):
    return [servo.get(sts3215.TORQUE_ENABLE) for servo in bench.servos.values()]


def test_pair_that_answers_is_armed_where_it_is(serial):
    serial.controller.arm()
    for _ in range(20):
        serial.tick()
        assert serial.servos[2].position == pytest.approx(2700, abs=1.5)
        assert serial.servos[3].position == pytest.approx(1396, abs=1.5)
    assert serial.controller.state is DriverState.ARMED and all(torques(serial))


def test_pair_that_stands_apart_gets_no_torque(serial):
    serial.servos[3].position = 1396.0 - 60  # 5.3 deg
    with pytest.raises(StateError, match=r"left and right differ by 5\..* Bring them together"):
        serial.controller.arm()
    assert not any(torques(serial))


def test_pair_that_comes_apart_is_a_fault(serial):
    serial.controller.arm()
    serial.tick(5)
    serial.servos[3].stops = (1390.0, 1402.0)  # its gear is blocked
    serial.go(0.0, 1.4, time=1.5)
    serial.tick(100)
    assert serial.controller.state is DriverState.FAULT
    assert "left and right differ by" in serial.message
