# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The robot file: YAML text to a validated RobotModel, and back."""

from .posture_store import store_posture
from .reader import parse_robot, read_robot
from .writer import robot_yaml

__all__ = ["parse_robot", "read_robot", "robot_yaml", "store_posture"]
