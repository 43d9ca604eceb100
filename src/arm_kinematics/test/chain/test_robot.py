# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest
from arm_kinematics.chain.robot import MissingJointsError, Robot

from arm_description import load_robot

ARM = load_robot("nut_arm")
JOINTS = {"waist": 0.1, "shoulder": 0.2, "elbow": 0.3, "wrist_roll": 0.4}

FOLLOWING = """<robot name="r"><link name="base"/><link name="a"/><link name="b"/>
<joint name="lead" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1"/></joint>
<joint name="follow" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  <origin xyz="1 0 0"/><limit lower="-9" upper="9"/>
  <mimic joint="lead" multiplier="2" offset="0.5"/></joint></robot>"""


def test_link_poses_follow_named_joints():
    robot = Robot(ARM.to_urdf())
    left, right, opened = (
        robot.link_pose(f"{side}_finger_link", {**JOINTS, f"{side}_finger": at})[:3, 3]
        for side, at in (("left", 0.004), ("right", 0.004), ("left", 0.006))
    )
    assert np.allclose(robot.link_pose("tool0", JOINTS), ARM.fk(list(JOINTS.values())), atol=1e-12)
    assert np.allclose(robot.link_pose("base_link", JOINTS), np.eye(4))
    assert np.linalg.norm(opened - left) == pytest.approx(0.002)
    assert np.linalg.norm(left - right) > 0.0


def test_chains_are_built_once():
    robot = Robot(ARM.to_urdf())
    assert robot.chain("tool0") is robot.chain("tool0")


def test_link_pose_needs_only_the_joints_before_the_link():
    robot = Robot(ARM.to_urdf())
    robot.link_pose("shoulder_link", {"waist": 0.1, "shoulder": 0.2})
    with pytest.raises(MissingJointsError, match="elbow, wrist_roll") as caught:
        robot.link_pose("tool0", {"waist": 0.1, "shoulder": 0.2})
    assert caught.value.joints == ("elbow", "wrist_roll")


def test_mimic_joint_follows_its_leader():
    robot = Robot(FOLLOWING)
    assert robot.joint_names == ("lead",)
    assert robot.followers == ("follow",)
    assert robot.positions({"lead": 0.25}) == {"lead": 0.25, "follow": 1.0}
    assert robot.positions({"follow": 0.25, "elsewhere": 1.0}) == {}
    angle = 0.3 + 2 * 0.3 + 0.5
    T = robot.link_pose("b", {"lead": 0.3})
    assert np.allclose(T[0, :2], [math.cos(angle), -math.sin(angle)])
    assert np.allclose(T[:2, 3], [math.cos(0.3), math.sin(0.3)])
    chain = robot.chain("b")
    assert chain.joint_names == ("lead",)
    assert np.allclose(chain.fk([0.3]), T)
    assert chain.ik(T).q == pytest.approx([0.3], abs=1e-4)


def test_tips_are_the_moving_ends_of_branches():
    assert Robot(ARM.to_urdf()).tips == ("tool0", "left_finger_link", "right_finger_link")
    assert Robot(FOLLOWING).tips == ("b",)
