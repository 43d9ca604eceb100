# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math
import re

import numpy as np
import pytest
from arm_description.commands.describe import main
from arm_description.exporters.reach import reach
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_description import load_robot, parse_robot, shipped_robots


def test_reach_matches_hand_calculation():
    planar = reach(load_robot("planar2"))
    assert planar.from_axis == pytest.approx(0.5)
    assert planar.from_base == pytest.approx(math.hypot(0.5, 0.1))
    assert (planar.lowest, planar.highest) == pytest.approx((0.1, 0.1))
    nut = reach(load_robot("nut_arm"))
    assert nut.from_axis == pytest.approx(0.105 + 0.160)
    assert nut.highest == pytest.approx(0.080 + 0.105 + 0.160)
    assert nut.lowest == pytest.approx(0.080 - 0.160)


def test_reach_of_a_prismatic_joint_is_at_its_limit(table_yaml):
    rows = [("prismatic", 0.0, 0.0, 0.0, 0.0)]
    found = reach(parse_robot(table_yaml(rows, "standard")))
    assert found.from_axis is None
    assert (found.from_base, found.lowest, found.highest) == pytest.approx((3.0, -3.0, 3.0))


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(["standard", "modified"]))
def test_no_random_position_exceeds_the_reach(random_model, seed, convention):
    rng = np.random.default_rng(seed)
    model = random_model(rng, convention, int(rng.integers(1, 6)))
    found = reach(model)
    points = np.array(
        [model.fk(q)[:3, 3] for q in rng.uniform(model.lower, model.upper, (200, model.n))]
    )
    assert np.linalg.norm(points, axis=1).max() <= found.from_base + 1e-6
    assert found.lowest - 1e-6 <= points[:, 2].min()
    assert points[:, 2].max() <= found.highest + 1e-6


@pytest.mark.parametrize("robot", shipped_robots())
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


def test_summary_without_postures_and_constants(tmp_path, table_yaml, capsys):
    path = tmp_path / "bare.yaml"
    path.write_text(table_yaml([("prismatic", 0.0, 0.5, 0.0, 0.0)], "modified"))
    assert main([str(path)]) == 0
    text = capsys.readouterr().out
    assert "Home (every joint at 0): tool0 in base_link at xyz 0 0 0.5 m" in text
    assert "q + 0.5" in text
    assert "Constants" not in text


def test_errors_are_reported_in_one_sentence(sentence):
    found = sentence(main, "nutarm")
    assert found.startswith("describe: there is no robot named 'nutarm'; did you mean")
    with pytest.raises(SystemExit, match="2"):
        main(["nut_arm", "--length", "mile"])
