# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""python -m arm_kinematics.precompile: compile at installation time what is compiled anyway."""

from __future__ import annotations

from arm_kinematics.jit import finish_installation
from arm_kinematics.warm_up import (
    prepare_chains,
    prepare_closed_forms,
    prepare_self_motion,
    prepare_timing,
)

if __name__ == "__main__":
    prepare_chains()
    prepare_closed_forms()
    prepare_self_motion()
    prepare_timing()
    finish_installation()
