# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The wrong kind of file is taken where it can be, else named in one sentence."""

import re

import numpy as np
import pytest
from arm_common.suggestions import program
from arm_description.commands.convert import urdf2dh
from arm_description.commands.set import main as set_constant
from arm_description.importers.urdf import import_urdf

from arm_description import DescriptionError, load_robot, robot_path

URDF2DH = re.escape(program("arm_description", "urdf2dh"))

HINGE = """<link name="{child}"/><joint name="{name}" type="revolute"><parent link="{parent}"/>
<child link="{child}"/><origin xyz="{x} 0 0.1"/><axis xyz="0 {y} 1"/>
<limit lower="-1" upper="1" velocity="1" effort="5"/></joint>"""
XACRO = f"""<?xml version="1.0"?>
<robot name="two" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="0.3"/><xacro:property name="l" value="$(arg length)"/>
  <link name="base"/>
  <xacro:macro name="hinge" params="name parent child x">
    {HINGE.format(name="${name}", parent="${parent}", child="${child}", x="${x}", y=0)}
  </xacro:macro>
  <xacro:hinge name="j1" parent="base" child="l1" x="0"/>
  <xacro:hinge name="j2" parent="l1" child="tip" x="${{l}}"/>
</robot>"""
LEVEL = HINGE.format(name="j1", parent="base", child="l1", x=0, y=0)
OUTER = HINGE.format(name="j2", parent="l1", child="tip", x=0.3, y=0)
URDF = f'<robot name="two"><link name="base"/>{LEVEL}{OUTER}</robot>'


@pytest.mark.parametrize(
    ("name", "text"),
    [("two.urdf", URDF), ("two.urdf.xacro", XACRO), ("two.yaml", URDF), ("two.txt", URDF)],
)
def test_urdf_in_place_of_a_robot_file_is_taken(name, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    expected = import_urdf(URDF).model
    for model in (load_robot(name), load_robot(tmp_path / name)):
        assert model.joints == expected.joints
        assert np.abs(model.fk([0.2, -0.5]) - expected.fk([0.2, -0.5])).max() < 1e-12
    with pytest.raises(DescriptionError, match=rf"two.*XML, not a robot file; .*{URDF2DH}"):
        robot_path(name)  # for those who edit it
    assert set_constant(["l", "1", name]) == 1


def test_urdf_without_an_exact_table_names_the_command(tmp_path):
    nearly = HINGE.format(name="j2", parent="l1", child="tip", x=0.3, y=1e-7)
    for text in (f'<robot name="two"><link name="base"/>{LEVEL}{nearly}</robot>', URDF[:-20]):
        file = tmp_path / "two.urdf"
        file.write_text(text)
        with pytest.raises(DescriptionError, match=rf"two\.urdf: .*{URDF2DH} .* -o two\.yaml"):
            load_robot(file)


def test_xacro_arguments(tmp_path, capsys):
    file, out = tmp_path / "two.xacro", tmp_path / "two.yaml"
    file.write_text(XACRO)
    assert urdf2dh([str(file), "--xacro-arg", "length:=0.5", "-o", str(out)]) == 0
    assert load_robot(out).joints[0].row.a == 0.5
    capsys.readouterr()
    plain = tmp_path / "plain.urdf"
    plain.write_text(URDF)
    for path, argument, problem in (
        (file, "lenght:=1", "has no argument 'lenght'; did you mean 'length'?"),
        (plain, "length:=1", "is not a xacro file, so it has no argument length"),
    ):
        assert urdf2dh([str(path), "--xacro-arg", argument]) == 1
        assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name: arm\njoints:\n  - {name: a}\n", "is a robot file (YAML), not a URDF; give it to"),
        ('<sdf version="1.7"><model name="a"/></sdf>', "is an SDF, not a URDF"),
        ("<mujoco><worldbody/></mujoco>", "is an MJCF (MuJoCo), not a URDF"),
        ('<robot name="a"><group name="arm"/></robot>', "is an SRDF, which names groups"),
        (XACRO.replace("$(arg length)", "$(arg size)"), "Undefined substitution argument size"),
        (XACRO.replace("${l}", "${1/0}"), "xacro cannot expand it (division by zero"),
        (XACRO.replace("${l}", "$(find nowhere)"), "xacro cannot expand it (package 'nowhere'"),
        (
            XACRO.replace('<link name="base"/>', "").partition("<xacro:hinge")[0] + "</robot>",
            "only",
        ),
        ("", "is empty"),
        ("what is this", "is not XML"),
    ],
)
def test_other_file_given_to_urdf2dh_is_one_sentence(text, problem, tmp_path, capsys):
    file = tmp_path / "given.urdf"
    file.write_text(text)
    assert urdf2dh([str(file)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"urdf2dh: {file}: ") and problem in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("robot: a\nboard: {address: 0x40}\n", "a servo calibration, .*after --calibration"),
        ("example: true\nrobot: a\nbus: {port: /dev/ttyACM0}\n", "a servo calibration"),
        ("task: t\nsteps: [open]\n", "a task, not a robot file"),
    ],
)
def test_another_file_of_ours_in_place_of_a_robot_file_is_named(tmp_path, text, said):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(DescriptionError, match=rf"mine\.yaml:1: this is {said}"):
        load_robot(file)
