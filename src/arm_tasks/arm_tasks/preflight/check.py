# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The preflight: the plan, and what would help where it is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from arm_description import RobotModel
from arm_kinematics import Chain
from arm_tasks.geometry import Array
from arm_tasks.plan import Plan, PlannedStep, StepReport
from arm_tasks.planner import plan_task
from arm_tasks.preflight.remedies import Case, Remedy, remedies
from arm_tasks.scene import Scene
from arm_tasks.task_steps import Task


@dataclass(frozen=True)
class Preflight:
    """What is known of a task before anything moves.

    Attributes:
        plan: Every step proven, or the refusal.
        robot: Name of the robot.
        speed_limits: (n,) of the joints [rad/s or m/s].
        sliding: Names of the joints that slide.
        remedies: Changes with which the refused step can be done, each by itself.
    """

    plan: Plan
    robot: str
    speed_limits: Array
    sliding: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()

    @property
    def message(self) -> str:
        """One sentence: all can be done, or the step that cannot, and what would help."""
        if self.plan.feasible:
            return self.plan.message
        advice = "; or ".join(remedy.text for remedy in self.remedies)
        return f"{self.plan.message}. It can be done so: {advice}" if advice else self.plan.message

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON takes it; lengths [m], angles [rad], times [s]."""
        planned = {step.index: step for step in self.plan.steps}
        reports = self.plan.reports
        return {
            "task": self.plan.task,
            "scene": self.plan.scene,
            "robot": self.robot,
            "feasible": self.plan.feasible,
            "message": self.message,
            "duration": self.plan.duration,
            "warnings": list(self.plan.warnings),
            "steps": [self._step(report, planned.get(report.index)) for report in reports],
            "remedies": [asdict(remedy) for remedy in self.remedies],
        }

    def _step(self, report: StepReport, step: PlannedStep | None) -> dict[str, Any]:
        near = report.near
        return {
            "index": report.index,
            "name": report.name,
            "feasible": report.feasible,
            "message": report.message,
            "reason": report.reason,
            "duration": report.duration,
            "position_error": report.position_error,
            "orientation_error": report.orientation_error,
            "limit_margin": _finite(report.limit_margin),
            "limit_joint": report.limit_joint,
            "speed": 0.0 if step is None else self._speed(step),
            "clearance": None if near is None else _finite(near.distance),
            "between": None if near is None else [near.first, near.second],
            "turns": 0.0 if step is None else step.turns,
        }

    def _speed(self, step: PlannedStep) -> float:
        """Return the largest share of a joint's speed limit that a step uses."""
        if step.trajectory is None:
            return 0.0
        return float((np.abs(step.trajectory.velocities) / self.speed_limits).max())


def preflight(
    task: Task,
    scene: Scene,
    model: RobotModel,
    chain: Chain,
    start: Mapping[str, float],
    start_width: float,
) -> Preflight:
    """Check a whole task, and where it is refused look for the least changes that would help.

    Arguments and errors are those of plan_task.
    """
    plan = plan_task(task, scene, model, chain, start, start_width)
    found = () if plan.feasible else tuple(remedies(Case(model, chain, plan)))
    pairs = zip(chain.joint_names, chain.prismatic, strict=True)
    sliding = tuple(name for name, slides in pairs if slides)
    return Preflight(plan, model.name, chain.velocity, sliding, found)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
