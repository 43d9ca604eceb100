# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every solution of inverse kinematics at once, in closed form, where the geometry allows it."""

from arm_kinematics.closed_form.solver import ClosedForm, recognise

__all__ = ["ClosedForm", "recognise"]
