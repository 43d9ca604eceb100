# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Serial arms from their DH table: robot file in, validated model, URDF and frames out."""

from arm_description.errors import DescriptionError
from arm_description.library import load_robot, robot_path, shipped_robots
from arm_description.model.elements import DhRow, Joint, Origin
from arm_description.model.gripper import Gripper
from arm_description.robot_file.reader import parse_robot, read_robot
from arm_description.robot_model import RobotModel

__all__ = [
    "DescriptionError",
    "DhRow",
    "Gripper",
    "Joint",
    "Origin",
    "RobotModel",
    "load_robot",
    "parse_robot",
    "read_robot",
    "robot_path",
    "shipped_robots",
]
