# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Serial arms from their DH table: robot file in, validated model, URDF and frames out.

The names of the package are imported when they are first used: a program that only reads a URDF
does not load the reader of robot files.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arm_description.errors import DescriptionError
    from arm_description.library import load_robot, robot_path, shipped_robots
    from arm_description.model.elements import DhRow, Joint, Origin
    from arm_description.model.gripper import Gripper
    from arm_description.robot_file.reader import parse_robot, read_robot
    from arm_description.robot_model import RobotModel
else:
    _MODULES = {
        "DescriptionError": "errors",
        "DhRow": "model.elements",
        "Gripper": "model.gripper",
        "Joint": "model.elements",
        "Origin": "model.elements",
        "RobotModel": "robot_model",
        "load_robot": "library",
        "parse_robot": "robot_file.reader",
        "read_robot": "robot_file.reader",
        "robot_path": "library",
        "shipped_robots": "library",
    }

    def __getattr__(name: str) -> object:
        """Return a name of the package (PEP 562)."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


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
