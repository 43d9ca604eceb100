# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compares the result of a run with what the task file expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arm_common.transforms import Array
from arm_description.model.units import mm
from arm_description.robot_model import RobotModel

from arm_interfaces.action import RunTask
from arm_interfaces.msg import NutState
from arm_kinematics import Chain
from arm_tasks.planning.plan import StepReport, off_lines
from arm_tasks.planning.planner import plan_task
from arm_tasks.ros.run_task.client import BLIND, TaskClient
from arm_tasks.ros.task_messages import nut_report, step_report
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.grasp import lies_on
from arm_tasks.scene.nut_state import NutReport
from arm_tasks.scene.scene import Scene
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from arm_tasks.task.steps import Expectation, Task


@dataclass(frozen=True)
class Verdict:
    """Judgement of a run by its expectations."""

    good: bool  # whether they are met
    message: str  # one sentence


@dataclass(frozen=True)
class ObservedRun:
    """State of the simulated world after a run."""

    nut: NutState | None = None  # the nut, None if unknown
    # object under the expected payload, "" if there is none, None if unknown
    lies_on: str | None = None
    off_lines: float = 0.0  # largest deviation of the tool from its straight lines [m]
    judge: str = ""  # what decided where nut and payload are
    unjudged: str = ""  # why the world cannot tell
    unseen: str = BLIND  # why nut and payload are unknown in simulation, where they are


@dataclass(frozen=True)
class CompletedRun:
    """A run and its observations."""

    arm: str  # namespace of the arm, such as left; "" for none
    result: RunTask.Result  # result of run_task
    reports: list[StepReport]  # reports of its steps
    verdict: Verdict  # whether the task's expectations are met
    nut: NutReport | None  # the nut at the end, None without a simulated world
    postures: list[Array]  # recorded joint positions (n,) [rad or m]

    @property
    def refused(self) -> bool:
        """Whether the task was refused before anything moved."""
        return bool(self.result.status == RunTask.Result.NOT_FEASIBLE)


def completed(
    client: TaskClient,
    result: RunTask.Result,
    goal: dict[str, Any],
    task: Task,
    model: RobotModel,
) -> CompletedRun:
    """Return a run that has ended, judged by what its client sees; the goal names its scene."""
    seen = ObservedRun()
    if result.status == RunTask.Result.SUCCESS and not goal["dry_run"]:
        seen = _observe(client, task, load_scene(goal["scene"], model.name), model)
    verdict = judge(result, bool(goal["dry_run"]), task, seen, client.simulated)
    nut = None if seen.nut is None or seen.unjudged else nut_report(seen.nut)
    reports = [step_report(report) for report in result.report]
    return CompletedRun(client.arm, result, reports, verdict, nut, client.postures)


def _observe(client: TaskClient, task: Task, scene: Scene, model: RobotModel) -> ObservedRun:
    """Observe the result of a successful run, as far as the task has expectations."""
    expected, nut, on, off = task.expect or Expectation(), None, None, 0.0
    if scene.nut is not None:
        nut = client.nut(lambda nut: not expected.nut_on or is_there(expected, nut))
    if name := expected.payload:

        def support(T: Array) -> str:
            return lies_on(scene.with_object(name, T), name)

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
    return ObservedRun(nut, on, off, client.judge, client.unjudged, client.unseen)


def judge(
    result: RunTask.Result, dry_run: bool, task: Task, seen: ObservedRun, simulated: bool
) -> Verdict:
    """Judge a run by its observations, which are required in simulation."""
    expected = task.expect
    if result.status != RunTask.Result.SUCCESS:
        return Verdict(False, result.message)
    if dry_run or expected is None:
        return Verdict(True, result.message)
    if seen.unjudged:
        return Verdict(False, seen.unjudged)
    verdicts = []
    if expected.nut_on:
        verdicts.append(_of_nut(expected, seen, simulated))
    if expected.payload:
        verdicts.append(_of_payload(expected, seen, simulated))
    if expected.line_within:
        verdicts.append(_of_lines(expected.line_within, seen.off_lines))
    bad = [verdict for verdict in verdicts if not verdict.good]
    message = "; ".join(verdict.message for verdict in bad or verdicts) or result.message
    return Verdict(not bad, f"{message} (judge: {seen.judge})" if seen.judge else message)


def is_there(expected: Expectation, nut: NutState) -> bool:
    """Return True if the nut is where it is expected, and released."""
    on = bool(nut.bolt == expected.nut_on and nut.turns_engaged >= expected.turns)
    return on and not nut.grasped


def _of_nut(expected: Expectation, seen: ObservedRun, simulated: bool) -> Verdict:
    nut = seen.nut
    if nut is None and simulated:
        return Verdict(False, seen.unseen)
    if nut is None:
        return Verdict(True, "all steps were done; the position of the nut is unknown")
    least = f"at least {expected.turns:g}"
    found = f"{nut.turns_engaged:.2f} turns on {nut.bolt}" if nut.bolt else nut.message
    if is_there(expected, nut):
        return Verdict(True, f"the nut is {found}; {least} are required")
    required = f"{least} turns on {expected.nut_on} are required"
    return Verdict(False, f"the nut is not where it should be: {found}; {required}")


def _of_payload(expected: Expectation, seen: ObservedRun, simulated: bool) -> Verdict:
    name, required, lies_on = expected.payload, expected.lies_on, seen.lies_on
    if lies_on is None:
        unknown = f"the position of {name} is unknown"
        return Verdict(not simulated, f"{unknown}; {seen.unseen}" if simulated else unknown)
    if lies_on == required:
        return Verdict(True, f"{name} lies on {required}")
    where = f"lies on {lies_on}" if lies_on else "lies on nothing"
    return Verdict(False, f"{name} {where}, not on {required}")


def _of_lines(within: float, off: float) -> Verdict:
    good = off <= within
    limit = f"{'stayed' if good else 'did not stay'} within {mm(within)} of its lines"
    return Verdict(good, f"the tool {limit}; it was off by {mm(off, 2)}")
