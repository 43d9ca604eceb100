# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Move the arm from any Python program; the public names of `arm_tasks.ros.client`."""

from arm_tasks.ros.client.arm import Arm
from arm_tasks.ros.client.async_arm import AsyncArm
from arm_tasks.ros.client.results import ArmError, ArmTimeoutError, IkAnswer, Progress
from arm_tasks.ros.client.teacher import Teacher
from arm_tasks.ros.client.worker import ArmFuture

__all__ = [
    "Arm",
    "ArmError",
    "ArmFuture",
    "ArmTimeoutError",
    "AsyncArm",
    "IkAnswer",
    "Progress",
    "Teacher",
]
