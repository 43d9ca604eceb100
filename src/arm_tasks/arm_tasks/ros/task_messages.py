# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/run_task/test_verdict.py
"""Conversions between ROS messages and trajectories, reports, plans and outcomes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from arm_common.ros.message_conversions import duration_message, pose_matrix
from arm_common.ros.names import PrefixedNames
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_interfaces.action import RunTask
from arm_interfaces.msg import NutState, TextFile
from arm_interfaces.msg import StepReport as StepReportMessage
from arm_interfaces.srv import CheckTask
from arm_tasks.execution.engine import EngineState, TaskOutcome
from arm_tasks.planning.plan import PlannedTrajectory, StepReport, TaskPlan
from arm_tasks.scene.nut_state import NutReport, NutStatus
from arm_tasks.task.request import check_amount

if TYPE_CHECKING:
    from arm_tasks.planning.feasibility import FeasibilityReport

_STATUS = {
    EngineState.SUCCEEDED: RunTask.Result.SUCCESS,
    EngineState.CANCELED: RunTask.Result.CANCELED,
    EngineState.FAILED: RunTask.Result.HARDWARE,
    EngineState.LOST: RunTask.Result.DEPENDENCY_LOST,
}
_JUDGED = frozenset(NutStatus) - {NutStatus.NOT_JUDGED}
_REPORT_FIELDS = StepReportMessage.get_fields_and_field_types()


def sent_texts(files: Sequence[TextFile]) -> dict[str, str]:
    """Return the texts of a request's files by path; raise TasksError if they are too many."""
    texts = [(file.name, file.text) for file in files]
    check_amount(texts)
    return dict(texts)


def is_judged(message: NutState) -> bool:
    """Return False for a world in which a callback has failed, and for a state that none sends."""
    return message.state in _JUDGED


def nut_report(message: NutState) -> NutReport:
    """Return the state of the nut in a message."""
    return NutReport(
        status=NutStatus(message.state),
        bolt=message.bolt,
        turns_engaged=message.turns_engaged,
        grasped=message.grasped,
        pose=pose_matrix(message.pose.pose),
        message=message.message,
    )


def step_report(message: StepReportMessage) -> StepReport:
    """Return the step report in a message."""
    return StepReport(**{name: getattr(message, name) for name in _REPORT_FIELDS})


def _report_messages(plan: TaskPlan) -> list[StepReportMessage]:
    kinds = {name: type(getattr(StepReportMessage(), name)) for name in _REPORT_FIELDS}
    return [
        StepReportMessage(**{name: kind(getattr(report, name)) for name, kind in kinds.items()})
        for report in plan.reports
    ]


def trajectory_message(motion: PlannedTrajectory, names: PrefixedNames) -> JointTrajectory:
    """Return a joint motion as a message."""
    message = JointTrajectory(joint_names=names.add_all(motion.joint_names))
    rows = zip(motion.times, motion.positions, motion.velocities, strict=True)
    for time, position, velocity in rows:
        point = JointTrajectoryPoint()
        point.positions = position.tolist()
        point.velocities = velocity.tolist()
        point.time_from_start = duration_message(float(time))
        message.points.append(point)
    return message


def fill_check(response: CheckTask.Response, found: FeasibilityReport) -> CheckTask.Response:
    """Fill the response of check_task from a feasibility report; return it."""
    plan = found.plan
    response.feasible = plan.feasible
    response.message = found.message
    response.steps = _report_messages(plan)
    response.warnings = list(plan.warnings)
    response.duration = float(plan.duration)
    response.json = json.dumps(found.as_dict(), allow_nan=False)
    return response


def fill_plan(result: RunTask.Result, plan: TaskPlan) -> None:
    """Fill the plan's fields of the result of run_task."""
    result.report = _report_messages(plan)
    result.warnings = list(plan.warnings)
    result.steps_total = len(plan.steps)
    result.worst_position_error = float(plan.worst_position_error)
    result.worst_orientation_error = float(plan.worst_orientation_error)


def fill_outcome(result: RunTask.Result, outcome: TaskOutcome, plan: TaskPlan) -> None:
    """Fill the outcome's fields of the result of run_task."""
    result.status = _STATUS[outcome.state]
    result.message = outcome.message
    result.steps_done = outcome.steps_done
    result.steps_total = outcome.steps_total
    result.last_step = outcome.last_step
    result.duration = float(outcome.duration)
    result.step_durations = list(outcome.durations)
    if outcome.behind:
        slow = f"steps took {outcome.behind:.0f} s longer than planned: the computer is too slow"
        result.warnings = [*result.warnings, slow]
    if outcome.resume_step is not None:
        number = plan.steps[outcome.resume_step].report.number
        result.can_resume, result.resume_step = True, number
        where = f"it can be resumed at step {number}"
        result.message = f"{outcome.message.removesuffix('.')}; {where}"
