# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""LeRobot's calibrations. The file has the form that lerobot-calibrate writes."""

import json
import math
from datetime import date
from pathlib import Path

import pytest
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.file import load_calibration, parse_calibration
from arm_hardware.calibration.servo_needs import check_ranges
from arm_hardware.calibration.writing.lerobot import (
    calibration_text,
    lerobot_text,
    load_lerobot,
    read_lerobot,
)
from arm_hardware.commands.doctor_checks import check_calibration
from arm_hardware.commands.lerobot import main
from arm_hardware.errors import CalibrationError
from hypothesis import given
from hypothesis import strategies as st

from arm_description import load_robot, parse_robot

PAIR = """\
name: pair
convention: standard
units: {length: mm, angle: deg}
joints:
  - {name: waist, type: revolute, d: 92, a: 0, alpha: 90,
     limits: {lower: -80, upper: 80, velocity: 90}}
  - {name: shoulder, type: revolute, d: 0, a: 135, alpha: 0,
     limits: {lower: -80, upper: 80, velocity: 60}}
postures:
  rest: {waist: 0, shoulder: 0}
transmissions:
  - {type: several, joint: shoulder, actuators: [left, right], mirrored: [false, true],
     allowed_difference: 3}
"""
JOINTS = ("waist", "shoulder", "elbow", "wrist_roll", "gripper")


def motor(number, least=1000, most=3001, offset=-512, drive_mode=0):
    return {
        "id": number,
        "drive_mode": drive_mode,
        "homing_offset": offset,
        "range_min": least,
        "range_max": most,
    }


MOTORS = {joint: motor(i + 1) for i, joint in enumerate(JOINTS)}


def imported(motors, model, tmp_path, names=None):
    text = calibration_text(motors, model, "/dev/ttyACM0", names or {}, "arm.json")
    return parse_calibration(text.encode(), tmp_path / "arm.yaml")


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1900), st.integers(2100, 4095), st.integers(-2047, 2047), st.booleans()
        ),
        min_size=5,
        max_size=5,
    )
)
def test_export_returns_what_was_imported(model, tmp_path_factory, rows):
    motors = {
        joint: motor(i, least, most, offset, int(turned))
        for i, (joint, (least, most, offset, turned)) in enumerate(zip(JOINTS, rows, strict=True))
    }
    found = imported(motors, model, tmp_path_factory.getbasetemp())
    assert json.loads(lerobot_text(found, {})) == motors


def test_angles_are_those_of_lerobot_but_for_its_4095_counts(model, tmp_path):
    """LeRobot: (count - middle) * 360 / 4095; drive_mode negates, as it does percentages."""
    motors = MOTORS | {"shoulder": motor(2, 700, 2900, drive_mode=1)}
    maps = imported(motors, model, tmp_path).maps(axes_of(model))
    for joint, sign, middle in ((0, 1, 2000.5), (1, -1, 1800.0)):
        for count in (1100, 1500, 2500):
            degrees = sign * (count - middle) * 360.0 / 4095.0
            found = math.degrees(maps[joint].position_of(count))
            assert found == pytest.approx(degrees, rel=3e-4, abs=1e-6)


def test_limits_and_offset_are_kept(model, tmp_path):
    found = imported(MOTORS, model, tmp_path)
    assert found.maps(axes_of(model))[0].counts == (1000, 3001)
    assert found.board.servos[1].homing_offset == -512 and found.board.servos[1].name == "waist"
    assert not found.example


def test_motors_have_other_names(model, tmp_path):
    motors = {"shoulder_pan" if j == "waist" else j: m for j, m in MOTORS.items()}
    names = {"waist": "shoulder_pan"}
    found = imported(motors, model, tmp_path, names)
    assert json.loads(lerobot_text(found, names)) == motors
    with pytest.raises(CalibrationError, match=r"no motor waist.*--motor waist=NAME, of shoulder"):
        imported(motors, model, tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        (chr(91) * 100_000, "is not JSON"),
        (r'{"a\ud800": {}}', "half a character"),
        ("[]", "has no motors"),
        ('{"a": {"id": 1}}', "a: needs id, drive_mode"),
        (json.dumps({"a": motor(1) | {"range_min": 3001}}), "range_min must be below"),
        (json.dumps({"a": motor(1) | {"range_max": 4096}}), "a.range_max: must be a whole number"),
        (json.dumps({"a": motor(1) | {"homing_offset": 2048}}), "from -2047 to 2047"),
        (json.dumps({"a": motor(1) | {"drive_mode": True}}), "a.drive_mode: must be a whole"),
    ],
)
def test_wrong_file_is_one_sentence(text, words):
    with pytest.raises(CalibrationError) as caught:
        read_lerobot(text, "arm.json")
    assert words in str(caught.value) and str(caught.value).startswith("arm.json")


SO101 = {
    "shoulder_pan": motor(1, 811, 3326, 908),
    "shoulder_lift": motor(2, 810, 3205, -2014),
    "elbow_flex": motor(3, 828, 3043, 177),
    "wrist_flex": motor(4, 883, 3217, 85),
    "wrist_roll": motor(5, 0, 4095, -57),
    "gripper": motor(6, 1526, 2741, -132),
}


def test_so101_of_lerobot_is_driven_and_exported_again(tmp_path):
    model = load_robot("so101")
    found = imported(SO101, model, tmp_path)
    assert json.loads(lerobot_text(found, {})) == SO101
    axes, maps = found.narrowed(axes_of(model)), found.maps(axes_of(model))
    for axis, joint in zip(axes.arm, model.joints, strict=True):
        assert joint.lower <= axis.lower < 0.0 < axis.upper <= joint.upper
    claw = axes.claw(axes.gripper)
    assert axes.gripper.lower == pytest.approx(claw.width(claw.closed))
    assert maps[-1].count_of(claw.width(claw.closed)) == 1526
    quarter = claw.closed + math.pi / 4  # 512 counts: the jaw turns with its servo
    assert maps[-1].count_of(claw.width(quarter)) == 1526 + 512


def test_motor_without_joint_is_refused(model, tmp_path):
    with pytest.raises(CalibrationError, match="motor wrist_flex, which no joint of nut_arm uses"):
        imported(MOTORS | {"wrist_flex": motor(9)}, model, tmp_path)


@pytest.mark.parametrize(
    ("motors", "names", "words"),
    [
        (MOTORS | {"elbow": motor(2)}, {}, "arm.json: elbow: has the id 2 of shoulder; give each"),
        (MOTORS, {"elbw": "elbow"}, "no use for --motor elbw=elbow, as nut_arm has no joint elbw"),
        (
            {name: MOTORS[name] for name in JOINTS[:-1]},
            {},
            "for an arm without jaws, give a robot file without a gripper",
        ),
    ],
)
def test_motors_that_do_not_fit_are_refused(motors, names, words, model, tmp_path):
    with pytest.raises(CalibrationError, match=words):
        imported(motors, model, tmp_path, names)


def test_joint_that_is_not_at_0_in_the_middle_cannot_be_exported(model, tmp_path):
    text = calibration_text(MOTORS, model, "/dev/ttyACM0", {}, "arm.json")
    moved = text.replace("count_limits: [1000, 3001]", "count_limits: [1000, 2900]", 1)
    with pytest.raises(CalibrationError, match="waist: is at 0 at count 2000, but LeRobot's"):
        lerobot_text(parse_calibration(moved.encode(), tmp_path / "arm.yaml"), {})


def test_unknown_homing_offset_is_not_exported_as_0(model, tmp_path):
    """LeRobot writes the offset to the servo, whose counts would then mean other angles."""
    text = calibration_text(MOTORS, model, "/dev/ttyACM0", {}, "arm.json")
    unknown = text.replace(", homing_offset: -512", "", 1)
    with pytest.raises(CalibrationError, match=r"waist: needs homing_offset.*servos lists"):
        lerobot_text(parse_calibration(unknown.encode(), tmp_path / "arm.yaml"), {})


def test_motors_are_those_of_actuators(tmp_path):
    model = parse_robot(PAIR)
    motors = {name: motor(i) for i, name in enumerate(("waist", "left", "right"))}
    found = imported(motors, model, tmp_path)
    assert [servo.channel for servo in found.maps(axes_of(model))] == [0, 1, 2]
    assert json.loads(lerobot_text(found, {})) == motors
    with pytest.raises(CalibrationError, match="no motor right for the actuator right"):
        imported({name: motors[name] for name in ("waist", "left")}, model, tmp_path)


def test_board_cannot_be_exported(calibration):
    with pytest.raises(CalibrationError, match="is for a PCA9685"):
        lerobot_text(calibration, {})


def test_command_imports_and_exports(tmp_path, capsys):
    source, made, back = (str(tmp_path / name) for name in ("a.json", "a.yaml", "b.json"))
    (tmp_path / "a.json").write_text(json.dumps(MOTORS))
    assert main(["import", source, "--robot", "nut_arm", "-o", made]) == 0
    assert main(["export", made, "-o", back]) == 0
    assert json.loads((tmp_path / "b.json").read_text()) == MOTORS
    assert main(["export", made, "-o", back]) == 1
    assert "already exists; give another name" in capsys.readouterr().err


FILES = Path(__file__).parent / "lerobot"
ARM = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")


def import_file(name, tmp_path, *more):
    return main(
        ["import", str(FILES / name), "--robot", "so101", "-o", str(tmp_path / "my.yaml"), *more]
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "lerobot_across_the_seam.json",
            "shoulder_lift: was recorded over 360 deg (counts 0 to 4095), but the joint has 200",
        ),
        (
            "lerobot_joint_not_swept.json",
            "wrist_flex: was recorded over 1.3 deg (counts 2040 to 2055), but the joint has 190",
        ),
        ("lerobot_old_format.json", "LeRobot's format of before May 2025"),
        ("lerobot_with_wheels.json", "--motor shoulder_pan=NAME"),
    ],
)
def test_file_that_does_not_fit_is_refused_with_what_to_do(name, words, tmp_path, capsys):
    assert import_file(name, tmp_path) == 1
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1
    assert not (tmp_path / "my.yaml").exists()


@pytest.mark.parametrize("how", ["only", "without"])
def test_wheels_are_left_out(how, tmp_path, capsys):
    names = [f"--motor={joint}=arm_{joint}" for joint in ARM]
    assert import_file("lerobot_with_wheels.json", tmp_path, *names) == 1
    wheels = ["base_left_wheel", "base_back_wheel", "base_right_wheel"]
    assert f"--without {' '.join(wheels)}" in capsys.readouterr().err
    motors = wheels if how == "without" else [f"arm_{joint}" for joint in ARM]
    assert import_file("lerobot_with_wheels.json", tmp_path, *names, f"--{how}", *motors) == 0
    assert set(load_calibration(tmp_path / "my.yaml").servos) == set(ARM)


def test_motor_to_leave_out_must_be_in_the_file(tmp_path, capsys):
    assert import_file("lerobot_with_wheels.json", tmp_path, "--without", "base_left_whel") == 1
    assert "did you mean 'base_left_wheel'" in capsys.readouterr().err


def test_doctor_finds_the_same_in_a_calibration(tmp_path):
    motors = load_lerobot(FILES / "lerobot_joint_not_swept.json")
    text = calibration_text(motors, load_robot("so101"), "/dev/ttyACM0", {}, "a.json")
    (tmp_path / "my.yaml").write_text(text)
    result, _ = check_calibration(tmp_path / "my.yaml", True, date(2026, 1, 1))
    assert not result.ok and "recorded over 1.3 deg" in result.detail


@pytest.mark.parametrize(
    ("span", "fits"), [(0.59, False), (0.61, True), (1.24, True), (1.26, False)]
)
def test_range_may_be_from_0_6_to_1_25_of_the_joints(span, fits, tmp_path):
    model = load_robot("so101")
    motors = load_lerobot(FILES / "lerobot_across_the_seam.json")
    half = round(0.5 * span * 2.0 * 1.74533 / (2.0 * math.pi) * 4096)
    motors["shoulder_lift"] |= {"range_min": 2048 - half, "range_max": 2048 + half}
    made = imported(motors, model, tmp_path)
    if fits:
        check_ranges(made, model)
        return
    with pytest.raises(CalibrationError, match="shoulder_lift"):
        check_ranges(made, model)


def test_joint_that_turns_on_and_the_rolling_wrist_may_have_a_full_turn(model, tmp_path):
    made = imported(MOTORS | {"wrist_roll": motor(4, 0, 4095)}, model, tmp_path)
    check_ranges(made, model)
    made = imported(MOTORS | {"elbow": motor(3, 0, 4095)}, model, tmp_path)
    with pytest.raises(CalibrationError, match=r"elbow.*360 deg .*but the joint has 180 deg"):
        check_ranges(made, model)
