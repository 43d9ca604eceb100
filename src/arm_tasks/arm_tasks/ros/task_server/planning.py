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
from arm_tasks.execution.ports import Standing, start_of
from arm_tasks.planning.feasibility import Preflight
from arm_tasks.planning.plan import StepReport, TaskPlan
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.scene import Scene
from arm_tasks.task.parser import load_task, task_from_text

if TYPE_CHECKING:
    from arm_tasks.ros.task_server.teaching import Teaching

DEFAULT_TASK = "nut_transfer"
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
        self._starts: dict[tuple[str, str, str], Standing] = {}

    def plan(self, request: Request, start: Standing, make: Callable[..., Any]) -> Future:
        """Return the future of what make, plan_task or preflight, makes of a request."""

        def work() -> Any:
            name = request.task or DEFAULT_TASK
            poses = self.teaching.poses if request.text and self.teaching else None
            task = task_from_text(request.text, name, poses) if request.text else load_task(name)
            scene = self.scene_of(request)
            return make(task, scene, self._model, self._chain, start.positions, start.width)

        return self.in_background(work)

    def scene_of(self, request: Request) -> Scene:
        """Return the scene of a request."""
        return load_scene(request.scene, self._model.name) if request.scene else self.scene

    def start_of(self, goal: RunTask.Goal, here: Standing) -> Standing:
        """Return where a plan for a goal has to begin, for equal steps to come of it again.

        A run that begins in the middle belongs to the plan of the run that was interrupted; that
        one began where that task was last begun, or, if nobody knows any more, at rest.
        """
        key = (goal.task, goal.scene, goal.text)
        if not goal.start_step:
            self._starts[key] = Standing(dict(here.positions), here.width)
            return here
        if key not in self._starts:
            self._starts[key] = Standing(*start_of(self._model, ""))
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


def start_of_check(request: CheckTask.Request, here: Standing) -> Standing:
    """Return where a check has to begin: where the arm is, but for the joints that are given."""
    given: Mapping[str, float] = dict(zip(request.start.name, request.start.position, strict=True))
    return Standing({**here.positions, **given}, here.width)


STATUS = {
    EngineState.SUCCEEDED: RunTask.Result.SUCCESS,
    EngineState.CANCELED: RunTask.Result.CANCELED,
    EngineState.FAILED: RunTask.Result.HARDWARE,
    EngineState.LOST: RunTask.Result.LOST,
}


def report_messages(plan: TaskPlan) -> list[StepReportMessage]:
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
