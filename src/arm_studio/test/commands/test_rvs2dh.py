# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math

import pytest
from arm_description.model.units import Units
from arm_description.robot_file.writer import robot_yaml
from arm_studio.commands.rvs2dh import main as rvs2dh
from arm_studio.commands.rvs2dh import parse_rvs

from arm_description import DescriptionError, load_robot, parse_robot

FILE = """\
/*******************
 *    A TEST ARM   *
 *******************/
Two Links and a slide
geomtype full

Link 1
a 0.0
b 9.5229   # tall
al -58.3127
th 0.0
limits -170.0 95.0 *
Link 2
a = 2.3113, b = 0.2291, al: 20.0289  th 210

LINK 3   // slides
  a 0 b 2.5 al 0 th 90 type prismatic limits 0 4
EndEffector hand
"""
DM = Units("dm", "deg")


def test_any_layout_is_parsed():
    model = parse_rvs(FILE, "arm", DM, "ARM")
    assert model.convention == "standard"
    assert model.description == "Two Links and a slide"
    assert [joint.type for joint in model.joints] == ["revolute", "revolute", "prismatic"]
    first, second, third = (joint.row for joint in model.joints)
    assert (first.d, first.a, first.theta) == (0.95229, 0.0, 0.0)
    assert first.alpha == math.radians(-58.3127)
    assert (second.a, second.d) == (0.23113, 0.02291)
    assert (third.theta, third.d) == (math.radians(90), 0.0)
    assert model.lower.tolist() == [math.radians(-170), -math.pi, 0.0]
    assert model.upper.tolist() == [math.radians(95), math.pi, 0.4]
    assert parse_robot(robot_yaml(model, DM)) == model


def test_initial_rvs_pose_becomes_the_home_posture():
    """210 deg becomes -150 within the default limits of half a turn either way."""
    home = parse_rvs(FILE, "arm", DM).postures["home"]
    assert home == {"joint_1": 0.0, "joint_2": math.radians(-150), "joint_3": 0.25}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("al -58.3127\n", "", "ARM:7: link 1 has no al"),
        ("limits -170.0 95.0", "limits 170.0 95.0", "ARM:12: the lower limit 170 of link 1"),
        ("limits -170.0 95.0", "limits 10.0 95.0", "ARM:7: link 1 is at 0, outside"),
        ("limits -170.0 95.0", "limits 95.0", "ARM:12: limits of link 1 takes 2 number(s)"),
        ("a 0.0\n", "a 1.7 2.3\n", "ARM:8: a of link 1 takes 1 number(s), not 1.7 2.3"),
        ("a 0.0\n", "a\n", "ARM:8: a of link 1 takes 1 number(s), not none"),
        ("a 0.0\n", "a 0.0 a 0.0\n", "ARM:8: a of link 1 is given twice"),
        ("a 0.0\n", "a nan\n", "ARM:8: 'nan' is not a keyword or number"),
        ("th 0.0\n", "theta 0.0\n", "ARM:11: 'theta' is not a keyword or number; did you mean"),
        ("Link 2", "Link 3", "ARM:13: link 2 is numbered '3'"),
        ("prismatic limits 0 4", "prismatic", "ARM:16: link 3 is prismatic and has no limits"),
        ("prismatic", "round", "ARM:17: 'round' is not a joint type"),
        ("EndEffector", "EndEfector", "ARM:18: 'EndEfector' is not a keyword or number; did"),
        ("geomtype full", "geomtype full type round", "ARM:5: 'type' comes before the first"),
    ],
)
def test_invalid_files_are_rejected_with_their_line(old, new, message):
    assert old in FILE
    with pytest.raises(DescriptionError) as caught:
        parse_rvs(FILE.replace(old, new, 1), "arm", DM, "ARM")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("text", ["", "geomtype", "/* Link 1 a 0 */", "nothing of the kind"])
def test_file_without_links_is_rejected(text):
    with pytest.raises(DescriptionError, match="there is no link"):
        parse_rvs(text, "arm", DM, "ARM")


def test_command_converts_and_reports_errors(tmp_path, capsys, sentence):
    source, target = tmp_path / "My ARM", tmp_path / "arm.yaml"
    source.write_text(FILE)
    assert rvs2dh([str(source), "-o", str(target), "--length", "inch"]) == 0
    assert "read in inch" in capsys.readouterr().err
    model = load_robot(target)
    assert model.name == "my_arm"
    assert model.joints[0].row.d == 9.5229 * 0.0254
    assert "already exists" in sentence(rvs2dh, source, "-o", target)
    source.write_bytes(b"\xff\xfe")
    assert "is not UTF-8 text" in sentence(rvs2dh, source)
    assert "Is a directory" in sentence(rvs2dh, tmp_path)
