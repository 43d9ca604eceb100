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
    # Each imports those before it.
    _MODULES = ("errors", "model.elements", "model.gripper", "robot_model", "robot_file.reader")

    def __getattr__(name: str) -> object:
        """Return a name of the package out of the first module that has it (PEP 562)."""
        for module in (*_MODULES, "library") if name in __all__ else ():
            if hasattr(found := import_module(f"{__name__}.{module}"), name):
                return getattr(found, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
