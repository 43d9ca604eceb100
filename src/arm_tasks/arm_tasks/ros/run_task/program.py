# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Runs one task and judges the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arm_common.ros.node_runner import session
from arm_common.transforms import Array

from arm_description import RobotModel
from arm_interfaces.action import RunTask
from arm_kinematics import Chain
from arm_tasks.planning.plan import StepReport, off_lines
from arm_tasks.planning.planner import plan_task
from arm_tasks.ros.messages import nut_report, step_report
from arm_tasks.ros.run_task.client import TaskClient
from arm_tasks.ros.run_task.verdict import ObservedRun, Verdict, is_there, judge
from arm_tasks.scene.nut_state import NutReport
from arm_tasks.scene.payloads import lies_on
from arm_tasks.scene.scene import Scene
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from arm_tasks.task.steps import Expectation, Task


@dataclass(frozen=True)
class CompletedRun:
    """A run and what was observed."""

    result: RunTask.Result  # result of run_task
    reports: list[StepReport]  # reports of its steps
    verdict: Verdict  # whether the task's expectations are met
    nut: NutReport | None  # the nut at the end, None without a simulated world
    postures: list[Array]  # recorded joint positions (n,) [rad or m]


def run_task(goal: dict[str, Any], task: Task, scene: Scene, model: RobotModel) -> CompletedRun:
    """Run a task to its end and judge it.

    Args:
        goal: Fields of the goal of run_task.
        task: The same task, for its expectations.
        scene: The scene of the goal.
        model: The robot.

    Raises:
        TasksError: A server is missing or does not respond.
        KeyboardInterrupt: The task was cancelled.
    """
    with session():
        client = TaskClient(model)
        try:
            client.wait_ready()
            result = client.run(RunTask.Goal(**goal))
            seen = ObservedRun()
            if result.status == RunTask.Result.SUCCESS and not goal["dry_run"]:
                seen = _observe(client, task, scene, model)
        finally:
            client.close()
    verdict = judge(result, bool(goal["dry_run"]), task, seen, client.simulated)
    nut = None if seen.nut is None else nut_report(seen.nut)
    reports = [step_report(report) for report in result.report]
    return CompletedRun(result, reports, verdict, nut, client.postures)


def _observe(client: TaskClient, task: Task, scene: Scene, model: RobotModel) -> ObservedRun:
    """Return what came of a successful run, as far as the task expects something."""
    expected, nut, on, off = task.expect or Expectation(), None, None, 0.0
    if scene.nut is not None:
        nut = client.nut(lambda nut: not expected.nut_on or is_there(expected, nut))
    if name := expected.payload:

        def support(T: Array) -> str:
            return lies_on(scene.with_thing(name, T), name)

        T = client.payload(name, lambda T: support(T) == expected.lies_on)
        on = None if T is None else support(T)
    if expected.line_within is not None and client.track:
        chain = Chain.from_model(model)
        start = ArmConfiguration(
            dict(zip(model.joint_names, client.track[0][1].tolist(), strict=True)),
            model.gripper.max_width if model.gripper else 0.0,
        )
        plan = plan_task(TaskRequest(task, scene, model, chain, start), collisions=False)
        off = off_lines(plan, client.track)
    return ObservedRun(nut, on, off)
