# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A robot model's stored postures as joint values."""

from __future__ import annotations

from collections.abc import Mapping

from arm_description import RobotModel

REST = "rest"
GRIPPER = "gripper"


def postures_of(model: RobotModel) -> dict[str, dict[str, float]]:
    """Return posture name -> joint name -> value [rad or m].

    A posture's `gripper` is a width [m]; it becomes half of it for each finger joint.
    """
    return {name: _joints(model, posture) for name, posture in model.postures.items()}


def _joints(model: RobotModel, posture: Mapping[str, float]) -> dict[str, float]:
    joints = {name: float(value) for name, value in posture.items() if name != GRIPPER}
    if GRIPPER in posture and model.gripper is not None:
        joints |= {finger: 0.5 * float(posture[GRIPPER]) for finger in model.gripper.joints}
    return joints
