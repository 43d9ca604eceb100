# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The robot file: YAML text to a validated RobotModel, and back."""

from arm_description.robot_file.posture_store import store_posture
from arm_description.robot_file.reader import parse_robot, read_robot
from arm_description.robot_file.writer import robot_yaml

__all__ = ["parse_robot", "read_robot", "robot_yaml", "store_posture"]
