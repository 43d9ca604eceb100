# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The preflight: the plan, and what would help where it is refused.

A preflight as text: a line for each step of the task, what is wrong, what would help.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import numpy as np
from arm_common.transforms import Array

from arm_description import RobotModel
from arm_kinematics import Chain
from arm_tasks.planning.plan import PlannedStep, StepReport, TaskPlan
from arm_tasks.planning.planner import plan_task
from arm_tasks.planning.remedies import Case, Remedy, remedies
from arm_tasks.scene.scene import Scene
from arm_tasks.task.steps import Task


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

    plan: TaskPlan
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


_HEAD = ("step", "time", "tilted by", "to limit", "clear by", "speed", "")


def text(found: Preflight) -> str:
    """Return the report for a terminal."""
    steps = found.as_dict()["steps"]
    groups = groupby(steps, lambda step: step["name"].split(": ", 1)[0])
    rows = [_HEAD, *(_row(found, name, list(parts)) for name, parts in groups)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    lines = [_line(row, widths) for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths[:-1]))
    notes = [f"Warning  {warning}" for warning in found.plan.warnings]
    advice = [f"Help     {remedy.text}" for remedy in found.remedies]
    verdict = f"{'Fine' if found.plan.feasible else 'Refused'}: {found.plan.message}"
    return "\n".join([*lines, "", *notes, *advice, verdict])


def _row(found: Preflight, name: str, parts: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    near = min((p["clearance"] for p in parts if p["clearance"] is not None), default=None)
    tightest = min(parts, key=_margin)
    margin = tightest["limit_margin"]
    return (
        name,
        f"{sum(p['duration'] for p in parts):.1f} s",
        f"{math.degrees(max(p['orientation_error'] for p in parts)):.1f} deg",
        "" if margin is None else f"{_quantity(found, tightest['limit_joint'], margin)}",
        "" if near is None else f"{1e3 * max(near, 0.0):.1f} mm",
        f"{100.0 * max(p['speed'] for p in parts):.0f} %",
        "fine" if all(p["feasible"] for p in parts) else "REFUSED",
    )


def _margin(part: dict[str, Any]) -> float:
    return math.inf if part["limit_margin"] is None else float(part["limit_margin"])


def _quantity(found: Preflight, joint: str, value: float) -> str:
    sliding = joint in found.sliding
    return f"{1e3 * value:.1f} mm" if sliding else f"{math.degrees(value):.1f} deg"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    pairs = enumerate(zip(cells, widths, strict=True))
    last = len(cells) - 1
    return "  ".join(c.ljust(w) if i in (0, last) else c.rjust(w) for i, (c, w) in pairs).rstrip()
