# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compares the result of a run with what the task file expects."""

from __future__ import annotations

from dataclasses import dataclass

from arm_interfaces.action import RunTask
from arm_interfaces.msg import NutState
from arm_tasks.task.steps import Expectation, Task


@dataclass(frozen=True)
class Verdict:
    """Whether a run met its expectations."""

    good: bool  # true if it did
    message: str  # one sentence


@dataclass(frozen=True)
class ObservedRun:
    """What the simulated world shows after a run."""

    nut: NutState | None = None  # the nut, None if unknown
    # support of the expected payload, "" if it has none, None if unknown
    lies_on: str | None = None
    off_lines: float = 0.0  # largest distance of the tool from its straight lines [m]


def judge(
    result: RunTask.Result, dry_run: bool, task: Task, seen: ObservedRun, simulated: bool
) -> Verdict:
    """Judge a run.

    Args:
        result: Result of run_task.
        dry_run: True if the task was only checked.
        task: The task.
        seen: What was observed.
        simulated: True if there is a simulated world; then observations are required.
    """
    expected = task.expect
    if result.status != RunTask.Result.SUCCESS:
        return Verdict(False, result.message)
    if dry_run or expected is None:
        return Verdict(True, result.message)
    parts = [
        _of_nut(expected, seen.nut, simulated) if expected.nut_on else None,
        _of_payload(expected, seen.lies_on, simulated) if expected.payload else None,
        _of_lines(expected.line_within, seen.off_lines) if expected.line_within else None,
    ]
    verdicts = [part for part in parts if part is not None]
    bad = [verdict for verdict in verdicts if not verdict.good]
    message = "; ".join(verdict.message for verdict in bad or verdicts)
    return Verdict(not bad, message or result.message)


def is_there(expected: Expectation, nut: NutState) -> bool:
    """Return True if the nut is where it is expected, and released."""
    on = bool(nut.bolt == expected.nut_on and nut.turns_engaged >= expected.turns)
    return on and not nut.grasped


def _of_nut(expected: Expectation, nut: NutState | None, simulated: bool) -> Verdict:
    if nut is None and simulated:
        return Verdict(False, "nut_world does not publish where the nut is; is it running?")
    if nut is None:
        return Verdict(True, "all steps were done; the position of the nut is unknown")
    required = f"at least {expected.turns:g} turns on {expected.nut_on} are required"
    found = f"{nut.turns_engaged:.2f} turns on {nut.bolt}" if nut.bolt else nut.message
    if is_there(expected, nut):
        return Verdict(True, f"the nut is {found}, {required}")
    return Verdict(False, f"the nut is not where it should be: {found}; {required}")


def _of_payload(expected: Expectation, lies_on: str | None, simulated: bool) -> Verdict:
    name, required = expected.payload, expected.lies_on
    if lies_on is None:
        return Verdict(not simulated, f"the position of {name} is unknown")
    if lies_on == required:
        return Verdict(True, f"{name} lies on {required}")
    where = f"lies on {lies_on}" if lies_on else "lies on nothing"
    return Verdict(False, f"{name} {where}, not on {required}")


def _of_lines(within: float, off: float) -> Verdict:
    verb = "stayed" if off <= within else "did not stay"
    limit = f"{within * 1e3:g} mm of its lines"
    return Verdict(
        off <= within, f"the tool {verb} within {limit}; it was off by {off * 1e3:.2f} mm"
    )
