# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The summary of a robot."""

import re

import pytest
from arm_description.library import robot_path
from arm_kinematics.commands.describe import main
from arm_testing.arms.samples import ROBOTS

from arm_description import load_robot

BARE = """
name: bare
convention: modified
units: {length: m, angle: rad}
joints:
  - {name: j0, type: prismatic, theta: 0, d: 0.5, a: 0, alpha: 0, limits: {lower: -3, upper: 3}}
"""


@pytest.mark.parametrize("robot", ROBOTS)
def test_summary_fits_a_terminal(robot, capsys):
    assert main([robot]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 108
    model = load_robot(robot)
    for name in (*model.joint_names, *model.postures):
        assert name in text
    assert "Reach of tool0" in text


def test_summary_of_the_nut_arm(capsys):
    assert main(["nut_arm"]) == 0
    text = capsys.readouterr().out
    assert "4 joints, standard DH (Rz Tz Tx Rx), lengths in mm, angles in deg" in text
    assert re.search(r"2  shoulder +turns  q - 90 +0  105 +0\n", text)
    assert re.search(r"1  waist +-90  90 deg  180 deg/s +720 deg/s2  0.9 N m", text)
    assert "Home (rest): tool0 in base_link at xyz 160 0 185 mm, rpy 180 -90 0 deg" in text
    assert re.search(r"upper_arm +105 = 185 - shoulder_height   S2 at height 185", text)
    assert re.search(r"parked +0 +-60 +60 +0 +0\n", text)
    assert "gripper: assumed, to be measured" in text


def test_summary_in_other_units(capsys):
    assert main(["nut_arm", "--length", "inch", "--angle", "rad"]) == 0
    text = capsys.readouterr().out
    assert "lengths in inch, angles in rad" in text
    assert "q - 1.5708" in text
    assert "3.14961" in text


def test_summary_without_postures_and_constants(tmp_path, capsys):
    path = tmp_path / "bare.yaml"
    path.write_text(BARE)
    assert main([str(path)]) == 0
    text = capsys.readouterr().out
    assert "Home (every joint at 0): tool0 in base_link at xyz 0 0 0.5 m" in text
    assert "q + 0.5" in text
    assert "Constants" not in text


def test_errors_are_reported_in_one_sentence(capsys):
    assert main(["nutarm"]) == 1
    found = capsys.readouterr().err
    assert found.startswith("describe: there is no robot named 'nutarm'; did you mean")
    assert found.count("\n") == 1
    with pytest.raises(SystemExit, match="2"):
        main(["nut_arm", "--length", "mile"])


def test_torques_and_payload_of_the_nut_arm(capsys):
    assert main(["nut_arm"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"shoulder +0\.142 N m +16 %  shoulder -90, elbow -90\n", text), text
    assert "The arm can hold 291 g at tool0 anywhere in reach (least at" in text
    assert re.search(r"in the posture ready (\d+) g", text)


def test_unknown_torque_limits_and_weightless_arms_are_said(tmp_path, capsys):
    assert main(["mearm"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Not checked: no effort for waist, shoulder, elbow (give limits.effort or servo" in text
    assert "10 N m" not in text and "can hold" not in text
    assert main(["planar2"]) == 0
    assert "Gravity loads no joint." in capsys.readouterr().out


def test_mass_that_nothing_limits_is_no_number(tmp_path, capsys):
    """At 0 this boom hangs straight down: a weight at its tip loads no joint."""
    joint = "{name: NAME, type: revolute, theta: OFFSET, d: 0, a: 0.5, ALPHA, limits: LIMITS}"
    limits = "{lower: -1, upper: 1, velocity: 1, effort: 20}"
    rows = [joint.replace("NAME", n).replace("OFFSET", o) for n, o in (("j1", "0"), ("j2", "0"))]
    file = tmp_path / "boom.yaml"
    file.write_text(
        "name: boom\nconvention: standard\nunits: {length: m, angle: rad}\n"
        "base: {rpy: [0, pi/2, 0]}\njoints:\n  - "
        + "\n  - ".join(rows)
        .replace("ALPHA", "alpha: pi/2", 1)
        .replace("ALPHA", "alpha: 0")
        .replace("LIMITS", limits)
        + "\npostures:\n  rest: {j1: 0, j2: 0}\n"
    )
    assert main([str(file)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "in the posture rest any mass, as its weight loads no actuator" in text
    assert "inf" not in text


def test_arm_that_does_not_bear_itself_is_said_in_a_sentence(tmp_path, capsys):
    heavy = robot_path("nut_arm").read_text() + "\npayload: box_2kg\n"
    for name, text in (
        ("weak", heavy.replace("servo_torque: 0.9", "servo_torque: 0.01")),
        ("laden", heavy),
    ):
        file = tmp_path / f"{name}.yaml"
        file.write_text(text)
        assert main([str(file)]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "The arm cannot hold its own weight and a payload of 2000 g everywhere" in said
        assert re.search(r"the servo of shoulder needs \d{3,} % of its limit", said)
        assert not re.search(r"\b(0 g|inf)\b", said), said
