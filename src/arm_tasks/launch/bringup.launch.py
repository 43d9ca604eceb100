# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm ready for commands: its driver, states and tf, and the kinematics."""

from arm_tasks.bringup.launch import launch_description
from arm_tasks.bringup.processes import BRINGUP_ARGUMENTS, bringup_processes


def generate_launch_description():
    return launch_description(BRINGUP_ARGUMENTS, bringup_processes())
