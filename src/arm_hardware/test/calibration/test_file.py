# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import copy
import math
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
import yaml
from arm_description.model.gripper import Claw
from arm_description.model.units import SHOWN
from arm_hardware.calibration.axes import check_position
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.file import load_calibration, parse_calibration
from arm_hardware.calibration.selection import calibration_path as find
from arm_hardware.calibration.selection import config_folder
from arm_hardware.errors import CalibrationError, CommandError
from hypothesis import given
from hypothesis import strategies as st

from arm_description import load_robot


@pytest.fixture(scope="module")
def loaded(calibration_path):
    return yaml.safe_load(calibration_path.read_text())


@pytest.fixture
def content(loaded):
    return copy.deepcopy(loaded)


@pytest.fixture
def load(tmp_path):
    def loaded(content):
        path = tmp_path / "servos.yaml"
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return load_calibration(path)

    return loaded


def refused(load, content) -> CalibrationError:
    with pytest.raises(CalibrationError) as caught:
        load(content)
    sentence = str(caught.value)
    assert sentence.startswith(caught.value.file) and "\n" not in sentence
    return caught.value


def waist(**changes):
    return lambda content: content["joints"]["waist"].update(changes)


def test_shipped_file_is_an_example_with_the_documented_channels(calibration, model):
    assert calibration.example
    channels = {name: servo.channel for name, servo in calibration.servos.items()}
    assert channels == {"waist": 0, "shoulder": 1, "elbow": 2, "wrist_roll": 3, "gripper": 5}
    assert calibration.robot == model.name


def test_shipped_maps_cover_the_model(calibration, model):
    axes = axes_of(model)
    for axis, servo in zip(axes, calibration.maps(axes), strict=True):
        assert servo.lower <= axis.lower + 1e-9 and axis.upper - 1e-9 <= servo.upper
    waist = calibration.maps(axes)[0]
    assert waist.setpoint_of(math.pi / 2) == pytest.approx(2500.0)


@pytest.mark.parametrize("path", sorted(config_folder().glob("*_servos.yaml")))
def test_shipped_files_reach_all_that_their_robots_can(path):
    """A narrower one would make the driver reject what a plan for the robot may demand."""
    calibration = load_calibration(path)
    axes = axes_of(load_robot(calibration.robot))
    for axis, narrow in zip(axes, calibration.narrowed(axes), strict=True):
        assert (narrow.lower, narrow.upper) == (axis.lower, axis.upper), axis.name


@pytest.mark.parametrize(
    ("change", "key", "says"),
    [
        (lambda c: c.update(colour=1), "colour", "is not a known key"),
        (waist(angle=3), "joints.waist.angle", "is not a known"),
        (lambda c: c["board"].update(adress=64), "board.adress", "did you mean 'address'"),
        (lambda c: c.pop("robot"), "", "has no 'robot'"),
        (lambda c: c.update(example="yes"), "example", "true or false"),
        (lambda c: c.update(board=[]), "board", "mapping"),
        (lambda c: c["board"].update(address=0x80), "board.address", "7-bit"),
        (lambda c: c["board"].update(frequency_hz=1000), "board.frequency_hz", "from 24 to 400"),
        (lambda c: c["board"].update(reference_clock_hz=math.nan), "board", "finite"),
        (waist(channel=16), "joints.waist.channel", "0 to 15"),
        (waist(channel=True), "joints.waist.channel", "0 to 15"),
        (waist(channel=5), "gripper", "channel 5, which waist"),
        (lambda c: c["joints"]["waist"].pop("points_deg_us"), "joints.waist", "has no 'poi"),
        (lambda c: c["gripper"].update(points_deg_us=[[0, 600]]), "gripper", "not both"),
        (waist(points_mm_us=[[0, 600]]), "waist", "not both"),
        (lambda c: _misspell(c, "pulse_limit_us"), "pulse_limit_us", "mean 'pulse_limits_us'"),
        (lambda c: _misspell(c, "point_deg_us"), "point_deg_us", "mean 'points_deg_us'"),
        (waist(sign=0), "waist.sign", "1 or -1"),
        (waist(sign=True), "waist.sign", "1 or -1"),
        (waist(zero_deg="x"), "waist.zero_deg", "finite number"),
        (waist(speed_deg_s=0), "speed_deg_s", "above 0"),
        (waist(calibrated="May 5"), "calibrated", "2026-05-17"),
        (waist(limits_deg=[9, -9]), "limits_deg", "must rise"),
        (lambda c: c["joints"]["wrist_roll"].update(zero_deg=5), "limits_deg", "allow, -95 to 85"),
        (lambda c: c.update(safe_pulses_us=[0, 5000]), "safe_pulses_us", "100 to 4000"),
        (waist(pulse_limits_us=[300, 2500]), "pulse_limits_us", "400 to 2600 us; if your servo"),
        (waist(points_deg_us=[[0, 1500]]), "points_deg_us", "2 or more points"),
        (waist(points_deg_us=[[0, 1500], [0, 1600]]), "points_deg_us", "rise from point"),
        (waist(points_deg_us=[[0, 1500], [1, 1600], [2, 1550]]), "points_deg_us", "throughout"),
        (waist(points_deg_us=[[0, 1500], [1, 1500]]), "points_deg_us", "throughout"),
        (waist(points_deg_us=[[0, 50], [1, 1500]]), "points_deg_us", "100 to 4000"),
        (waist(points_deg_us=[[0, "x"], [1, 1500]]), "points_deg_us", "finite number"),
        (waist(points_deg_us=[[0], [1, 1500]]), "points_deg_us", "2 numbers"),
        (waist(points_deg_us=7), "points_deg_us", "list"),
        (waist(pulse_limits_us=[2500, 500]), "pulse_limits_us", "must rise"),
        (waist(pulse_limits_us=[2510, 2550]), "pulse_limits_us", "overlap"),
        (lambda c: c["joints"]["waist"].pop("pulse_limits_us"), "waist", "no 'pulse_limits_us'"),
        (lambda c: c["board"].update(frequency_hz=400), "", "longer than the period"),
    ],
)
def test_each_error_names_its_key(load, content, change, key, says):
    change(content)
    error = refused(load, content)
    assert key in error.key and says in str(error)


def test_servo_number_that_yaml_reads_as_another_is_refused(load, calibration_path):
    text = calibration_path.read_text()
    assert "channel: 1," in text
    error = refused(load, text.replace("channel: 1,", "channel: 010,"))
    assert error.key.endswith(".channel") and "YAML reads it as 8" in error.remedy


def _misspell(content, key):
    waist = content["joints"]["waist"]
    waist[key] = waist.pop(key.replace("point_", "points_").replace("limit_", "limits_"))


def test_wider_pulse_limits_need_safe_pulses_us(load, content):
    content["safe_pulses_us"] = [300, 2800]
    waist(pulse_limits_us=[300, 2800])(content)
    content["joints"]["waist"]["points_deg_us"][2] = [90, 2800]
    servo = load(content).servos["waist"]
    assert servo.setpoint_limits == (300.0, 2800.0)


@given(
    st.sampled_from([1, -1]),
    st.floats(-60.0, 60.0),
    st.sampled_from([[500, 1500, 2500], [2450, 1300, 600]]),
    st.floats(0.0, 1.0),
)
def test_servo_angle_is_sign_times_joint_angle_plus_zero(loaded, sign, zero, pulses, share):
    points = list(zip((-90, 10, 90), pulses, strict=True))
    data = copy.deepcopy(loaded)
    waist = {"channel": 0, "sign": sign, "zero_deg": zero, "pulse_limits_us": [500, 2500]}
    data["joints"]["waist"] = {**waist, "points_deg_us": [list(p) for p in points]}
    servo = parse_calibration(yaml.safe_dump(data).encode(), Path("x.yaml")).servos["waist"]
    axis = servo.map(4.88)
    joint = axis.lower + share * (axis.upper - axis.lower)
    stands = sign * math.degrees(joint) + zero
    rising = points if pulses[0] < pulses[-1] else points[::-1]
    angles, widths = zip(*rising, strict=True)
    assert np.interp(axis.setpoint_of(joint), widths, angles) == pytest.approx(stands, abs=1e-6)


def test_file_limits_and_speeds_narrow_the_axes(load, content, model):
    waist = content["joints"]["waist"]
    waist.update(limits_deg=[-30, 40], speed_deg_s=90, zero_deg=10)
    content["joints"]["elbow"].pop("speed_deg_s")
    axes = load(content).narrowed(axes_of(model))
    first, elbow = axes.arm[0], axes.arm[2]
    assert (first.lower, first.upper) == pytest.approx((math.radians(-30), math.radians(40)))
    assert first.velocity == pytest.approx(math.radians(90))
    assert elbow.velocity == axes_of(model).arm[2].velocity
    assert axes.gripper and axes.gripper.upper == pytest.approx(0.03)


def test_messages_say_whose_limits_hold_and_in_which_units(load, content, model):
    joints = content["joints"]
    joints["waist"].update(limits_deg=[-30, 40])
    joints["elbow"].update(points_deg_us=[[-32, 1100], [56, 1900]], zero_deg=0)
    waist, shoulder, elbow = load(content).narrowed(axes_of(model)).arm[:3]
    with pytest.raises(CommandError, match=r"limits -30 deg to 40 deg, those of the servo file\."):
        check_position(waist, 1.0, units=SHOWN)
    with pytest.raises(
        CommandError,
        match=r"60 deg is 4 deg outside of its limits -32 deg to 56 deg, those of your measured",
    ):
        check_position(elbow, math.radians(60), units=SHOWN)
    with pytest.raises(CommandError, match=r"2 rad is 0\.\d+ rad outside of its limits [^,]*\.$"):
        check_position(shoulder, 2.0)


def test_file_is_as_old_as_its_oldest_servo(load, content, calibration):
    assert calibration.oldest is None
    days = ["2026-05-17", "2025-12-31", "2026-01-01", "2026-02-02"]
    for day, servo in zip(days, content["joints"].values(), strict=True):
        servo["calibrated"] = day
    assert load(content).oldest is None, "the gripper was never measured"
    content["gripper"]["calibrated"] = date(2026, 3, 3)
    assert load(content).oldest == date(2025, 12, 31)


def test_duplicate_joint_is_rejected(load, calibration_path):
    text = calibration_path.read_text().replace("  shoulder:", "  waist:")
    assert "joints.waist: is given twice" in str(refused(load, text))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b"a: 1\nb: [\n", ":3: "),
        (b"a: \xff", ":1: is not UTF-8"),
        (b"[" * 5000, "nested too deeply"),
        (b"joints: &a {b: *a}", "must not contain itself"),
    ],
)
def test_malformed_files_are_rejected(data, says):
    with pytest.raises(CalibrationError, match=says):
        parse_calibration(data, Path("servos.yaml"))


def test_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(CalibrationError, match="cannot be read"):
        load_calibration(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c["joints"].pop("elbow"), "'elbow' has no entry"),
        (lambda c: c["joints"].update(tail=c["joints"].pop("elbow")), "'tail' is not a joint"),
        (
            lambda c: c["joints"].update(elbow={**c["gripper"], "channel": 7}),
            "needs points_deg_us",
        ),
    ],
)
def test_maps_must_fit_the_robot(load, content, model, change, says):
    change(content)
    with pytest.raises(CalibrationError, match=says):
        load(content).maps(axes_of(model))


@pytest.fixture
def clawed(model):
    claw = Claw(length=0.05, pivots=0.02, closed=-math.asin(0.2), open=math.radians(60))
    grip = replace(model.gripper, claw=claw, max_width=claw.width(claw.open), velocity=9.0)
    return replace(model, gripper=grip)


def test_a_claw_is_calibrated_in_angles_and_driven_in_widths(load, content, clawed):
    content["gripper"] = {
        "channel": 5,
        "points_deg_us": [[-20, 1000], [70, 1900]],
        "pulse_limits_us": [1000, 1900],
        "limits_deg": [0, 50],
        "speed_deg_s": 100,
    }
    axes = axes_of(clawed)
    servo, claw = load(content), clawed.gripper.claw
    narrow = servo.narrowed(axes).gripper
    ends = claw.width(0.0), claw.width(math.radians(50))
    assert (narrow.lower, narrow.upper) == pytest.approx(ends)
    assert narrow.velocity == pytest.approx(math.radians(100) * claw.slope(claw.open))
    half = servo.maps(axes)[-1].setpoint_of(claw.width(math.radians(25)))
    assert half == pytest.approx(1450.0)


def test_a_claw_needs_angles(load, content, clawed):
    with pytest.raises(CalibrationError, match="points_deg_us"):
        load(content).maps(axes_of(clawed))


def test_files_are_found_by_path_name_and_robot(calibration_path):
    folder = calibration_path.parent
    assert find("", "nut_arm", folder) == calibration_path
    assert find("nut_arm_servos", "other", folder) == calibration_path
    assert find(str(calibration_path), "other", folder) == calibration_path
    with pytest.raises(CalibrationError, match=r"for robot 'puma560'.*nut_arm_servos"):
        find("", "puma560", folder)
    with pytest.raises(CalibrationError, match="'nothing'"):
        find("nothing", "nut_arm", folder)


OLD_FILE = b"""\
example: true
robot: nut_arm

board:
  address: 0x40               # PCA9685 with all address jumpers open (NXP data sheet, section 7.1)
  frequency_hz: 50            # analogue servos want 50
  reference_clock_hz: 25000000  # nominal; real oscillators differ by some percent

joints:
  waist:      {channel: 0, points_deg_us: [[-90, 500], [0, 1500], [90, 2500]],
    pulse_limits_us: [500, 2500]}
  shoulder:   {channel: 1, sign: -1, zero_deg: 5, points_deg_us: [[-90, 520], [90, 2410]],
    pulse_limits_us: [520, 2410]}
  elbow:      {channel: 2, points_deg_us: [[-90, 2500], [90, 500]],
    pulse_limits_us: [600, 2400], speed_deg_s: 300}
  wrist_roll: {channel: 3, points_deg_us: [[-90, 500], [90, 2500]],
    pulse_limits_us: [500, 2500], limits_deg: [-80, 80]}

gripper:
  channel: 5
  points_mm_us: [[0, 1000], [30, 2000]]
  pulse_limits_us: [1000, 2000]
"""


def test_files_from_before_transmissions_mean_what_they_meant():
    """The counts are those of servo = sign * joint + zero, computed by hand."""
    axes = axes_of(load_robot("nut_arm"))
    calibration = parse_calibration(OLD_FILE, Path("old.yaml"))
    maps, narrow = calibration.maps(axes), calibration.narrowed(axes)
    assert narrow.coupling is None and narrow.names == axes.names
    waist, shoulder, elbow, roll, gripper = maps
    assert waist.count_of(math.radians(30)) == round((1500 + 1000 * 30 / 90) / 4.88)
    assert shoulder.count_of(math.radians(30)) == round((520 + 1890 * 65 / 180) / 4.88)
    assert elbow.count_of(math.radians(-30)) == round((1500 + 2000 * 30 / 180) / 4.88)
    assert roll.count_of(math.radians(45)) == round((1500 + 500) / 4.88)
    assert gripper.count_of(0.012) == round(1400 / 4.88)
    assert narrow.arm[2].velocity <= math.radians(300)
    assert narrow.arm[3].upper == pytest.approx(min(axes.arm[3].upper, math.radians(80)))
