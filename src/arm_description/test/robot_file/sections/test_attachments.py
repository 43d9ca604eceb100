# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tools and payloads by name: every one on every shipped robot, own files, clear refusals."""

import json
import shutil
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import yaml
from arm_description.robot_file.editor import RobotEditor
from arm_description.robot_file.schema import robot_schema
from arm_description.robot_file.sections.attachments import shipped_payloads, shipped_tools
from arm_description.robot_file.writer import robot_yaml
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.reader import read_urdf
from arm_testing.arms.samples import ROBOTS
from jsonschema import Draft202012Validator

from arm_description import DescriptionError, load_robot, parse_robot, shipped_robots


@pytest.mark.parametrize("robot", ROBOTS)
def test_each_tool_fits_each_shipped_robot(robot, tmp_path):
    editor = RobotEditor(shipped_robots()[robot].read_bytes(), robot)
    bare, check = editor.model, shutil.which("check_urdf")
    q = np.random.default_rng(3).uniform(bare.lower, bare.upper)
    palm = np.eye(4)
    if bare.gripper:
        palm[2, 3] = -bare.gripper.depth - bare.gripper.palm[0]
    for tool in shipped_tools():
        assert editor.attach("tool", tool) == ""
        assert editor.attached("tool") == tool
        model = editor.model
        urdf = model.to_urdf()
        values = dict(zip(model.joint_names, q, strict=True))
        poses = link_poses("base_link", read_urdf(urdf).joints, values)
        np.testing.assert_allclose(poses["tool0"], model.fk(q), atol=1e-12)
        expected = bare.fk(q) @ palm @ model.mounted.frame.matrix
        np.testing.assert_allclose(model.fk(q), expected, atol=1e-12)
        assert total_mass(model, urdf) == pytest.approx(model.mounted.mass, rel=1e-5)
        if check:
            file = tmp_path / f"{tool}.urdf"
            file.write_text(urdf, encoding="utf-8")
            subprocess.run([check, file], check=True, capture_output=True)
    assert parse_robot(robot_yaml(model)) == model


def total_mass(model, urdf):
    """Return the mass of the links of a tool [kg]."""
    fingers = model.gripper.joints if model.gripper else ()
    names = {"tool_link", "gripper_link", *(f"{finger}_link" for finger in fingers)}
    links = [link for link in ET.fromstring(urdf).iter("link") if link.get("name") in names]
    return sum(float(link.find("inertial/mass").get("value")) for link in links)


def test_a_tool_takes_the_place_of_the_gripper_and_can_be_taken_off():
    editor = RobotEditor(shipped_robots()["nut_arm"].read_bytes(), "nut_arm")
    before = editor.data
    assert editor.attach("tool", "pen") == ""
    assert editor.model.gripper is None
    assert all("gripper" not in posture for posture in editor.model.postures.values())
    assert "gripper_link" not in editor.model.to_urdf()
    assert editor.attach("tool", "two_finger_gripper") == ""
    assert editor.model.gripper.max_width == pytest.approx(0.04)
    assert editor.attach("tool", "") == ""
    assert editor.model == parse_robot(before)
    while editor.undo():
        pass
    assert editor.data == before


def test_a_transform_in_the_file_says_where_the_tool_is_mounted(small):
    editor = RobotEditor(b"tool: {xyz: [0, 0, 30], rpy: [0, 90, 0]}\n" + small.encode())
    place = editor.model.tool
    assert editor.attach("tool", "suction_cup") == ""
    assert editor.model.mounted.mount.rpy == place.rpy
    assert editor.attach("tool", "") == ""
    assert editor.model.tool == place


@pytest.mark.parametrize("payload", shipped_payloads())
def test_payloads_are_chosen_by_name(payload):
    editor = RobotEditor(shipped_robots()["planar2"].read_bytes())
    assert editor.attach("payload", payload) == ""
    load = editor.model.payload
    assert f"{1000 * load.mass:g}g" in payload or f"{load.mass:g}kg" in payload
    assert "payload_link" in editor.model.to_urdf()
    assert editor.attach("payload", "") == ""
    assert editor.model.payload is None


@pytest.mark.parametrize("key", ["tool", "payload"])
def test_unknown_names_and_missing_files_are_refused(key, small):
    known = shipped_tools() if key == "tool" else shipped_payloads()
    with pytest.raises(DescriptionError) as refusal:
        parse_robot(small + f"{key}: nothing\n")
    assert f"no {key} named 'nothing'" in str(refusal.value)
    assert all(name in str(refusal.value) for name in known)
    with pytest.raises(DescriptionError, match=r"no file 'mine\.yaml'"):
        parse_robot(small + f"{key}: mine.yaml\n")


def test_own_files_are_found_beside_the_robot_file(small, tmp_path):
    tool = yaml.safe_load(shipped_tools()["pen"].read_text(encoding="utf-8"))
    tool["frame"] = {"xyz": [0, 0, 200]}
    (tmp_path / "long.yaml").write_text(yaml.safe_dump(tool), encoding="utf-8")
    file = tmp_path / "arm.yaml"
    file.write_text(small + "tool: long.yaml\n", encoding="utf-8")
    model = load_robot(str(file))
    assert model.mounted.frame.xyz == (0.0, 0.0, 0.2)
    assert RobotEditor(file.read_bytes(), "arm.yaml", tmp_path).model == model
    tool["mass"] = -1
    (tmp_path / "long.yaml").write_text(yaml.safe_dump(tool), encoding="utf-8")
    with pytest.raises(DescriptionError, match=r"long\.yaml.*mass"):
        load_robot(str(file))


@pytest.mark.parametrize(
    ("kind", "files"), [("tool", shipped_tools()), ("payload", shipped_payloads())]
)
def test_shipped_files_match_their_schema(kind, files, package):
    for name, path in files.items():
        text = path.read_text(encoding="utf-8")
        content = yaml.safe_load(text)
        Draft202012Validator(robot_schema(kind)).validate(content)
        assert content["name"] == name
        line = text.splitlines()[0].removeprefix("# yaml-language-server: $schema=")
        assert json.loads((path.parent / line).read_text(encoding="utf-8")) == robot_schema(kind)
