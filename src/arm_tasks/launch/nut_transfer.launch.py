# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The nut transfer on fake, simulated or real hardware, seen in RViz or a browser.

The processes are those of the table in `arm_tasks.bringup.processes`, which `./arm demo` starts too.
"""  # noqa: E501

from arm_tasks.bringup.launch import launch_description
from arm_tasks.bringup.processes import ARGUMENTS, processes, state_publisher_package


def generate_launch_description():
    return launch_description(ARGUMENTS, processes(state_publisher_package()))
