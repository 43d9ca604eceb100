# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Move the arm from any Python program: blocking, from any thread and any callback, or later."""

from arm_tasks.client.answers import IkAnswer, Progress
from arm_tasks.client.arm import Arm
from arm_tasks.client.errors import ArmError, ArmTimeoutError
from arm_tasks.client.later import ArmLater
from arm_tasks.client.pending import Pending
from arm_tasks.client.teacher import Teacher

__all__ = [
    "Arm",
    "ArmError",
    "ArmLater",
    "ArmTimeoutError",
    "IkAnswer",
    "Pending",
    "Progress",
    "Teacher",
]
