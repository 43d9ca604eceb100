# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The calibration guides a person through gears, linkages and servos that share a joint."""

import contextlib
import math
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from arm_description.model.transmissions.transmission import Drivetrain
from arm_hardware.bus.fake import FakeBus
from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.file import load_calibration, parse_calibration
from arm_hardware.calibration.wizard import setpoints as setpoints_module
from arm_hardware.calibration.wizard.mechanisms import Mechanism, inclinometer_laws, link_readings
from arm_hardware.calibration.wizard.session import CalibrationSession
from arm_hardware.calibration.wizard.setpoints import Setpoints
from arm_hardware.calibration.writing.template import template
from arm_hardware.commands import calibrate
from arm_testing.files.robot_files import KIT
from arm_testing.programs.terminal import TypedKeys
from hypothesis import given
from hypothesis import strategies as st

from arm_description import load_robot, parse_robot, shipped_robots

MEASURED = """\
robot: kit_arm
board: {}
joints:
  waist: {channel: 0, points_deg_us: [[-90, 500], [90, 2500]], pulse_limits_us: [500, 2500]}
  left: {channel: 1, points_deg_us: [[-10, 600], [130, 2200]], pulse_limits_us: [600, 2200],
    calibrated: 2026-05-17}
  right: {channel: 2, points_deg_us: [[-130, 700], [10, 2310]], pulse_limits_us: [700, 2310],
    calibrated: 2026-05-17}
  elbow: {channel: 3, points_deg_us: [[-90, 500], [90, 2500]], pulse_limits_us: [500, 2500]}
"""
COUNT = 4.88  # [us]


def typed(model, text, keys, path, bus=None):
    """Type keys into a calibration; return all that was said, the last status, and the bus."""
    bus, screen = bus or FakeBus(), TypedKeys(*keys)
    calibration = parse_calibration(text.encode(), path)
    pulses = Setpoints(RetryingBus(bus), calibration)
    read = Path(path).read_bytes() if Path(path).exists() else None
    session = CalibrationSession(
        text.encode(), read, calibration, pulses, date(2026, 5, 18), model
    )
    with contextlib.suppress(KeyboardInterrupt):
        session.run(screen)
    return screen.text(), screen.shown, bus


@pytest.fixture
def kit():
    return parse_robot(KIT)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mine.yaml"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(setpoints_module, "TAP", 0.0)


@pytest.mark.parametrize(
    ("robot", "actuator", "sentences"),
    [
        ("mearm", "waist", ["moves waist.", "vertical axis", "protractor"]),
        ("mearm", "elbow", ["elbow against shoulder, over a parallelogram", "inclinometer app"]),
        ("eezybotarm_mk2", "waist", ["a gear, 2.0497 turns", "t\nfinds the ratio"]),
        ("nut_arm", "elbow", ["moves elbow.", "elbow = -(elbow's link less shoulder's", "lowers"]),
        (
            "learm",
            "elbow",
            ["elbow = ", "at m, of elbow and shoulder_lift."],
        ),
    ],
)
def test_guide_says_what_moves_and_how_it_is_measured(robot, actuator, sentences):
    text = Mechanism(load_robot(robot), actuator).guide()
    for sentence in (*sentences, "Which servo is it?", "Limits: f"):
        assert sentence in text, text


@pytest.mark.parametrize("name", sorted(shipped_robots()))
def test_readings_of_an_inclinometer_give_the_joints_back(name):
    model, rng = load_robot(name), np.random.default_rng(0)
    laws = inclinometer_laws(model)
    low, high = np.maximum(model.lower, -3.1), np.minimum(model.upper, 3.1)
    for q in rng.uniform(low, high, (20, model.n)):
        shown = link_readings(model, q)
        for joint, law in laws.items():
            expected = q[model.joint_names.index(joint)]
            assert law.position(shown) == pytest.approx(expected, abs=math.radians(0.2)), law


def test_laws_do_not_depend_on_whole_turns_of_the_limits():
    model = load_robot("nut_arm")
    joints = [replace(j, lower=j.lower + math.tau, upper=j.upper + math.tau) for j in model.joints]
    laws = inclinometer_laws(model)
    turned = inclinometer_laws(replace(model, joints=tuple(joints)))
    assert turned.keys() == laws.keys()
    for joint, law in turned.items():
        assert (law.before, law.sign) == (laws[joint].before, laws[joint].sign)
        assert law.offset == pytest.approx(laws[joint].offset, abs=1e-9)


@pytest.mark.parametrize(
    ("robot", "servo", "typed", "joint"),
    [  # a link that leans forwards lowers its end; the arm's zero is upright
        ("nut_arm", "shoulder", [70.0], 20.0),
        ("nut_arm", "elbow", [-50.0, 70.0], 30.0),
        ("learm", "shoulder_lift", [80.0], -10.0),
        ("learm", "elbow", [110.0, 80.0], 30.0),
        ("mearm", "shoulder", [100.0], 100.0),
    ],
)
def test_sign_and_zero_of_readings_are_those_of_the_robot_file(robot, servo, typed, joint):
    mechanism = Mechanism(load_robot(robot), servo)
    assert mechanism.from_readings(typed) == pytest.approx([joint], abs=0.1)


def test_readings_are_typed_and_computed(path):
    model = load_robot("nut_arm")
    keys = ["n", "p", "y", "m", "i 70", "m", "i", "n", "p", "y", "m", "i -50 70"]
    said, shown, _ = typed(model, template(model), keys, path)
    assert "shoulder is at 20.0 deg" in said and "elbow is at 30.0 deg" in said
    assert "Not recorded: the readings on shoulder are needed." in said
    assert shown.startswith("elbow (channel 2)") and "new points: 30 deg:" in shown
    said, _, _ = typed(model, template(model), ["p", "y", "m", "i 3"], path)
    assert "Not recorded: an inclinometer cannot measure waist." in said


@pytest.mark.parametrize("name", ["nut_arm", "mearm", "eezybotarm_mk1", "eezybotarm_mk2", "learm"])
def test_measured_joints_become_positions_of_the_actuator(name):
    model, rng = load_robot(name), np.random.default_rng(0)
    for q in rng.uniform(model.lower, model.upper, (20, model.n)):
        actuators = Drivetrain.of(model).to_actuators(q)
        for actuator, expected in zip(Drivetrain.of(model).actuators, actuators, strict=True):
            mechanism = Mechanism(model, actuator)
            joints = [math.degrees(q[model.joint_names.index(j)]) for j in mechanism.joints]
            found = mechanism.actuator_position(joints, math.radians(1.0))
            assert found == pytest.approx(math.degrees(expected), abs=1e-9)


def test_points_measured_at_the_joints_drive_the_arm_right(path):
    """Known servos are found again from positions of the joints alone."""
    model = load_robot("eezybotarm_mk2")
    text = template(model)

    def joint_at(us):  # a geared waist whose servo turns 180 deg in 1900 us
        return (us - 1470) * 180 / 1900 / 2.0497

    keys, count = ["p", "y"], 307
    for steps in (-10, 10, 10):
        count += 10 * steps
        keys += [">" if steps > 0 else "<"] * 10
        keys += ["m", f"{joint_at(count * COUNT):.3f}"]
    typed(model, text, [*keys, "w", "y"], path)
    servo = load_calibration(path).maps(axes_of(model))[0]
    actuator = Drivetrain.of(model).to_actuators(np.radians([12.0, 70.0, -100.0]))[0]
    assert joint_at(servo.count_of(actuator) * COUNT) == pytest.approx(12.0, abs=0.15)


GEAR = [(-21.6, 1010), (0.3, 1498), (22.0, 1986)]


def test_ratio_of_a_gear_follows_from_three_positions():
    mechanism = Mechanism(load_robot("eezybotarm_mk2"), "waist")
    joints, pulses = zip(*GEAR, strict=True)
    found = re.match(
        r"mechanical_reduction: ([\d.]+) .* robot file has 2.0497",
        mechanism.gear(joints, pulses, 1000),
    )
    assert float(found[1]) == pytest.approx(976 / 1000 * 90 / 43.6, abs=1e-3)
    doubled = mechanism.gear(joints, pulses, 500)
    assert float(doubled.split()[1]) == pytest.approx(2 * float(found[1]), rel=1e-3)


@pytest.mark.parametrize(
    ("actuator", "joints", "reason"),
    [
        ("waist", [-20, 20], "measure three positions of it first"),
        ("waist", [-2, 0, 2], "within 4 deg; measure farther apart"),
        ("waist", [-21, 9, 22], "up to 6 deg from a line, so this gear has no fixed ratio"),
        ("elbow", [-21, 0, 22], "elbow does not move elbow over a gear"),
    ],
)
def test_ratio_that_cannot_be_found_is_refused_with_the_reason(actuator, joints, reason):
    mechanism = Mechanism(load_robot("eezybotarm_mk2"), actuator)
    with pytest.raises(ValueError, match=re.escape(reason).replace("6", r"5.\d")):
        mechanism.gear(joints, [1010, 1498, 1986][: len(joints)], 1000)


@pytest.mark.parametrize(
    ("lengths", "answer"),
    [
        ([105, 30, 105, 31], "closes for -140 to -20 deg"),
        ([105.4, 30, 105, 31], r"the servo would be up to \d[\d.]* deg away"),
    ],
)
def test_measured_lengths_of_a_crank_are_checked(kit, lengths, answer):
    assert re.search(answer, Mechanism(kit, "elbow").linkage(lengths))


@pytest.mark.parametrize(
    ("robot", "actuator", "lengths", "reason"),
    [
        (None, "elbow", [300, 30, 105, 31], "cannot close for any position of elbow"),
        (None, "elbow", [105, 30, 112, 31], "only closes for .* reduce the limits"),
        (None, "elbow", [105, 30, 105], "four lengths above 0 are needed"),
        (None, "elbow", [105, 0, 105, 31], "four lengths above 0 are needed"),
        (None, "left", [105, 30, 105, 31], "moves shoulder without a linkage"),
        ("eezybotarm_mk2", "elbow", [135, 60, 130, 60], "not a parallelogram; write type: crank"),
    ],
)
def test_lengths_that_cannot_be_right_are_refused(kit, robot, actuator, lengths, reason):
    mechanism = Mechanism(load_robot(robot) if robot else kit, actuator)
    with pytest.raises(ValueError, match=reason):
        mechanism.linkage(lengths)


def test_equal_bars_are_a_parallelogram():
    mechanism = Mechanism(load_robot("eezybotarm_mk2"), "elbow")
    assert "A parallelogram" in mechanism.linkage([135, 60, 135.3, 60.4])


def test_second_servo_of_a_joint_gets_no_pulse_before_both_are_measured(kit, path):
    text, _, bus = typed(kit, template(kit), ["n", "p", "y", "n", "p", "y"], path)
    assert set(bus.counts) == {1} and "first measure left and right, the other one limp" in text


def test_second_servo_starts_where_the_first_holds_the_joint(kit, path):
    keys = ["n", "p", "y", *[">"] * 5, "n", "p", "y"]
    text, _, bus = typed(kit, MEASURED, keys, path)
    assert "right turns AT ONCE to the position where left holds" in text
    maps = parse_calibration(MEASURED.encode(), path).maps(axes_of(kit))
    left, right = (maps[k].position_of(bus.counts[k]) for k in (1, 2))
    assert math.degrees(left + right) == pytest.approx(0.0, abs=0.25)


@given(
    keys=st.lists(st.sampled_from(["n", "b", "p", "y", ".", ">", "<", ",", "+", "-", "r", "f"]))
)
def test_no_keys_let_two_servos_work_against_each_other(keys):
    kit = parse_robot(KIT)
    maps = parse_calibration(MEASURED.encode(), "x").maps(axes_of(kit))
    apart = []

    class Watching(FakeBus):
        def write_counts(self, counts):
            super().write_counts(counts)
            if {1, 2} <= {c for c, n in self.counts.items() if n is not None}:
                left, right = (maps[k].position_of(self.counts[k]) for k in (1, 2))
                apart.append(abs(math.degrees(left + right)))

    start = ["n", "p", "y", "n", "p", "y"]
    typed(kit, MEASURED, start + keys, "x", Watching())
    assert max(apart) <= 3.0 + 0.45  # allowed, and one write before the other


def test_aligned_servos_are_recorded_together(kit, path):
    keys = ["n", "p", "y", "n", "p", "y", "+", "+", "m", "61"]
    _, shown, _ = typed(kit, MEASURED, keys, path)
    assert "-61 deg" in shown
    _, shown, _ = typed(kit, MEASURED, [*keys, "b"], path)
    assert " 61 deg" in shown


TOGETHER = ["n", "p", "y", "n", "p", "y"]  # right is the present one, left holds


def test_point_that_contradicts_those_of_one_servo_is_recorded_for_none(kit, path):
    keys = ["n", "p", "y", "m", "60", ">", "m", "64", "n", "p", "y", "m", "70"]
    text, shown, _ = typed(kit, MEASURED, keys, path)
    assert "Not recorded: with the other points" in text and shown.endswith("none")
    _, shown, _ = typed(kit, MEASURED, [*keys, "b"], path)
    assert shown.endswith("64 deg: 1449, 60 deg: 1401")


def test_undo_removes_a_point_from_all_servos_that_it_was_recorded_for(kit, path):
    text, shown, _ = typed(kit, MEASURED, [*TOGETHER, "m", "61", "u"], path)
    assert shown.endswith("none") and "removed from right and left" in text
    for keys in ("u", "b"), ("b", "u"):
        _, shown, _ = typed(kit, MEASURED, [*TOGETHER, "m", "61", *keys], path)
        assert shown.endswith("none")


def test_servos_that_share_a_joint_are_released_together(kit, path):
    keys = ["n", "p", "y", "n", "p", "y", "r", "y"]
    _, _, bus = typed(kit, MEASURED, keys, path)
    assert not any(bus.counts.get(k) for k in (1, 2))


def test_pair_with_unmeasured_pulses_on_the_board_is_not_moved(kit, path):
    bus = FakeBus()
    bus.counts = {1: 300, 2: 300}
    text, _, _ = typed(kit, template(kit), ["n", ">", "+"], path, bus)
    assert bus.counts == {1: 300, 2: 300} and "not measured, so they cannot move" in text


def test_stop_is_felt_with_short_pushes_only(kit, path):
    pulsing = []

    class Watching(FakeBus):
        def release(self, channels):
            super().release(channels)
            pulsing.append(dict(self.counts))

    keys = ["p", "y", "f", "y", *["."] * 4, "]", "n"]
    text, _, _ = typed(kit, MEASURED, keys, path, Watching())
    assert len(pulsing) == 6 and not any(any(c.values()) for c in pulsing)  # after each of them
    assert "never longer than 1518 us" in text and "waist is limp" in text
    text, _, _ = typed(kit, MEASURED, ["n", "p", "y", "n", "p", "y", "f"], path)
    assert "Not with left holding the joint" in text


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError])
def test_interrupted_push_ends_and_the_servo_is_limp(kit, path, monkeypatch, error):
    bus, pushes = FakeBus(), []

    def sleep(_):
        pushes.append(bus.counts[0])
        raise error

    monkeypatch.setattr(setpoints_module, "time", SimpleNamespace(sleep=sleep))
    calibration = parse_calibration(MEASURED.encode(), path)
    pulses = Setpoints(RetryingBus(bus), calibration)
    session = CalibrationSession(MEASURED.encode(), None, calibration, pulses, date.today(), kit)
    with pytest.raises(error):
        session.run(TypedKeys("p", "y", "f", "y", "."))
    assert pushes == [308] and not any(bus.counts.values())


def test_tap_ends_its_pulse_when_it_is_interrupted(path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    bus = FakeBus()
    pulses = Setpoints(RetryingBus(bus), parse_calibration(MEASURED.encode(), path))
    pulses.first("waist")
    monkeypatch.setattr(setpoints_module, "time", SimpleNamespace(sleep=interrupt))
    with pytest.raises(KeyboardInterrupt):
        pulses.tap("waist", 10)
    assert not any(bus.counts.values())


def test_servo_that_feels_is_limp_however_the_session_ends(kit, path):
    calibration = parse_calibration(MEASURED.encode(), path)
    pulses = Setpoints(RetryingBus(FakeBus()), calibration)
    session = CalibrationSession(MEASURED.encode(), None, calibration, pulses, date.today(), kit)
    with pytest.raises(KeyboardInterrupt):
        session.run(TypedKeys("p", "y", "f", "y"))
    assert pulses.counts["waist"] is None


def test_gripper_and_plain_joints_refuse_what_they_do_not_have(path):
    model = load_robot("mearm")
    text, _, _ = typed(model, template(model), ["b", "t", "l", "g"], path)
    assert text.count("the gripper is not a joint") == 2 and "gripper: Which servo" in text
    text, _, _ = typed(None, template(model), ["t", "l"], path)
    assert text.count("start with --robot") == 2


def test_robot_of_another_file_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(template(load_robot("mearm")))
    assert calibrate.main(["mine.yaml", "--robot", "nut_arm", "--hardware", "sim"]) == 1
    assert "is for robot 'mearm', not 'nut_arm'" in capsys.readouterr().err
