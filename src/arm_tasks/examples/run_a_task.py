# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Check a task, run it, and print what the arm is doing."""

from arm_tasks.client import Arm, ArmError

with Arm() as arm:
    print(arm.check_task("nut_transfer").message)
    try:
        result = arm.run_task("nut_transfer", on_progress=lambda progress: print(progress.message))
        print(result.message)
    except ArmError as error:
        print(f"not done: {error}")
