# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""./arm fk and ./arm ik: in the units of the file, one sentence for wrong words."""

import re

import numpy as np
import pytest
from arm_kinematics.commands.pose import fk, ik

from arm_description import load_robot


def numbers(text):
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text)]


def test_fk_and_ik_answer_each_other(capsys):
    assert fk(["puma560", "10", "-30", "45/2", "5", "40", "-15"]) == 0
    xyz, rpy = capsys.readouterr().out.split(": ")[1].split(", ")
    pose = [f"{x:g}" for x in (*numbers(xyz), *numbers(rpy))]
    assert ik(["puma560", *pose]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = [numbers(line.partition(": ")[2])[0::1] for line in lines]
    found = [[float(x) for x in re.findall(r" (-?[\d.e-]+) deg", line)] for line in lines]
    assert min(np.abs(np.subtract(q, [10, -30, 22.5, 5, 40, -15])).max() for q in found) < 0.01
    assert len(found) > 1


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
        (ik, ["nobody", "1", "2", "3"], "no robot named 'nobody'"),
    ],
)
def test_wrong_words_are_answered_by_one_sentence(command, words, problem, capsys):
    assert command(words) == 1
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1
