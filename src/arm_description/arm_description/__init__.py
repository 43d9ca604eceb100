# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Serial arms from their DH table: robot file in, validated model, URDF and frames out."""

from .dh import DhRow
from .elements import Gripper, Joint, Origin
from .errors import DescriptionError
from .library import load_robot, robot_path, shipped_robots
from .model import RobotModel
from .robot_file import parse_robot, read_robot, robot_yaml

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
    "robot_yaml",
    "shipped_robots",
]
