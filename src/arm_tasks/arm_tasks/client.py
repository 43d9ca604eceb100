# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/client/test_arm.py
"""Move the arm from any Python program; the public names of `arm_tasks.ros.client`."""

from __future__ import annotations

import warnings
from typing import Any

from arm_tasks.ros.client.arm import Arm, Teacher
from arm_tasks.ros.client.async_arm import AsyncArm
from arm_tasks.ros.client.future import ArmError, ArmFuture, ArmTimeoutError
from arm_tasks.ros.client.kinematics import DynamicsAnswer, IkAnswer, IkBatchAnswer
from arm_tasks.ros.client.task_goal import Progress

__all__ = [
    "Arm",
    "ArmError",
    "ArmFuture",
    "ArmTimeoutError",
    "AsyncArm",
    "DynamicsAnswer",
    "IkAnswer",
    "IkBatchAnswer",
    "Progress",
    "Teacher",
]

_RENAMED = {"ArmLater": AsyncArm, "Pending": ArmFuture}


def __getattr__(name: str) -> Any:
    """Return TaskBehaviour, which needs py_trees, or a class by its former name."""
    if name == "TaskBehaviour":
        from arm_tasks.ros.client.behaviour import TaskBehaviour

        return TaskBehaviour
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = _RENAMED[name]
    warnings.warn(f"{name} is now {new.__name__}", DeprecationWarning, stacklevel=2)
    return new
