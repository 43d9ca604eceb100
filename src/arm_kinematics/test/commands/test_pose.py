# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""./arm fk and ./arm ik: in the units of the file, one sentence for wrong words."""

import re

import numpy as np
import pytest
from arm_common.yaml.expressions import Expressions
from arm_kinematics.commands.pose import fk, ik

from arm_description import load_robot


def numbers(line):
    return [float(x) for x in line.split()]


@pytest.mark.parametrize(
    ("robot", "q"),
    [
        ("puma560", ["10", "-30", "45/2", "5", "40", "-15"]),
        ("ur5", ["-2.364", "-1.199e-05", "-sqrt(2)", "-.5", "--30", "-(1+2)"]),
        ("nut_arm", ["-1e-6", "-20", "20", "-0"]),
    ],
)
def test_what_one_command_prints_the_other_takes(robot, q, capsys):
    assert fk([robot, *q, "--plain"]) == 0
    pose = capsys.readouterr().out.split()[: 6 if len(q) == 6 else 3]
    assert ik([robot, *pose, "--plain"]) == 0
    rows = capsys.readouterr().out.splitlines()
    for row in rows:
        assert fk([robot, *row.split(), "--plain"]) == 0
        again = numbers(capsys.readouterr().out)[: len(pose)]
        assert np.abs(np.subtract(again, numbers(" ".join(pose)))).max() < 0.01
    wanted = [Expressions().evaluate(word) for word in q]
    assert min(np.abs(np.subtract(numbers(row), wanted)).max() for row in rows) < 0.01


def test_solutions_stand_below_the_names_of_their_joints(capsys):
    assert ik(["ur5", "-1e-6", "0.3", "0.4", "0", "0", "0"]) == 0
    names, units, *rows = capsys.readouterr().out.splitlines()
    assert names.split() == list(load_robot("ur5").joint_names)
    assert units.split() == ["deg"] * 6
    assert [row.split()[0] for row in rows] == [str(i + 1) for i in range(len(rows))]
    assert {len(row) for row in (names, units, *rows)} == {len(names)}


@pytest.mark.parametrize("extra", [[], ["--plain"]])
def test_no_number_is_noise(extra, capsys):
    """A joint at 0 is neither -7e-19 nor -0."""
    for pose in (["0.3", "0.1", "0.4", "0", "0", "0"], ["-1e-6", "0.3", "0.4"]):
        assert ik(["ur5", *pose, *extra]) == 0
        assert fk(["ur5", *["0", "-90", "0", "-90", "0", "0"], *extra]) == 0
        said = capsys.readouterr().out
        assert not re.search(r"-0(\s|$)|e-", said), said


NO_ROLL = """name: no_roll
convention: screws
units: {length: m, angle: rad}
joints:
  - {name: a, type: revolute, axis: [0, 0, 1], at: [0, 0, 0], limits: {lower: -3, upper: 3}}
  - {name: b, type: revolute, axis: [0, 1, 0], at: [0, 0, 0.3], limits: {lower: -3, upper: 3}}
home: {xyz: [0.2, 0, 0.3]}
"""


def test_fk_prints_no_noise(capsys, tmp_path):
    (tmp_path / "no_roll.yaml").write_text(NO_ROLL)
    assert fk([str(tmp_path / "no_roll.yaml"), "0.1", "0.2"]) == 0
    assert "e-" not in capsys.readouterr().out


def test_fk_takes_a_posture_and_reports_limits(capsys):
    assert fk(["nut_arm", "ready"]) == 0
    by_name = capsys.readouterr().out
    model = load_robot("nut_arm")
    q = [f"{np.degrees(model.postures['ready'][name]):g}" for name in model.joint_names]
    assert fk(["nut_arm", *q]) == 0
    assert capsys.readouterr().out == by_name
    assert fk(["nut_arm", "120", "0", "0", "0"]) == 0
    assert "waist is outside its limits (-90 deg to 90 deg)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "words", "problem"),
    [
        (fk, ["nut_arm", "1", "2"], "nut_arm has 4 joints, not 2: give waist shoulder"),
        (fk, ["nut_arm", "1", "2", "3", "x"], "'x' is not a number, and there are no"),
        (ik, ["nut_arm", "1", "2"], "give x y z, or x y z roll pitch yaw, not 2 numbers"),
        (ik, ["nut_arm", "900", "0", "0"], "out of reach"),
        (ik, ["puma560", "400", "2", "3", "4", "0", "0"], "xyz 400 2 3 m, rpy 4 0 0 deg"),
        (ik, ["nobody", "1", "2", "3"], "no robot named 'nobody'"),
    ],
)
def test_wrong_words_are_answered_by_one_sentence(command, words, problem, capsys):
    assert command(words) == 1
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1
