# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import xml.etree.ElementTree as ET

import pytest
from arm_description.commands.convert import dh2urdf
from arm_description.model.elements import Origin
from arm_description.urdf.macro import robot_macro
from arm_description.urdf.reader import read_urdf
from arm_description.urdf.writer import robot_urdf

from arm_description import load_robot


def test_shipped_robot_is_written_to_standard_output(capsys):
    assert dh2urdf(["puma560", "--prefix", "left_", "--dh-frames"]) == 0
    assert capsys.readouterr().out == load_robot("puma560").to_urdf("left_", dh_frames=True)


def test_robot_file_is_written_to_a_file(tmp_path, small, capsys):
    source, target = tmp_path / "my arm.yaml", tmp_path / "my.urdf"
    source.write_text(small)
    assert dh2urdf([str(source), "-o", str(target)]) == 0
    assert target.read_text() == load_robot(source).to_urdf()
    assert capsys.readouterr().out == ""


def test_parent_and_macro_options_are_applied(capsys):
    assert dh2urdf(["planar2", "--parent", "world", "--xyz", "0", "0", "-1"]) == 0
    mount = Origin((0.0, 0.0, -1.0))
    expected = robot_urdf(load_robot("planar2"), parent="world", mount=mount)
    assert capsys.readouterr().out == expected
    assert dh2urdf(["planar2", "--macro", "arm"]) == 0
    assert capsys.readouterr().out == robot_macro(load_robot("planar2"), "arm")


def test_ros2_control_block_has_the_joints_that_move(capsys):
    model = load_robot("nut_arm")
    assert dh2urdf(["nut_arm", "--prefix", "l_", "--ros2-control", "topic"]) == 0
    text = capsys.readouterr().out
    block = ET.fromstring(text).find("ros2_control")
    assert (block.get("name"), block.get("type")) == ("l_nut_arm", "system")
    names = [*model.joint_names, *model.gripper.joints]
    assert [joint.get("name") for joint in block.findall("joint")] == [f"l_{n}" for n in names]
    for joint in block.findall("joint"):
        assert [(e.tag, e.get("name")) for e in joint] == [
            ("command_interface", "position"),
            ("state_interface", "position"),
            ("state_interface", "velocity"),
        ]
    parameters = {p.get("name"): p.text for p in block.findall("hardware/param")}
    assert parameters["joint_states_topic"] == "joint_states"
    assert read_urdf(text) == read_urdf(model.to_urdf("l_"))  # nothing else differs


def test_unknown_ros2_control_is_rejected(capsys):
    with pytest.raises(SystemExit):
        dh2urdf(["nut_arm", "--ros2-control", "isaac"])
    assert "isaac" in capsys.readouterr().err


def test_nonfinite_mount_is_rejected(capsys):
    with pytest.raises(SystemExit):
        dh2urdf(["planar2", "--parent", "world", "--xyz", "0", "0", "nan"])
    assert "nan is not finite" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nutarm"], "did you mean 'nut_arm'"),
        (["./no.yaml"], "./no.yaml: there is no such file"),
        (["nut_arm", "--prefix", "a b"], "cannot be part of a name"),
        (["nut_arm", "-o", "/no/such/folder/x"], "/no/such/folder/x: cannot be written"),
    ],
)
def test_errors_exit_with_code_1(arguments, message, sentence):
    found = sentence(dh2urdf, *arguments)
    assert found.startswith("dh2urdf: ") and message in found


@pytest.mark.parametrize("name", ["my arm", "2arm", "a.b", "a-b", "\u00e9", "if", "call"])
def test_macro_that_xacro_cannot_call_is_refused(name, capsys):
    assert dh2urdf(["puma560", "--macro", name]) == 1
    said = capsys.readouterr()
    assert f"xacro cannot call a macro named {name!r}" in said.err and not said.out
