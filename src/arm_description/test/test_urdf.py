# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The URDF against the DH table by the specification of URDF, and its structure."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from arm_description.model.elements import Origin
from arm_description.urdf.reader import read_urdf
from arm_description.urdf.writer import robot_urdf

from arm_description import DescriptionError, load_robot, parse_robot, shipped_robots

CONVENTIONS = ("standard", "modified")
EXACT = 1e-12


@pytest.mark.parametrize("robot", shipped_robots())
def test_no_file_outside_is_needed_and_yaml_cannot_misread_it(robot):
    urdf = load_robot(robot).to_urdf("p_", dh_frames=True)
    assert "mesh" not in urdf
    assert "package://" not in urdf
    assert ": " not in urdf
    assert "nan" not in urdf
    ET.fromstring(urdf)


def test_nut_arm_frames():
    tree = read_urdf(load_robot("nut_arm").to_urdf(dh_frames=True))
    assert tree.root == "base_link"
    assert set(tree.links) == {
        "base_link", "waist_link", "shoulder_link", "elbow_link", "wrist_roll_link", "flange",
        "tool0", "gripper_link", "left_finger_link", "right_finger_link",
        "dh_0", "dh_1", "dh_2", "dh_3", "dh_4",
    }  # fmt: skip
    moving = [joint.name for joint in tree.joints if joint.kind != "fixed"]
    assert sorted(moving) == sorted(
        ["waist", "shoulder", "elbow", "wrist_roll", "left_finger", "right_finger"]
    )


@pytest.mark.parametrize("robot", [r for r in shipped_robots() if load_robot(r).gripper])
def test_fingers_stand_half_the_width_beside_the_grasp_point(robot, urdf_fk):
    """REP 120's tool0 at the grasp point; the first finger opens towards its -y, the other +y."""
    model = load_robot(robot)
    gripper, urdf = model.gripper, model.to_urdf()
    values = dict.fromkeys(model.joint_names, 0.2) | dict.fromkeys(gripper.joints, 0.01)
    tool = urdf_fk(urdf, values, "base_link", "tool0")
    for finger, y in zip(gripper.joints, (-0.01, 0.01), strict=True):
        pose = urdf_fk(urdf, values, "base_link", f"{finger}_link")
        np.testing.assert_allclose(np.linalg.solve(tool, pose)[:3, 3], [0, y, 0], atol=1e-15)
        joint = next(j for j in read_urdf(urdf).joints if j.name == finger)
        assert (joint.limit.lower, joint.limit.upper) == (0.0, gripper.max_width / 2)


@pytest.mark.parametrize("robot", shipped_robots())
def test_frames_of_rep_103_and_120(robot):
    """base_link the root, flange on the last link, tool0 on the flange, all without a body."""
    model = load_robot(robot)
    tree = read_urdf(model.to_urdf())
    parents = {joint.child: (joint.parent, joint.kind) for joint in tree.joints}
    assert tree.root == "base_link"
    assert parents["flange"] == (f"{model.joint_names[-1]}_link", "fixed")
    assert parents["tool0"] == ("flange", "fixed")
    links = {link.get("name"): link for link in ET.fromstring(model.to_urdf()).iter("link")}
    assert not len(links["flange"])
    assert not len(links["tool0"])


def test_prefix_is_put_before_every_name():
    model = load_robot("nut_arm")
    plain, prefixed = (ET.fromstring(model.to_urdf(p, dh_frames=True)) for p in ("", "left_"))
    for element in plain.iter():
        if element.tag in ("link", "joint"):
            element.set("name", "left_" + element.get("name"))
        if element.tag in ("parent", "child"):
            element.set("link", "left_" + element.get("link"))
    assert ET.tostring(plain) == ET.tostring(prefixed)


@pytest.mark.parametrize("prefix", ["a b", "a/", "${x}", "<", "\n"])
def test_prefix_that_is_no_name(prefix):
    with pytest.raises(DescriptionError, match="cannot be part of a name"):
        load_robot("planar2").to_urdf(prefix)


def test_mounted_on_a_parent(urdf_fk):
    model = load_robot("planar2")
    mount = Origin((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    urdf = robot_urdf(model, "l_", parent="world", mount=mount)
    assert read_urdf(urdf).root == "world"
    values = {"l_shoulder": 0.3, "l_elbow": -0.4}
    found = urdf_fk(urdf, values, "world", "l_tool0")
    np.testing.assert_allclose(found, mount.matrix @ model.fk([0.3, -0.4]), atol=EXACT)


def test_names_that_the_urdf_uses_itself(small):
    model = parse_robot(small)
    joint = replace(model.joints[0], name="flange_fixed")
    with pytest.raises(DescriptionError, match="two joints of the URDF would be called 'flange_"):
        replace(model, joints=(joint, *model.joints[1:])).to_urdf()
    with pytest.raises(DescriptionError, match="two links of the URDF would be called 'tool0'"):
        robot_urdf(parse_robot(small), parent="tool0")
