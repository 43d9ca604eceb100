# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Whether a run did what the task file expects, as the simulated world saw it."""

from __future__ import annotations

from dataclasses import dataclass

from arm_interfaces.action import RunTask
from arm_interfaces.msg import NutState
from arm_tasks.task.steps import Expectation, Task


@dataclass(frozen=True)
class Verdict:
    """What became of a run.

    Attributes:
        good: Whether all is as expected.
        message: One sentence.
    """

    good: bool
    message: str


@dataclass(frozen=True)
class ObservedRun:
    """What was seen of a run beside its result.

    Attributes:
        nut: The simulated world's word, or None if it said nothing.
        lies_on: What the payload that is expected somewhere lies on, "" if it hangs in the air,
            None if nobody says where it is.
        off_lines: How far the tool was from the lines that are to be straight [m].
    """

    nut: NutState | None = None
    lies_on: str | None = None
    off_lines: float = 0.0


def judge(
    result: RunTask.Result, dry_run: bool, task: Task, seen: ObservedRun, simulated: bool
) -> Verdict:
    """Judge a run.

    Args:
        result: Of the action.
        dry_run: Whether only a check was asked for.
        task: What was to be done.
        seen: What came of it.
        simulated: Whether there is a simulated world, which then must have spoken.
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
    said = "; ".join(verdict.message for verdict in bad or verdicts)
    return Verdict(not bad, said or result.message)


def is_there(expected: Expectation, nut: NutState) -> bool:
    """Return whether the nut is where it is expected, let go."""
    on = bool(nut.bolt == expected.nut_on and nut.turns_engaged >= expected.turns)
    return on and not nut.grasped


def _of_nut(expected: Expectation, nut: NutState | None, simulated: bool) -> Verdict:
    if nut is None and simulated:
        return Verdict(False, "nut_world does not say where the nut is; is it running?")
    if nut is None:
        return Verdict(True, "all steps were done; look where the nut is")
    wanted = f"at least {expected.turns:g} turns on {expected.nut_on} were asked for"
    found = f"{nut.turns_engaged:.2f} turns on {nut.bolt}" if nut.bolt else nut.message
    if is_there(expected, nut):
        return Verdict(True, f"the nut is {found}, {wanted}")
    return Verdict(False, f"the nut is not where it should be: {found}; {wanted}")


def _of_payload(expected: Expectation, lies_on: str | None, simulated: bool) -> Verdict:
    name, wanted = expected.payload, expected.lies_on
    if lies_on is None:
        what = f"nobody says where {name} is" if simulated else f"look where {name} is"
        return Verdict(not simulated, what)
    if lies_on == wanted:
        return Verdict(True, f"{name} lies on {wanted}")
    where = f"lies on {lies_on}" if lies_on else "lies on nothing"
    return Verdict(False, f"{name} {where}, not on {wanted}")


def _of_lines(within: float, off: float) -> Verdict:
    what = f"the tool kept within {off * 1e3:.2f} mm of its lines, {within * 1e3:g} mm are allowed"
    return Verdict(off <= within, what if off <= within else what.replace("kept", "did not keep"))
