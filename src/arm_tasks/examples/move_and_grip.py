# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Move joints, then the tool, then the jaws."""

from arm_tasks.client import Arm

with Arm() as arm:
    arm.move_posture("ready")
    arm.move_joints({"waist": -0.6})
    arm.move_pose([0.15, -0.10, 0.19])
    arm.move_linear([0.0, 0.0, 0.01], frame="tool0")
    arm.grip(0.012)
    print(arm.fk()[:3, 3])
