# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Arms with dependent joints: picture, MoveIt package, SRDF."""

from arm_description.urdf.writer import robot_urdf
from arm_studio.commands.moveit import moveit_package
from arm_studio.pictures.drawing import Style, picture
from arm_studio.srdf import to_srdf
from arm_testing.files.robot_files import LINKAGE

from arm_description import parse_robot


def test_picture_package_and_srdf_of_an_arm_with_dependent_joints():
    model = parse_robot(LINKAGE)
    style = Style("iso", frames=True, dh_frames=True, labels=True)
    assert b"level" not in picture(model, model.postures["rest"], "", style, "svg")[:100]
    srdf = to_srdf(model, "left_")
    assert '<passive_joint name="left_level_shoulder" />' in srdf
    assert '<passive_joint name="left_level_elbow" />' in srdf
    assert 'link1="left_elbow_link" link2="left_level_link" reason="Adjacent"' in srdf
    assert "level" not in moveit_package(model)["config/joint_limits.yaml"]
    control = robot_urdf(model, ros2_control="mock")
    assert '<joint name="level' not in control[control.index("<ros2_control") :]
