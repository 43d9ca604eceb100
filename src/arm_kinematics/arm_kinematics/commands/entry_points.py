# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The executables of this package."""

from arm_common.signals import start


def kinematics() -> int:
    """Run `kinematics`."""
    return start("arm_kinematics.ros.node")
