# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Rehearsed failures, on a simulated board and on simulated smart servos."""

import math
import re
from contextlib import suppress
from pathlib import Path

import pytest
from arm_hardware.bus.feetech import sts3215
from arm_hardware.bus.feetech.bus import FeetechBus
from arm_hardware.bus.interface import SerialBus
from arm_hardware.control.snapshot import DriverState
from arm_hardware.errors import BusError, StateError
from arm_simulation.emulation.board import DisturbedServo
from arm_simulation.emulation.rehearsal import EVENTS
from arm_testing.waiting import wait_for

from arm_description import load_robot

DEG = math.radians(1.0)
IDS = (1, 2, 3, 4, 6)
OBJECT = 0.025  # [m]


@pytest.fixture
def board(make_bench):
    """Return an armed arm on a simulated PCA9685."""
    return make_bench().armed()


@pytest.fixture
def serial(make_feetech):
    """Return an armed arm on simulated smart servos."""
    return make_feetech().armed()


@pytest.fixture(params=["board", "serial"])
def arm(request):
    return request.getfixturevalue(request.param)


def happen(arm, *words):
    return arm.driver.rehearsal.happen(*words)


def state(arm):
    return arm.controller.state


def elbow(arm):
    """Return where the elbow really is [deg]."""
    line = happen(arm, "show").splitlines()[2]
    assert line.startswith("elbow (")
    return float(line.split()[-2])


def restore_and_arm(arm):
    happen(arm, "restore")
    assert "nothing fails" in happen(arm, "show")
    arm.tick(60)
    arm.arm()
    assert state(arm) is DriverState.ARMED
    goal = arm.go(0.1, -0.1, 0.2, 0.0)
    arm.tick(150)
    assert goal.done and elbow(arm) == pytest.approx(0.2 / DEG, abs=1.5)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("unplug", "elbow"), "Servo 3 (elbow) of /dev/ttyACM0 is silent"),
        (("unplug", "3"), "Servo 3 (elbow) of /dev/ttyACM0 is silent"),
        (("unplug", "bus"), "the serial port is gone): plug the adapter in again"),
        (("supply", "", 3.9), "has a supply of 3.9 V, outside of its limits"),
        (("supply", "", 0.0), "is silent"),
        (("push", "elbow", 10 * DEG), "elbow (servo 3) is overloaded"),
        (("push", "elbow", -10 * DEG), "elbow (servo 3) is overloaded"),
    ],
    ids=["joint", "id", "bus", "low", "off", "push up", "push down"],
)
def test_servos_that_answer_report_what_fails(serial, words, reason):
    happen(serial, *words)
    serial.tick(150)
    assert state(serial) is DriverState.FAULT and reason in serial.message
    restore_and_arm(serial)


def test_servo_without_its_plug_is_limp_until_it_is_armed_again(serial):
    happen(serial, "unplug", "elbow")
    happen(serial, "push", "elbow", 20 * DEG)
    serial.tick(60)
    happen(serial, "let_go", "elbow")
    happen(serial, "plug", "elbow")
    serial.tick(60)
    assert state(serial) is DriverState.FAULT and elbow(serial) == pytest.approx(20.0, abs=1.0)
    serial.arm()
    serial.tick(10)
    assert elbow(serial) == pytest.approx(20.0, abs=1.0)  # nothing moves


@pytest.mark.parametrize(
    "words",
    [("unplug", "elbow"), ("unplug", "2"), ("supply", "", 0.0), ("push", "elbow", 10 * DEG)],
    ids=["joint", "channel", "supply", "push"],
)
def test_hobby_servos_report_nothing(board, words):
    happen(board, *words)
    before = elbow(board)
    goal = board.go(0.1, -0.1, 0.6, 0.0)
    board.tick(150)
    assert state(board) is DriverState.ARMED and goal.done
    assert board.controller.command()[0][2] == pytest.approx(0.6, abs=0.01)
    held = 10.0 if words[0] == "push" else before
    assert elbow(board) == pytest.approx(held, abs=1.5)
    happen(board, "restore")
    board.tick(100)
    assert elbow(board) == pytest.approx(0.6 / DEG, abs=1.5)  # it jumps to its pulse


def test_low_supply_makes_hobby_servos_slow():
    moved = {}
    for volts in (4.8, 3.0):
        servo = DisturbedServo(1000.0)
        servo.voltage = volts
        servo.command(2000.0, 0.0)
        moved[volts] = servo.position(0.05) - 1000.0
    assert moved[3.0] == pytest.approx(3.0 / 4.8 * moved[4.8])


def test_board_that_does_not_answer_is_a_fault(board):
    happen(board, "unplug", "bus")
    board.tick(30)
    assert state(board) is DriverState.FAULT and "then run" in board.message
    with pytest.raises(BusError):
        board.arm()
    restore_and_arm(board)


def grip(arm, width):
    goal = arm.controller.grip(width)
    for _ in range(500):
        if goal.done:
            return goal
        arm.tick()
    raise AssertionError("the grip does not end")


def jaws(arm):
    line = next(x for x in happen(arm, "show").splitlines() if x.startswith("gripper ("))
    return 1e-3 * float(line.split()[-2])


def test_object_in_the_jaws_is_felt_by_servos_that_answer(serial):
    grip(serial, 0.03)
    happen(serial, "object", "", OBJECT)
    goal = grip(serial, 0.0)
    assert goal.stalled and jaws(serial) == pytest.approx(OBJECT, abs=5e-4)
    happen(serial, "object", "", 0.0)
    assert not grip(serial, 0.0).stalled and jaws(serial) < 5e-3


def test_object_in_the_jaws_of_hobby_servos_is_not_noticed(board):
    grip(board, 0.03)
    board.tick(50)
    happen(board, "object", "", OBJECT)
    goal = grip(board, 0.0)
    board.tick(50)
    assert not goal.stalled and jaws(board) == pytest.approx(OBJECT, abs=5e-4)


def test_jaws_are_pushed_in_millimetres(serial):
    happen(serial, "slide", "gripper", -0.004)
    before = jaws(serial)
    serial.tick(30)
    assert jaws(serial) == pytest.approx(before - 0.004, abs=5e-4)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("unplgu", "elbow"), "did you mean 'unplug'?"),
        (("unplug", "elbw"), "There is no servo 'elbw'; did you mean 'elbow'?"),
        (("unplug", "17"), "There is no servo '17'"),
        (("push", "", 0.1), "There is no servo ''"),
        (("push", "bus", 0.1), "There is no servo 'bus'"),
        (("push", "gripper", 0.1), "moves in millimetres; use the event slide"),
        (("slide", "elbow", 0.1), "moves in degrees; use the event push"),
        (("push", "elbow", math.nan), "push: nan is not a finite number"),
        (("supply", "", -1.0), "-1 V is not within 0 to 15 V"),
        (("supply", "", 16.0), "16 V is not within"),
        (("object", "", 0.3), "300 mm does not fit: the jaws open to"),
        (("object", "", -0.01), "-10 mm does not fit"),
    ],
)
def test_impossible_event_is_one_sentence_and_changes_nothing(arm, words, reason):
    before = happen(arm, "show")
    with pytest.raises(StateError) as caught:
        happen(arm, *words)
    text = str(caught.value)
    assert reason in text and "\n" not in text and text.endswith(".")
    assert happen(arm, "show") == before


def test_object_wider_than_the_jaws_stand_is_refused(arm):
    grip(arm, 0.01)
    arm.tick(50)
    with pytest.raises(StateError, match=r"25 mm does not fit: the jaws are at \d+\.\d mm; open"):
        happen(arm, "object", "", OBJECT)


def test_arm_without_gripper_takes_no_object(make_bench):
    made = make_bench(load_robot("planar2"))
    with pytest.raises(StateError, match="has no gripper"):
        happen(made, "object", "", OBJECT)


def test_what_lasts_is_listed(arm):
    grip(arm, 0.03)
    arm.tick(50)
    for event in EVENTS:
        if event.name not in ("show", "plug", "let_go", "restore"):
            servo = "gripper" if event.name == "slide" else "elbow"
            happen(arm, event.name, servo if event.servo else "", 0.02)
    shown = [line for line in happen(arm, "show").splitlines() if line.startswith("- ")]
    assert len(shown) == 5
    restore_and_arm(arm)


def answers(call):
    """Return what a call of a bus returns, None where a busy computer was too slow for it."""
    with suppress(OSError):
        return call()
    return None


def test_another_program_reaches_the_servos_of_a_running_driver(serial):
    port = re.search(r"serial port (\S+)$", happen(serial, "show"))[1]
    bus = FeetechBus(SerialBus(port), port)
    bus.open()
    try:
        serial.tick(5)
        wait_for(lambda: answers(lambda: bus.measure(IDS)), "measurements")
        assert state(serial) is DriverState.ARMED
        wait_for(lambda: answers(lambda: bus.release([3]) or True), "the end of its torque")
        serial.tick(10)
    finally:
        bus.close()
    assert state(serial) is DriverState.FAULT
    assert "Servo 3 (elbow) of /dev/ttyACM0 was switched off by another program" in serial.message
    assert not serial.driver.emulation.servos[3].get(sts3215.TORQUE_ENABLE)
    restore_and_arm(serial)


def test_ports_are_gone_with_the_driver(serial):
    ports = [Path(serial.driver.emulation.path), Path(serial.driver.emulation.port)]
    assert all(port.exists() for port in ports)
    serial.close()
    assert not any(port.exists() or port.parent.exists() for port in ports)
