# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Stiffness of servos by hung weights: found again, averaged, and nonsense refused."""

import math
from datetime import date
from types import SimpleNamespace

import pytest
from arm_hardware.bus.fake import FakeBus
from arm_hardware.bus.interface import FEETECH
from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.calibration.file import load_calibration
from arm_hardware.calibration.wizard.session import CalibrationSession
from arm_hardware.calibration.wizard.setpoints import MeasuredSetpoints, Setpoints
from arm_hardware.calibration.wizard.stiffness import HungWeight, mean_compliance
from arm_hardware.calibration.writing.template import template
from arm_testing.programs.terminal import TypedKeys

from arm_description import load_robot

ARM = load_robot("nut_arm")
THERE = {"waist": 0.2, "shoulder": 0.9, "elbow": 0.4, "wrist_roll": 0.1}
TRUE = {"waist": 5.0, "shoulder": 8.0, "elbow": 6.0, "wrist_roll": 4.0}
UNKNOWN = dict.fromkeys(TRUE, math.inf)


def hung(mass=0.1, frame="tool0", **moved):
    return HungWeight(ARM, THERE | moved, mass, frame)


def sink(weight, mass=0.1):
    return sum(mass * 9.81 * lever**2 / TRUE[name] for name, lever in weight.levers.items())


def test_stiffness_is_found_from_base_to_tip():
    at_elbow, at_tool = hung(0.4, "elbow_link"), hung()
    assert at_elbow.levers["elbow"] == pytest.approx(0.0, abs=1e-9)
    shoulder = at_elbow.compliance(["shoulder"], sink(at_elbow, 0.4), UNKNOWN)
    assert 1.0 / shoulder == pytest.approx(8.0, rel=1e-6)
    known = UNKNOWN | {"shoulder": 1.0 / shoulder}
    assert 1.0 / at_tool.compliance(["elbow"], sink(at_tool), known) == pytest.approx(6.0)


def test_stiffness_of_a_servo_that_answers_follows_from_its_turn():
    weight = hung()
    turn = -0.1 * 9.81 * weight.levers["shoulder"] / TRUE["shoulder"]
    assert 1.0 / weight.compliance_of_turn("shoulder", turn, 1e-3) == pytest.approx(8.0)
    with pytest.raises(ValueError, match="turned against the weight"):
        weight.compliance_of_turn("shoulder", -turn, 1e-3)
    with pytest.raises(ValueError, match="did not turn"):
        weight.compliance_of_turn("shoulder", 0.5 * turn, abs(turn))


@pytest.mark.parametrize(
    ("servo", "mm", "known", "why"),
    [
        ("waist", 5.0, TRUE, "tool0 is only 0 mm beside the axis of waist"),
        ("elbow", 5.0, UNKNOWN, "also bends shoulder, whose stiffness is not known"),
        ("elbow", 0.5, TRUE, "too little to be read"),
        ("elbow", -5.0, TRUE, "too little to be read"),
        ("elbow", math.nan, TRUE, "too little to be read"),
        ("elbow", 1.0, TRUE, "the other servos alone yield by"),
        ("elbow", 60.0, TRUE, "it does not hold this weight"),
    ],
)
def test_reading_that_makes_no_sense_is_refused(servo, mm, known, why):
    with pytest.raises(ValueError, match=why):
        hung().compliance([servo], mm * 1e-3, known)


@pytest.mark.parametrize(
    ("mass", "frame", "why"),
    [
        (0.0, "tool0", "is not a weight"),
        (math.nan, "tool0", "is not a weight"),
        (0.1, "tool", "there is no frame 'tool'"),
        (3.0, "tool0", "shoulder would need .* of its 0.9 N m to hold 3000 g there; take less"),
    ],
)
def test_weight_that_cannot_hang_there_is_refused(mass, frame, why):
    with pytest.raises(ValueError, match=why):
        hung(mass, frame)


def test_readings_are_averaged_unless_one_does_not_fit():
    assert mean_compliance([], 0.1) == 0.1
    assert mean_compliance([0.1, 0.14], 0.12) == pytest.approx(0.12)
    with pytest.raises(ValueError, match="a stiffness of 2, those before are of 8"):
        mean_compliance([0.125], 0.5)


HOLDING = {0: 333, 1: 425, 2: 360, 3: 320}  # counts near THERE


class YieldingBus(FakeBus):
    """Servos that answer; by ``turn`` counts the shoulder's yields once the weight hangs."""

    def __init__(self, turn):
        super().__init__()
        self.measures, self.turn, self.is_hung = True, turn, False
        self.counts = {1: 2178, 2: 2635, 3: 2308, 4: 2113, 5: 2048}

    def hang(self):
        self.is_hung = True

    def measure(self, channels):
        turn = self.turn if self.is_hung else 0
        return {c: SimpleNamespace(count=self.counts[c] + turn * (c == 2)) for c in channels}


def session(file, keys, bus=None):
    bus, screen = bus or FakeBus(), TypedKeys(*keys)
    bus.counts = dict(HOLDING) if not bus.counts else bus.counts
    calibration = load_calibration(file)
    kind = MeasuredSetpoints if bus.measures else Setpoints
    sent = kind(RetryingBus(bus), calibration)
    text = file.read_bytes()
    begun = CalibrationSession(text, text, calibration, sent, date.today(), ARM)
    with pytest.raises(KeyboardInterrupt):
        begun.run(screen)
    return screen.text()


def test_guided_readings_are_written_into_the_file(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(template(ARM))
    hang = ["s", "400 elbow_link"]
    keys = ["n", *hang, "6", *hang, "5", *hang, "14", *hang, "nothing", "s", "", "w", "y"]
    said = session(file, keys)
    assert said.count("the mean of") == 2 and "Not recorded: this is a stiffness of" in said
    assert "'nothing' is not a number" in said and "stiffness_nm_rad" in said
    weight = hung(0.4, "elbow_link")
    compliance = sum(weight.compliance(["shoulder"], mm * 1e-3, UNKNOWN) for mm in (6, 5)) / 2
    found = load_calibration(file).servos
    assert found["shoulder"].stiffness == pytest.approx(1.0 / compliance, rel=0.01)
    assert math.isinf(found["elbow"].stiffness)
    said = session(file, ["n", *hang, "6", "s", "0", "w"])
    assert "are forgotten" in said and "Nothing to write" in said


def test_guided_reading_needs_the_whole_arm_to_hold(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(template(ARM))
    bus = FakeBus()
    bus.counts = {1: 425}
    assert "waist and elbow and wrist_roll must hold, too (p)" in session(file, ["n", "s"], bus)
    assert "the gripper is not a joint" in session(file, ["b", "s"])


@pytest.mark.parametrize(("turn", "said"), [(1, "did not turn"), (-30, "against the weight")])
def test_servo_that_answers_measures_by_itself(tmp_path, turn, said):
    file = tmp_path / "mine.yaml"
    file.write_text(template(ARM, FEETECH))
    bus = YieldingBus(turn)
    assert said in session(file, ["n", "s", "200 tool0", bus.hang], bus)
    bus = YieldingBus(30)
    session(file, ["n", "s", "200 tool0", bus.hang, "w", "y"], bus)
    turned = 30 * math.tau / 4096
    torque = 0.2 * 9.81 * abs(hung(0.2).levers["shoulder"])
    found = load_calibration(file).servos["shoulder"].stiffness
    assert found == pytest.approx(torque / turned, rel=0.02)
