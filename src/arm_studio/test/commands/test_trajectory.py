# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The command that checks and converts trajectories."""

import math

import numpy as np
import pytest
from arm_description.trajectories.files import (
    read_trajectory,
)
from arm_studio.commands.trajectory import main

from arm_description import load_robot

NUT_ARM = load_robot("nut_arm")


def test_command_checks_and_converts(tmp_path, capsys, sentence):
    output = tmp_path / "back.csv"
    assert main(["nut_arm", "look_around", "--reverse", "-o", str(output)]) == 0
    assert capsys.readouterr().out.startswith("6 points, 7.50 s, at most ")
    model = load_robot("nut_arm")
    reverse, forward = (read_trajectory(file, model) for file in (output, "look_around"))
    np.testing.assert_allclose(reverse.positions, forward.positions[::-1], atol=1e-15)
    found = sentence(main, "nut_arm", "nothing")
    assert found.startswith("trajectory: nut_arm has no trajectory named")
    assert "cannot be written" in sentence(main, "nut_arm", "wave", "-o", tmp_path / "no/a.csv")


@pytest.mark.parametrize("width", ["0.01", "5", "nan", "", "open"])
@pytest.mark.parametrize("place", [1, 5])
def test_column_is_left_out_whatever_is_in_it(written, tmp_path, capsys, width, place):
    lines = ["# units: deg, mm"]
    for row in (["time", *NUT_ARM.joint_names], ["0", *"0000"], ["1", "10", *"000"]):
        row.insert(place, "gripper [%]" if row[0] == "time" else width)
        lines.append(",".join(row))
    file, new = written("g.csv", "\n".join(lines)), tmp_path / "new.csv"
    heading = "gripper [%]"
    words = ["nut_arm", str(file), "--without", heading, "-o", str(new)]
    assert main(words) == 0, capsys.readouterr().err
    found = read_trajectory(new, NUT_ARM).positions
    assert found.tolist() == [[0.0] * 4, [pytest.approx(math.radians(10)), 0.0, 0.0, 0.0]]


def test_only_a_column_of_a_csv_file_of_joints_can_be_left_out(written, capsys):
    joints = written("j.csv", f"time,{','.join(NUT_ARM.joint_names)}\n0,0,0,0,0\n")
    poses = written("p.csv", "time,x,y,z\n0,0.2,0,0.1\n1,0.2,0,0.2\n")
    for words, why in (
        ([str(joints), "--without", "griper"], "there is no column 'griper'"),
        ([str(written("a.txt", "0 0 0 0\n")), "--without", "gripper"], "use .csv"),
        ([str(poses), "--without", "z"], "file of poses"),
    ):
        assert main(["nut_arm", *words]) == 1
        assert why in capsys.readouterr().err
