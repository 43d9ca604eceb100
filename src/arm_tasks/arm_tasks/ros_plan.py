# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plans and outcomes as the messages of run_task and check_task."""

from __future__ import annotations

import json

from arm_interfaces.action import RunTask
from arm_interfaces.msg import StepReport as StepReportMessage
from arm_interfaces.srv import CheckTask
from arm_tasks.outcome import EngineState, Outcome
from arm_tasks.plan import Plan, StepReport
from arm_tasks.preflight import Preflight

STATUS = {
    EngineState.SUCCEEDED: RunTask.Result.SUCCESS,
    EngineState.CANCELED: RunTask.Result.CANCELED,
    EngineState.FAILED: RunTask.Result.HARDWARE,
    EngineState.LOST: RunTask.Result.LOST,
}


def report_messages(plan: Plan) -> list[StepReportMessage]:
    """Return what the check says of each step."""
    turns = [step.turns for step in plan.steps]
    turns += [0.0] * (len(plan.reports) - len(turns))  # a refused step turns nothing
    return [report_message(*pair) for pair in zip(plan.reports, turns, strict=True)]


def report_message(report: StepReport, turns: float) -> StepReportMessage:
    """Return what the check says of one step as a message."""
    return StepReportMessage(
        index=report.index,
        name=report.name,
        feasible=report.feasible,
        position_error=float(report.position_error),
        orientation_error=float(report.orientation_error),
        limit_margin=float(report.limit_margin),
        limit_joint=report.limit_joint,
        duration=float(report.duration),
        turns=float(turns),
        message=report.message,
    )


def fill_check(response: CheckTask.Response, found: Preflight) -> CheckTask.Response:
    """Put a preflight into the answer of check_task."""
    plan = found.plan
    response.feasible = plan.feasible
    response.message = found.message
    response.steps = report_messages(plan)
    response.warnings = list(plan.warnings)
    response.duration = float(plan.duration)
    response.json = json.dumps(found.as_dict(), allow_nan=False)
    return response


def fill_plan(result: RunTask.Result, plan: Plan) -> None:
    """Put what the check said into the result of run_task."""
    result.report = report_messages(plan)
    result.warnings = list(plan.warnings)
    result.steps_total = len(plan.steps)
    result.worst_position_error = float(plan.worst_position_error)
    result.worst_orientation_error = float(plan.worst_orientation_error)


def fill_result(result: RunTask.Result, outcome: Outcome) -> None:
    """Put the end of a run into the result of run_task."""
    result.status = STATUS[outcome.state]
    result.message = outcome.message
    result.steps_done = outcome.steps_done
    result.steps_total = outcome.steps_total
    result.last_step = outcome.last_step
    result.duration = float(outcome.duration)
    result.step_durations = list(outcome.durations)
    if outcome.resume_step is not None:
        result.can_resume, result.resume_step = True, outcome.resume_step
        result.message += f"; to go on from there, give start step {outcome.resume_step}"
