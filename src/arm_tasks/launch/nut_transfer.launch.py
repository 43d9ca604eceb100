# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The nut transfer on fake, simulated or real hardware, shown in RViz or a browser."""

from arm_tasks.bringup.launch import launch_description
from arm_tasks.bringup.processes import ARGUMENTS, processes


def generate_launch_description():
    return launch_description(ARGUMENTS, processes())
