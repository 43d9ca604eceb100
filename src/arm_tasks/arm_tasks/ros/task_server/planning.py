# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Requests for tasks -> plans, each made on a thread of its own, so that the node goes on.

Plans and outcomes as the messages of run_task and check_task.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from rclpy.node import Node
from rclpy.task import Future

from arm_description import RobotModel
from arm_interfaces.action import RunTask
from arm_interfaces.msg import StepReport as StepReportMessage
from arm_interfaces.srv import CheckTask
from arm_kinematics import Chain
from arm_tasks.execution.outcome import EngineState, TaskOutcome
from arm_tasks.planning.feasibility import FeasibilityReport
from arm_tasks.planning.plan import StepReport, TaskPlan
from arm_tasks.scene.file import load_scene
from arm_tasks.task.request import ArmConfiguration, load_request

if TYPE_CHECKING:
    from arm_tasks.ros.task_server.teaching import Teaching

Request: TypeAlias = CheckTask.Request | RunTask.Goal


class Planning:
    """Plans and checks in the background.

    Args:
        node: Whose executor awaits the plans.
        model: The robot.
        chain: Its kinematics.
        scene: Shipped name or path of the scene for requests that name none.

    Attributes:
        scene_name: That name.
        scene: That scene.
        teaching: Has the poses for tasks that are text, or None.
    """

    def __init__(self, node: Node, model: RobotModel, chain: Chain, scene: str) -> None:
        self.scene_name = scene
        self.scene = load_scene(scene, model.name)
        self.teaching: Teaching | None = None
        self._node = node
        self._model = model
        self._chain = chain
        self._wake = node.create_guard_condition(lambda: None)
        self._starts: dict[tuple[str, str, str], ArmConfiguration] = {}

    def plan(self, request: Request, start: ArmConfiguration, make: Callable[..., Any]) -> Future:
        """Return the future of what make, plan_task or check_feasibility, makes of a request."""

        def work() -> Any:
            poses = self.teaching.poses if request.text and self.teaching else None
            scene = request.scene or self.scene
            return make(
                load_request(
                    request.task, self._model, self._chain, start, scene, request.text, poses
                )
            )

        return self.in_background(work)

    def start_of(self, goal: RunTask.Goal, here: ArmConfiguration) -> ArmConfiguration:
        """Return where a plan for a goal has to begin, for equal steps to come of it again.

        A run that begins in the middle belongs to the plan of the run that was interrupted; that
        one began where that task was last begun, or, if nobody knows any more, at rest.
        """
        key = (goal.task, goal.scene, goal.text)
        if not goal.start_step:
            self._starts[key] = ArmConfiguration(dict(here.positions), here.width)
            return here
        if key not in self._starts:
            self._starts[key] = ArmConfiguration.of_posture(self._model)
        return self._starts[key]

    def in_background(self, work: Callable[[], Any]) -> Future:
        """Return a future that a thread of its own completes."""
        future = Future(executor=self._node.executor)

        def run() -> None:
            try:
                future.set_result(work())
            except Exception as error:  # noqa: BLE001
                future.set_exception(error)
            self._wake.trigger()

        threading.Thread(target=run, daemon=True).start()
        return future


def start_of_check(request: CheckTask.Request, here: ArmConfiguration) -> ArmConfiguration:
    """Return where a check has to begin: where the arm is, but for the joints that are given."""
    given: Mapping[str, float] = dict(zip(request.start.name, request.start.position, strict=True))
    return ArmConfiguration({**here.positions, **given}, here.width)


STATUS = {
    EngineState.SUCCEEDED: RunTask.Result.SUCCESS,
    EngineState.CANCELED: RunTask.Result.CANCELED,
    EngineState.FAILED: RunTask.Result.HARDWARE,
    EngineState.LOST: RunTask.Result.LOST,
}


def report_messages(plan: TaskPlan) -> list[StepReportMessage]:
    """Return what the check says of each step."""
    return [report_message(report) for report in plan.reports]


def report_message(report: StepReport) -> StepReportMessage:
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
        turns=float(report.turns),
        message=report.message,
    )


def fill_check(response: CheckTask.Response, found: FeasibilityReport) -> CheckTask.Response:
    """Put a feasibility report into the answer of check_task."""
    plan = found.plan
    response.feasible = plan.feasible
    response.message = found.message
    response.steps = report_messages(plan)
    response.warnings = list(plan.warnings)
    response.duration = float(plan.duration)
    response.json = json.dumps(found.as_dict(), allow_nan=False)
    return response


def fill_plan(result: RunTask.Result, plan: TaskPlan) -> None:
    """Put what the check said into the result of run_task."""
    result.report = report_messages(plan)
    result.warnings = list(plan.warnings)
    result.steps_total = len(plan.steps)
    result.worst_position_error = float(plan.worst_position_error)
    result.worst_orientation_error = float(plan.worst_orientation_error)


def fill_result(result: RunTask.Result, outcome: TaskOutcome) -> None:
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
