# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plans and outcomes as the results of run_task and check_task."""

from __future__ import annotations

import json

from arm_interfaces.action import RunTask
from arm_interfaces.msg import StepReport as StepReportMessage
from arm_interfaces.srv import CheckTask
from arm_tasks.execution.outcome import EngineState, TaskOutcome
from arm_tasks.planning.feasibility import FeasibilityReport
from arm_tasks.planning.plan import StepReport, TaskPlan

_STATUS = {
    EngineState.SUCCEEDED: RunTask.Result.SUCCESS,
    EngineState.CANCELED: RunTask.Result.CANCELED,
    EngineState.FAILED: RunTask.Result.HARDWARE,
    EngineState.LOST: RunTask.Result.LOST,
}


def _report_message(report: StepReport) -> StepReportMessage:
    return StepReportMessage(
        index=report.index,
        name=report.name,
        feasible=report.feasible,
        position_error=float(report.position_error),
        orientation_error=float(report.orientation_error),
        limit_margin=float(report.limit_margin),
        limit_joint=report.limit_joint,
        duration=float(report.duration),
        turns=float(report.turns),
        message=report.message,
    )


def fill_check(response: CheckTask.Response, found: FeasibilityReport) -> CheckTask.Response:
    """Fill the response of check_task from a feasibility report; return it."""
    plan = found.plan
    response.feasible = plan.feasible
    response.message = found.message
    response.steps = [_report_message(report) for report in plan.reports]
    response.warnings = list(plan.warnings)
    response.duration = float(plan.duration)
    response.json = json.dumps(found.as_dict(), allow_nan=False)
    return response


def fill_plan(result: RunTask.Result, plan: TaskPlan) -> None:
    """Fill the plan's part of the result of run_task."""
    result.report = [_report_message(report) for report in plan.reports]
    result.warnings = list(plan.warnings)
    result.steps_total = len(plan.steps)
    result.worst_position_error = float(plan.worst_position_error)
    result.worst_orientation_error = float(plan.worst_orientation_error)


def fill_result(result: RunTask.Result, outcome: TaskOutcome) -> None:
    """Fill the outcome's part of the result of run_task."""
    result.status = _STATUS[outcome.state]
    result.message = outcome.message
    result.steps_done = outcome.steps_done
    result.steps_total = outcome.steps_total
    result.last_step = outcome.last_step
    result.duration = float(outcome.duration)
    result.step_durations = list(outcome.durations)
    if outcome.resume_step is not None:
        result.can_resume, result.resume_step = True, outcome.resume_step
        result.message += f"; to go on from there, give start step {outcome.resume_step}"
