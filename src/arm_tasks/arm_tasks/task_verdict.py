# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Whether a run did what the task file expects, as the simulated world saw it."""

from __future__ import annotations

from dataclasses import dataclass

from arm_interfaces.action import RunTask
from arm_interfaces.msg import NutState
from arm_tasks.task_steps import Task


@dataclass(frozen=True)
class Verdict:
    """What became of a run.

    Attributes:
        good: Whether all is as expected.
        message: One sentence.
    """

    good: bool
    message: str


def judge(
    result: RunTask.Result, dry_run: bool, task: Task, nut: NutState | None, simulated: bool
) -> Verdict:
    """Judge a run.

    Args:
        result: Of the action.
        dry_run: Whether only a check was asked for.
        task: What was to be done.
        nut: The simulated world's word, or None if it said nothing.
        simulated: Whether there is a simulated world, which then must have spoken.
    """
    expected = task.expect
    if result.status != RunTask.Result.SUCCESS:
        return Verdict(False, result.message)
    if dry_run or expected is None:
        return Verdict(True, result.message)
    if nut is None and simulated:
        return Verdict(False, "nut_world does not say where the nut is; is it running?")
    if nut is None:
        return Verdict(True, f"{result.message}; look where the nut is")
    wanted = f"at least {expected.turns:g} turns on {expected.nut_on} were asked for"
    found = f"{nut.turns_engaged:.2f} turns on {nut.bolt}" if nut.bolt else nut.message
    if nut.bolt == expected.nut_on and not nut.grasped and nut.turns_engaged >= expected.turns:
        return Verdict(True, f"the nut is {found}, {wanted}")
    return Verdict(False, f"the nut is not where it should be: {found}; {wanted}")
