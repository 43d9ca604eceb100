# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compile the kinematics at installation time."""

from __future__ import annotations

from arm_kinematics.ik.closed_form.nearest import prepare_closed_forms
from arm_kinematics.ik.self_motion import prepare_self_motion
from arm_kinematics.kernels.jit import finish_installation
from arm_kinematics.kernels.warm_up import prepare_chains, prepare_timing

if __name__ == "__main__":
    prepare_chains()
    prepare_closed_forms()
    prepare_self_motion()
    prepare_timing()
    finish_installation()
