# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Forward and inverse kinematics of serial arms, with the reason for every failure; no ROS."""

from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.batch import IkBatch
from arm_kinematics.ik.result import IkResult, IkSolution, IkStatus
from arm_kinematics.model.chain_model import ChainJoint, ChainLink

__all__ = [
    "Chain",
    "ChainJoint",
    "ChainLink",
    "IkBatch",
    "IkResult",
    "IkSolution",
    "IkStatus",
    "KinematicsError",
]
