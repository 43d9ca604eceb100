# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""SRDF: groups, postures and collision exemptions as MoveIt expects them."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from arm_description.robot_file.editor import RobotEditor
from arm_description.urdf.reader import read_urdf
from arm_studio.commands.moveit import dh2srdf
from arm_studio.srdf import read_srdf_postures, to_srdf
from arm_testing.arms.samples import ROBOTS

from arm_description import DescriptionError, load_robot, parse_robot, shipped_robots


def pairs(text):
    return [
        (e.get("link1"), e.get("link2")) for e in ET.fromstring(text).iter("disable_collisions")
    ]


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("prefix", ["", "left_"])
def test_srdf_names_match_the_urdf_and_postures_round_trip(robot, prefix):
    model = load_robot(robot)
    text, tree = to_srdf(model, prefix), read_urdf(model.to_urdf(prefix))
    root = ET.fromstring(text)
    joints = {joint.name for joint in tree.joints}
    assert root.get("name") == tree.name == model.name
    assert {e.get("name") for e in root.iter("joint")} <= joints
    named = [(e.get("base_link"), e.get("tip_link")) for e in root.iter("chain")]
    assert named == [(f"{prefix}base_link", f"{prefix}tool0")]
    links = {name for pair in pairs(text) for name in pair}
    links |= {e.get("name") for e in root.iter("link")}
    assert links <= set(tree.links)
    again = read_srdf_postures(text, model, prefix)
    assert again.keys() == model.postures.keys()
    for name, posture in model.postures.items():
        assert again[name] == pytest.approx(dict(posture), abs=1e-12)


def test_adjacent_and_overlapping_links_are_exempt():
    """Neighbours (skipping links without shapes), always overlapping links, the two fingers."""
    assert pairs(to_srdf(load_robot("nut_arm"))) == [
        ("base_link", "waist_link"),
        ("waist_link", "shoulder_link"),
        ("shoulder_link", "elbow_link"),
        ("elbow_link", "wrist_roll_link"),
        ("wrist_roll_link", "gripper_link"),
        ("gripper_link", "left_finger_link"),
        ("gripper_link", "right_finger_link"),
        ("shoulder_link", "wrist_roll_link"),
        ("left_finger_link", "right_finger_link"),
    ]


def test_limits_beyond_half_a_turn_are_sampled():
    model = load_robot("puma560")
    joints = [replace(j, lower=j.lower + 20.0, upper=j.upper + 20.0) for j in model.joints]
    assert set(pairs(to_srdf(replace(model, joints=tuple(joints))))) >= {
        ("base_link", "waist_link")
    }


def test_gripper_is_a_separate_group():
    root = ET.fromstring(to_srdf(load_robot("nut_arm")))
    arm, gripper = root.findall("group")
    assert (arm.get("name"), gripper.get("name")) == ("arm", "gripper")
    assert [e.get("name") for e in gripper] == ["gripper_link", "left_finger", "right_finger"]
    end = root.find("end_effector").attrib
    assert (end["parent_link"], end["group"], end["parent_group"]) == ("tool0", "gripper", "arm")


STATE = """<robot name="x">
<group_state name="up" group="arm"><joint name="turn" value="0.5"/>
<joint name="slide" value="0.01"/></group_state>
<group_state name="open" group="hand"><joint name="left" value="0.02"/></group_state>
</robot>"""


def test_states_of_the_fingers_alone_are_ignored(small):
    found = read_srdf_postures(STATE, parse_robot(small))
    assert found == {"up": {"turn": 0.5, "slide": 0.01}}


ERRORS = {
    ('"turn"', '"tern"'): "group_state 'up': small has no joint 'tern'; did you mean 'turn'",
    ('"slide"', '"turn"'): "group_state 'up' has joint 'turn' at 0.5 and 0.01; delete one",
    ('<joint name="slide" value="0.01"/>', ""): "group_state 'up' has no joint 'slide'",
    ("0.5", "2"): "group_state 'up': turn at 2 is outside its limits -1.5708 .. 1.5708",
    ("0.5", "nan"): "group_state 'up': joint 'turn' has 'nan', which is not a finite number",
    ("0.5", "1 2"): "has '1 2', which is not a finite number",
    ('name="open"', 'name="up"'): "group_state 'up' has the fingers at 0.02 and nan",
    ('name="up" ', ""): "a group_state has no 'name'",
    ("</robot>", ""): "the SRDF is not XML",
    ("<robot", "<!DOCTYPE x><robot"): "the SRDF has a DOCTYPE",
}


@pytest.mark.parametrize("change", ERRORS)
def test_invalid_group_states_are_rejected(small, change):
    with pytest.raises(DescriptionError) as caught:
        read_srdf_postures(STATE.replace(*change), parse_robot(small))
    assert ERRORS[change] in str(caught.value)


def test_missing_prefix_is_reported(small):
    with pytest.raises(DescriptionError, match="has no joint 'turn'; did you mean 'l_turn'"):
        read_srdf_postures(STATE, parse_robot(small), "l_")


def test_command_writes_srdf_with_prefix(capsys, sentence):
    assert dh2srdf(["nut_arm", "--prefix", "a_"]) == 0
    assert capsys.readouterr().out == to_srdf(load_robot("nut_arm"), "a_")
    assert "cannot be part of a name" in sentence(dh2srdf, "nut_arm", "--prefix", "a b")


def test_tool_in_place_of_the_gripper_has_a_link():
    editor = RobotEditor(shipped_robots()["nut_arm"].read_bytes(), "nut_arm")
    assert editor.attach("tool", "pen") == ""
    assert "tool_link" in to_srdf(editor.model)
