# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Forward and inverse kinematics of serial arms, with the reason for every failure; no ROS."""

from importlib import import_module
from typing import Any

from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.batch import IkBatch
from arm_kinematics.ik.result import IkResult, IkSolution, IkStatus
from arm_kinematics.model.chain_model import ChainJoint, ChainLink

UrdfError = KinematicsError  # deprecated name

__all__ = [
    "Chain",
    "ChainJoint",
    "ChainLink",
    "IkBatch",
    "IkResult",
    "IkSolution",
    "IkStatus",
    "KinematicsError",
    "UrdfError",
]


def __getattr__(name: str) -> Any:
    """Return the object that a deprecated name refers to."""
    if name == "general_6r":
        return import_module("arm_kinematics.ik.general_6r.solver")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
