# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import contextlib
import errno
import math
import re
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from arm_hardware.bus.fake import FakeBus
from arm_hardware.bus.interface import FEETECH
from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.calibration.calibration import ServoCalibration, axes_of
from arm_hardware.calibration.file import BOARD_WIRES, load_calibration, parse_calibration
from arm_hardware.calibration.selection import config_folder
from arm_hardware.calibration.wizard.session import CalibrationSession
from arm_hardware.calibration.wizard.setpoints import (
    HELP,
    MEASURED_HELP,
    MeasuredSetpoints,
    Setpoints,
)
from arm_hardware.calibration.writing.changes import CalibrationDraft
from arm_hardware.calibration.writing.template import template
from arm_testing.programs.terminal import TypedKeys
from hypothesis import given
from hypothesis import strategies as st

from arm_description import load_robot, shipped_robots

TODAY = date(2026, 5, 17)


@pytest.fixture
def file(tmp_path, calibration_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(calibration_path.read_bytes())
    return path


def run(file, text, bus, script):
    calibration = parse_calibration(text, file)
    pulses = (MeasuredSetpoints if bus.measures else Setpoints)(RetryingBus(bus), calibration)
    CalibrationSession(text, text, calibration, pulses, TODAY).run(script)


def typed(file, bus, *keys):
    script = TypedKeys(*keys)
    with pytest.raises(KeyboardInterrupt):
        run(file, file.read_bytes(), bus, script)
    return script


WAIST = ["p", "y", *["<"] * 10, "m", "-45", *[">"] * 20, "m", "42.5"]


def test_measured_points_are_written_and_comments_kept(file, calibration):
    before = file.read_text()
    script = typed(file, FakeBus(), *WAIST, "w", "y")
    found = load_calibration(file).servos["waist"]
    low, high = 207 * 4.88, 407 * 4.88
    assert found.calibrated == TODAY
    there = [(math.radians(-45), low), (math.radians(42.5), high)]
    np.testing.assert_allclose(found.points, there, atol=1e-3)
    assert found.setpoint_limits == pytest.approx((low, high), abs=1e-3)
    comments = re.compile(r"^ *#.*", re.MULTILINE)
    assert comments.findall(before) == comments.findall(file.read_text())
    assert load_calibration(file).servos["elbow"] == calibration.servos["elbow"]
    assert file.with_name("mine.yaml.1.bak").read_text() == before
    assert "-    {channel: 0" in script.text() and "+    {channel: 0" in script.text()
    assert "Still to be measured: shoulder, elbow, wrist_roll, gripper" in script.text()


def test_backups_are_numbered_and_never_overwritten(file):
    typed(file, FakeBus(), *WAIST, "w", "y", ">", "]", "w", "y")
    backups = sorted(path.name for path in file.parent.glob("*.bak"))
    assert backups == ["mine.yaml.1.bak", "mine.yaml.2.bak"]
    assert load_calibration(file).servos["waist"].setpoint_limits[1] == pytest.approx(417 * 4.88)


def test_what_another_program_wrote_meanwhile_is_not_overwritten(file):
    text = file.read_bytes()
    other = text.replace(b"0x40", b"0x41")
    file.write_bytes(other)
    script = TypedKeys(*WAIST, "w", "y")
    with pytest.raises(KeyboardInterrupt):
        run(file, text, FakeBus(), script)
    assert "mine.yaml: was changed by another program; open it again" in script.text()
    assert file.read_bytes() == other and not list(file.parent.glob("*.bak"))


def test_nothing_is_written_without_confirmation(file):
    before = file.read_bytes()
    script = typed(file, FakeBus(), *WAIST, "w", "n", "q", "n")
    assert file.read_bytes() == before and not list(file.parent.glob("*.bak"))
    assert "-45 deg: 1010" in script.shown


def test_file_is_no_example_once_every_servo_is_measured(file):
    each = [key for _ in range(5) for key in ("p", "y", "m", "1", ">", "m", "2", "n")]
    typed(file, FakeBus(), *each, "w", "y")
    done = load_calibration(file)
    assert not done.example and done.oldest == TODAY


def test_first_pulse_is_confirmed_and_in_the_middle(file):
    bus = FakeBus()
    script = typed(file, bus, ">", "p", "n", "m", "[")
    assert not bus.counts and script.text().count("gets no pulses yet") == 3
    assert "AT ONCE" in script.text()
    typed(file, bus, "p", "y")
    assert bus.counts == {0: round(1500 / 4.88)}


def test_pulses_already_sent_by_the_board_are_kept(file):
    bus = FakeBus()
    bus.counts = {1: 333}
    script = typed(file, bus, "n", "p", ".")
    assert bus.counts == {1: 334}
    assert "shoulder gets pulses of 1625 us and holds" in script.text()


@given(
    keys=st.lists(st.sampled_from([*"pynbrmc.,<>[]ukwh?x qgtl+-", "up", "down", "12", "-7", ""]))
)
def test_no_key_sequence_leaves_the_safe_range_or_starts_a_servo_unconfirmed(calibration, keys):
    """Whatever is typed: each change of a pulse is a step, and the first one was agreed to."""
    seen = []

    class Watching(FakeBus):
        def write_counts(self, counts):
            for channel, count in counts.items():
                seen.append((self.counts.get(channel), count, script.shown))
            super().write_counts(counts)

    script = TypedKeys(*keys)
    with contextlib.suppress(KeyboardInterrupt):
        run(Path("/nowhere/mine.yaml"), calibration.path.read_bytes(), Watching(), script)
    for before, count, shown in seen:
        assert 400.0 <= count * 4.88 <= 2600.0
        assert "Send it?" in shown if before is None else abs(count - before) <= 10
    assert "Traceback" not in script.text()


def test_steps_end_at_the_safe_range(file):
    bus = FakeBus()
    script = typed(file, bus, "p", "y", *[">"] * 40)
    assert 2600.0 - 10 * 4.88 < bus.counts[0] * 4.88 <= 2600.0
    assert "safe_pulses_us" in script.text()


def test_bus_failure_is_one_sentence_and_keeps_the_pulse(file):
    class Failing(FakeBus):
        def write_counts(self, counts):
            if self.counts:
                raise OSError(errno.EREMOTEIO, "Remote I/O error")
            super().write_counts(counts)

    bus = Failing()
    script = typed(file, bus, "p", "y", ".", ".")
    assert script.text().count("does not answer") == 2
    assert bus.counts == {0: 307}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["m", "north"], "'north' is not a number"),
        (["m", "nan"], "nan is not finite"),
        (["m", "3", "m", "4"], "neither rise nor fall"),
        (["m", "3", ">", "m", "4", ">", "m", "3.5"], "neither rise nor fall"),
        (["w"], "Nothing to write"),
        (["x"], "Unknown key 'x'"),
        (["r", "y", "c", "1"], "channel 1 is that of shoulder"),
        (["r", "y", "c", "16"], "'16' is not 0 to 15"),
        (["r", "y", "c", "-1"], "'-1' is not 0 to 15"),
        (["]", "w", "["], "never longer than 1498 us"),
    ],
)
def test_bad_input_is_explained(file, keys, message):
    assert message in typed(file, FakeBus(), "p", "y", *keys).text()


def test_channel_of_a_joint_is_changed_and_its_pulses_go_there(file, calibration):
    bus = FakeBus()
    typed(file, bus, "c", "9", "p", "y", "w", "y")
    assert bus.counts == {9: 307}
    found = load_calibration(file).servos
    assert {name: servo.channel for name, servo in found.items()}["waist"] == 9
    assert all(found[name] == calibration.servos[name] for name in found if name != "waist")


def test_channel_with_pulses_is_adopted_and_one_in_use_is_kept(file):
    bus = FakeBus()
    bus.counts = {9: 333}
    assert "1625.0 us" in typed(file, bus, "c", "9").shown  # 333 * 4.88
    assert "; r releases it" in typed(file, bus, "c", "9", "c").text()
    script = typed(file, bus, "c", "9", ".", "r", "y", "c", "0", "p", "y")
    assert bus.counts == {0: 307} and "Not changed" not in script.text()


def test_invalid_calibration_is_not_written(file):
    before = file.read_bytes()
    script = typed(file, FakeBus(), "p", "y", ">", "]", "<", "<", ">", "[", "w")
    assert file.read_bytes() == before
    script = typed(file, FakeBus(), "p", "y", "]", ">", "[", "w", "y")
    assert "pulse_limits_us: must" in script.text() and file.read_bytes() == before


def test_limits_shrink_to_the_measured_range(file):
    keys = ["n"] * 3 + ["p", "y", "<", "m", "-10", ">", ">", "m", "20", "w", "y"]
    typed(file, FakeBus(), *keys)
    roll = load_calibration(file).servos["wrist_roll"]
    assert roll.limits == pytest.approx((math.radians(-10), math.radians(20)))


def test_points_can_be_added_to_the_files_points_and_undone():
    servo = ServoCalibration(0, "rad", ((-1.0, 1000.0), (1.0, 2000.0)), (500.0, 2500.0), -1, 0.5)
    draft = CalibrationDraft(servo, BOARD_WIRES)
    assert draft.values(TODAY) == {}
    draft.keep_file_points()
    draft.add(draft.point(0.0, 0.0, 1700.0))
    points = [(-1.0, 1000.0), (0.5, 1700.0), (1.0, 2000.0)]
    np.testing.assert_allclose(draft.result(TODAY).points, points, atol=1e-4)
    draft.undo()
    assert len(draft.points) == 2
    assert draft.joint_position(math.degrees(0.5)) == pytest.approx(0.0)


class Guided(FakeBus):
    """Servos that answer, and a hand that turns the limp ones to `places` [counts]."""

    def __init__(self):
        super().__init__()
        self.measures = True
        self.places = dict.fromkeys(range(254), 2048)
        self.sent = []

    def measure(self, channels):
        return {c: SimpleNamespace(count=self.counts.get(c) or self.places[c]) for c in channels}

    def write_counts(self, counts):
        self.sent += [(self.measure([c])[c].count, n) for c, n in counts.items()]
        super().write_counts(counts)


class Hand(TypedKeys):
    """The same terminal; a whole number typed as a key turns the servo with the id 1 there."""

    def __init__(self, bus, *keys):
        super().__init__(*keys)
        self.bus = bus

    def key(self):
        key = super().key()
        if isinstance(key, int):
            self.bus.places[1] = key
            return " "
        return key

    def line(self):
        return str(super().key())


@pytest.fixture
def answering(tmp_path):
    path = tmp_path / "answering.yaml"
    path.write_text(template(load_robot("nut_arm"), FEETECH))
    return path


def guided(file, *keys):
    bus = Guided()
    script = Hand(bus, *keys)
    with pytest.raises(KeyboardInterrupt):
        run(file, file.read_bytes(), bus, script)
    return bus, script


def test_limp_servo_is_measured_where_a_hand_turns_it(answering):
    keys = [1500, "m", "-45", 2600, "m", "51", 1480, "[", 2620, "]", "w", "y"]
    bus, script = guided(answering, *keys)
    waist = load_calibration(answering).servos["waist"]
    there = [(math.radians(-45), 1500), (math.radians(51), 2600)]
    np.testing.assert_allclose(waist.points, there, atol=1e-9)
    assert waist.setpoint_limits == (1480, 2620) and waist.calibrated == TODAY
    assert bus.sent == [] and "waist (id 1)  2620 counts, limp" in script.shown
    assert "points_deg_counts: [[-45, 1500], [51, 2600]]" in answering.read_text()
    assert "never less than 1480 counts" in script.text()


def test_servo_that_answers_is_held_where_it_is_and_moved_by_counts(answering):
    bus, script = guided(answering, 1700, "p", ">", ",", "r", "y", 1900)
    assert bus.sent == [(1700, 1700), (1700, 1710), (1710, 1709)]
    assert "1900 counts, limp" in script.shown and "AT ONCE" not in script.text()


@given(
    keys=st.lists(st.sampled_from([*"pynbrmc.,<>[]ukwh x", "up", "down", "12", "-7", 77, 4000]))
)
def test_no_key_sequence_moves_a_servo_that_answers_by_more_than_ten_counts(keys):
    bus, file = Guided(), Path("/nowhere/mine.yaml")
    with contextlib.suppress(KeyboardInterrupt):
        run(file, template(load_robot("nut_arm"), FEETECH).encode(), bus, Hand(bus, *keys))
    assert all(abs(after - before) <= 10 and 0 <= after <= 4095 for before, after in bus.sent)


@pytest.mark.parametrize("robot", ["nut_arm", "so101", "five_axis"])
def test_template_of_servos_that_answer_is_a_valid_example(robot, tmp_path):
    model = load_robot(robot)
    made = parse_calibration(template(model, FEETECH).encode(), tmp_path / "new.yaml")
    assert made.example and made.board.port == "/dev/ttyACM0"
    axes = made.narrowed(axes_of(model))
    assert all(axis.lower < axis.upper for axis in axes)
    assert [servo.channel for servo in made.servos.values()][:4] == [1, 2, 3, 4]


def test_template_of_an_arm_shipped_with_a_bus_is_for_a_bus(tmp_path):
    made = parse_calibration(template(load_robot("so101")).encode(), tmp_path / "new.yaml")
    shipped = load_calibration(config_folder() / "so101_servos.yaml")
    assert {n: s.channel for n, s in made.servos.items()} == {
        n: s.channel for n, s in shipped.servos.items()
    }


@pytest.mark.parametrize("robot", sorted(shipped_robots()))
def test_template_of_every_robot_is_a_valid_example(robot, tmp_path):
    model = load_robot(robot)
    made = parse_calibration(template(model).encode(), tmp_path / "new.yaml")
    assert made.example and made.oldest is None and made.robot == model.name
    assert {*model.joint_names} <= set(made.servos)


@pytest.mark.parametrize("robot", ["nut_arm", "five_axis"])
def test_template_has_the_channels_of_the_shipped_calibration(robot, tmp_path):
    """The tutorial, the picture of the wires and the simulation use these, too."""
    made = parse_calibration(template(load_robot(robot)).encode(), tmp_path / "new.yaml")
    shipped = load_calibration(config_folder() / f"{robot}_servos.yaml")
    for name, servo in shipped.servos.items():
        assert made.servos[name].channel == servo.channel, name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "does not exist; give --robot ROBOT"),
        (["--robot", "nobody"], "nobody"),
        (["--robot", "nut_arm"], "is not a terminal"),
    ],
)
def test_failed_start_is_one_sentence(tmp_path, capsys, monkeypatch, arguments, message):
    from arm_hardware.commands import calibrate

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", (tmp_path / "x").open("w+"))
    assert calibrate.main(["mine.yaml", "--backend", "i2c_dev", *arguments]) == 1
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


@pytest.mark.parametrize("text", [HELP, MEASURED_HELP])
def test_every_key_is_in_the_help(text):
    for key in "nbp.,<>mukc[]rgtl+-whq":
        assert f" {key} " in text, key
