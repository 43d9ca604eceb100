# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Differential inverse kinematics: a wanted velocity of the tool -> joint speeds (no ROS)."""

from arm_kinematics.jogging.jog import Jog, JogStep

__all__ = ["Jog", "JogStep"]
