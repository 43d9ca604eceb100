# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""URDF: written from a RobotModel, and read from anyone's text."""

from ..errors import UrdfError
from .parts import MOVING, UrdfJoint
from .reader import UrdfTree, read_urdf
from .writer import robot_macro, robot_urdf

__all__ = [
    "MOVING",
    "UrdfError",
    "UrdfJoint",
    "UrdfTree",
    "read_urdf",
    "robot_macro",
    "robot_urdf",
]
