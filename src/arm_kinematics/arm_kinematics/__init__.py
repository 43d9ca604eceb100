# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Forward and inverse kinematics of serial arms that explain themselves (no ROS in here)."""

from arm_kinematics.batch import IkBatch
from arm_kinematics.chain import Chain
from arm_kinematics.chain_parts import ChainJoint, ChainLink
from arm_kinematics.errors import KinematicsError, UrdfError
from arm_kinematics.result import IkResult, IkSolution, IkStatus

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
