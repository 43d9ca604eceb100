# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compile the kinematics at installation time, in two processes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from arm_common.jit import finish_installation

import arm_common
import arm_kinematics
from arm_kinematics.dynamics.newton_euler import prepare_dynamics
from arm_kinematics.ik.closed_form.locked import prepare_locked
from arm_kinematics.ik.self_motion import prepare_self_motion
from arm_kinematics.kernels.search import prepare_search
from arm_kinematics.paths.timing import prepare_timing

if __name__ == "__main__":
    prepare_search()  # which the others call
    other = os.fork()
    if other == 0:
        prepare_self_motion()
        prepare_timing()
        prepare_dynamics()
        sys.exit()
    prepare_locked()
    _, status = os.waitpid(other, 0)
    if status != 0:  # it has printed why
        sys.exit(1)
    for package in (arm_common, arm_kinematics):
        finish_installation(Path(str(package.__file__)))
