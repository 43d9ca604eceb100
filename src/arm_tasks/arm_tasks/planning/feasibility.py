# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The feasibility check: the plan of a task, remedies if a step is refused, and text tables."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Literal

import numpy as np
from arm_common.errors import aligned
from arm_common.files.access import ANY_FILE, FileAccess
from arm_common.transforms import Array, pose
from arm_description.model.units import SHOWN, deg, mm
from arm_kinematics.dexterity.loads import not_checked
from arm_kinematics.paths.cartesian_path import PathStatus

from arm_tasks.planning.plan import Situation, StepReport, TaskPlan
from arm_tasks.planning.planner import can_step, plan_task
from arm_tasks.scene.scene import TOOL_FRAME, Scene
from arm_tasks.task.request import TaskRequest
from arm_tasks.task.steps import HandleNut, StepBase, Tolerance, ToTarget, Turn

_SHIFTS = (2, 5, 10, 20, 40, 80)  # mm to try
_COLLISION_SHIFTS = (10, 40)  # mm to try for a collision, as its check is slow
_TILTS = (6, 12, 20, 30, 45)  # deg to try
# [s] for plan and search together; the part of a step that is being tried then is still planned
_TOTAL_TIME = 4.0
_MAX_NUT_TILT = 12  # deg; jaws tilted by more miss the nut (GRIP.tilt)
_DIRECTIONS = {
    f"{sign}{axis}": (1 if sign == "+" else -1) * unit
    for axis, unit in zip("xyz", np.eye(3), strict=True)
    for sign in "+-"
}
_RUN_HEAD = ("step", "parts", "time", "turns", "off by", "tilted by")
_HEAD = ("step", "time", "tilted by", "to limit", "clear by", "speed", "torque", "")


@dataclass(frozen=True)
class Remedy:
    """A change that makes the refused step feasible."""

    kind: Literal["move", "tilt"]  # "move" an object or a target, or allow more "tilt"
    what: str  # the object to move, or the step that may tilt
    way: tuple[float, float, float]  # displacement along the axes of base_link, or zeros [m]
    tilt: float  # largest angle to allow [rad], or 0
    text: str  # what to do, a clause


def remedies(
    plan: TaskPlan, clock: Callable[[], float] = time.process_time, spent: float = 0.0
) -> list[Remedy]:
    """Return the smallest changes found: a shift along an axis of base_link, and a tilt.

    The search ends after 4 s of the clock, by default the processor's time, less the time spent
    to plan [s]: a trial under way is given up after its present part, and none begins that takes
    longer than is left if it takes as long as an earlier feasible one.
    """
    assert plan.refusal is not None and plan.refused_at is not None
    end = clock() + _TOTAL_TIME - spent
    search = _RemedySearch(plan, plan.refusal, plan.refused_at, clock, end)
    return [found for found in (search.shift(), search.tilt()) if found is not None]


@dataclass
class _RemedySearch:
    """Tries changes of a refused step until the end of a clock's time [s]."""

    plan: TaskPlan
    refusal: StepReport
    situation: Situation  # where the refused step starts
    clock: Callable[[], float]
    end: float
    longest: float = 0.0  # time of a feasible trial [s]; an infeasible one may end early

    def shift(self) -> Remedy | None:
        """Return the smallest shift of the bolt or the target, or None."""
        step = self.situation.step
        if not isinstance(step, HandleNut | ToTarget) or not self._shift_matters(step):
            return None
        below = 0
        for shift_mm in _COLLISION_SHIFTS if self._collides else _SHIFTS:
            for axis, direction in _DIRECTIONS.items():
                shifted = partial(self._shifted, step, direction)
                if shifted(shift_mm):
                    shift_mm = _least(shifted, below, shift_mm)
                    what = (
                        step.bolt if isinstance(step, HandleNut) else f"the target of {step.name}"
                    )
                    x, y, z = (float(v) * shift_mm * 1e-3 for v in direction)
                    text = f"move {what} by {shift_mm} mm along {axis} of base_link"
                    return Remedy("move", what, (x, y, z), 0.0, text)
            below = shift_mm
        return None

    def tilt(self) -> Remedy | None:
        """Return the smallest tilt to allow, or None."""
        step = self.situation.step
        if not isinstance(step, HandleNut | ToTarget | Turn) or not self._tilt_matters(step):
            return None
        below = math.floor(math.degrees(step.tolerance.tilt))
        most = _MAX_NUT_TILT if isinstance(step, HandleNut) else _TILTS[-1]
        tilted = partial(self._tilted, step)
        for tilt_deg in (d for d in _TILTS if below < d <= most):
            if tilted(tilt_deg):
                least = _least(tilted, below, tilt_deg)
                tilt = math.radians(least)
                keys = f"tilt_deg: {least}"
                if isinstance(step, HandleNut) and step.approach_tilt < tilt:
                    keys += f", approach_tilt_deg: {least}"
                text = f"allow {step.name} to tilt by {least} deg ({keys})"
                return Remedy("tilt", step.name, (0.0, 0.0, 0.0), tilt, text)
            below = tilt_deg
        return None

    @property
    def _collides(self) -> bool:
        return self.refusal.reason == PathStatus.COLLISION

    def _shift_matters(self, step: HandleNut | ToTarget) -> bool:
        """Return whether moving the bolt or the target can help."""
        if not isinstance(step, HandleNut):
            return True
        if self.refusal.reason is None:
            return False  # no stroke fits, wherever the bolt is
        near, scene = self.refusal.near, self.situation.world.scene
        moving = near is not None and scene.moves_with(near.second, step.bolt)
        return not (self._collides and moving)

    def _tilt_matters(self, step: HandleNut | ToTarget | Turn) -> bool:
        """Return whether allowing another orientation can help."""
        if isinstance(step, ToTarget) and step.target.orientation == "any":
            return False
        if isinstance(step, HandleNut) and self.refusal.reason is None:
            return False
        return self.refusal.reason not in (PathStatus.COLLISION, PathStatus.UNREACHABLE_POSITION)

    def _shifted(self, step: HandleNut | ToTarget, direction: Array, mm: int) -> bool:
        scene = self.situation.world.scene
        displacement = direction * mm * 1e-3
        if isinstance(step, HandleNut):
            return self._can_step(step, scene.shifted(step.bolt, displacement))
        frame = step.target.frame
        chain = self.plan.request.chain
        T = chain.fk(self.situation.q) if frame == TOOL_FRAME else scene.frame(frame)
        moved = pose(p=tuple(T[:3, :3].T @ displacement)) @ step.target.pose
        target = replace(step.target, pose=moved)
        return self._can_step(replace(step, target=target), scene)

    def _tilted(self, step: HandleNut | ToTarget | Turn, deg: int) -> bool:
        tilt = math.radians(deg)
        loose = replace(step, tolerance=Tolerance(step.tolerance.position, tilt))
        if isinstance(loose, HandleNut):
            loose = replace(loose, approach_tilt=max(tilt, loose.approach_tilt))
        return self._can_step(loose, self.situation.world.scene)

    def _can_step(self, step: StepBase, scene: Scene) -> bool:
        """Return whether a step was found to be feasible in a scene in the time left."""
        begin = self.clock()
        if begin + self.longest >= self.end:
            return False
        feasible = can_step(step, scene, self.plan, lambda: self.clock() >= self.end)
        if feasible:
            self.longest = max(self.longest, self.clock() - begin)
        return feasible


def _least(feasible: Callable[[int], bool], no: int, yes: int) -> int:
    """Bisect for the smallest feasible integer, to a tenth, above an infeasible one."""
    while yes - no > max(1, yes // 10):
        middle = (no + yes) // 2
        no, yes = (no, middle) if feasible(middle) else (middle, yes)
    return yes


@dataclass(frozen=True)
class FeasibilityReport:
    """Result of a feasibility check."""

    plan: TaskPlan  # every step proven, or the refusal
    remedies: tuple[Remedy, ...] = ()  # each makes the refused step feasible

    @property
    def message(self) -> str:
        """One sentence: feasible, or the refused step and the remedies."""
        if not self.remedies:
            return self.plan.message
        advice = "; or ".join(remedy.text for remedy in self.remedies)
        return f"{self.plan.message}. To make it feasible: {advice}"

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data for JSON; lengths [m], angles [rad], times [s]."""
        request = self.plan.request
        return {
            "task": request.task.name,
            "scene": request.scene.name,
            "robot": request.model.name,
            "feasible": self.plan.feasible,
            "message": self.message,
            "duration": self.plan.duration,
            "warnings": list(self.plan.warnings),
            "torque_not_checked": list(self.plan.request.model.without_effort),
            "steps": [self._step(report) for report in self.plan.reports],
            "remedies": [asdict(remedy) for remedy in self.remedies],
        }

    def _step(self, report: StepReport) -> dict[str, Any]:
        near = report.near
        step = asdict(report) | {
            "reason": "" if report.reason is None else report.reason.name,
            "limit_margin": _finite(report.limit_margin),
            "speed": self._speed(report),
            "clearance": None if near is None else _finite(near.distance),
            "between": None if near is None else [near.first, near.second],
        }
        del step["near"]
        return step

    def _speed(self, report: StepReport) -> float:
        """Return the largest fraction of a joint's speed limit that a step uses."""
        steps = self.plan.steps
        trajectory = steps[report.index].trajectory if report.index < len(steps) else None
        if trajectory is None:
            return 0.0
        return float((np.abs(trajectory.velocities) / self.plan.request.chain.velocity).max())

    def text(self) -> str:
        """Return the report for a terminal."""
        rows = [_HEAD, *(self._row(parts) for parts in parts_by_step(self.plan.reports))]
        lines = _ruled(rows, left=(0, len(_HEAD) - 1))
        notes = [f"Warning  {warning}" for warning in self.plan.warnings]
        notes += filter(None, [not_checked(self.plan.request.model.without_effort)])
        advice = [f"Help     {remedy.text}" for remedy in self.remedies]
        verdict = f"{'Fine' if self.plan.feasible else 'Refused'}: {self.plan.message}"
        return "\n".join([*lines, "", *notes, *advice, verdict])

    def _row(self, parts: list[StepReport]) -> tuple[str, ...]:
        nearest = min((p.near.distance for p in parts if p.near is not None), default=math.inf)
        tightest = min(parts, key=lambda part: part.limit_margin)
        return (
            parts[0].step_name,
            f"{sum(p.duration for p in parts):.1f} s",
            deg(decisive_tilt(parts), 1),
            self._margin(tightest),
            mm(max(nearest, 0.0), 1) if math.isfinite(nearest) else "",
            f"{100.0 * max(self._speed(p) for p in parts):.0f} %",
            _share(max(part.torque_share for part in parts)),
            "fine" if all(p.feasible for p in parts) else "REFUSED",
        )

    def _margin(self, report: StepReport) -> str:
        if not math.isfinite(report.limit_margin):
            return ""
        chain = self.plan.request.chain
        slides = chain.sliding[chain.joint_names.index(report.limit_joint)]
        return SHOWN.fixed(report.limit_margin, "prismatic" if slides else "revolute")


def check_feasibility(request: TaskRequest, files: FileAccess = ANY_FILE) -> FeasibilityReport:
    """Check a whole task; if a step is refused, find the smallest changes that make it feasible.

    Recordings are read from the given files. Raises the errors of plan_task().
    """
    begin = time.process_time()
    plan = plan_task(request, files=files)
    spent = time.process_time() - begin
    return FeasibilityReport(plan, () if plan.feasible else tuple(remedies(plan, spent=spent)))


def _share(share: float) -> str:
    return f"{100.0 * share:.0f} %" if share else ""


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def parts_by_step(reports: Sequence[StepReport]) -> list[list[StepReport]]:
    """Return the parts of each step of the task."""
    return [list(parts) for _, parts in groupby(reports, lambda report: report.first_part)]


def decisive_tilt(parts: Sequence[StepReport]) -> float:
    """Return the largest tilt of a step [rad]; of a screw step, only while the nut turns."""
    turning = [part for part in parts if part.turns]
    return max((part.orientation_error for part in turning or parts), default=0.0)


def run_table(reports: Sequence[StepReport], seconds: Sequence[float] = ()) -> str:
    """Return a table of the steps of a plan or a run, with totals and the refusal, if any.

    Measured times [s], in the same order, replace the first estimates. Turns and errors that are
    0 in every step have no column.
    """
    measured = [replace(r, duration=s) for r, s in zip(reports, seconds, strict=False)]
    reports = [*measured, *reports[len(measured) :]]

    def errors(parts: Sequence[StepReport]) -> tuple[float, float]:
        off = max((part.position_error for part in parts), default=0.0)
        tilt = max(map(decisive_tilt, parts_by_step(parts)), default=0.0)
        return round(1e3 * off, 2), round(math.degrees(tilt), 1)

    def cells(name: str, parts: Sequence[StepReport], turns: str) -> list[str]:
        time = sum(part.duration for part in parts)
        off, tilt = errors(parts)
        return [name, str(len(parts)), f"{time:.1f} s", turns, f"{off:.2f} mm", f"{tilt:.1f} deg"]

    steps = parts_by_step(reports)
    turned = [math.fsum(part.turns for part in parts) for parts in steps]
    rows = [
        cells(parts[0].step_name, parts, f"{turns:+.2f}" if turns else "")
        for parts, turns in zip(steps, turned, strict=True)
    ]
    all_turns = round(sum(map(abs, turned)), 2)
    total = cells("all", reports, f"{all_turns:.2f}")
    shown = (True, True, True, all_turns, *errors(reports))
    kept = [i for i, says_something in enumerate(shown) if says_something]
    lines = _ruled([[row[i] for i in kept] for row in (_RUN_HEAD, *rows, total)])
    refusals = [f"{part.step_name}: {part.message}" for part in reports if not part.feasible]
    return "\n".join([*lines[:-1], lines[1], lines[-1], *refusals])


def _ruled(rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> list[str]:
    """Return rows as lines with aligned columns, some to the left, and a rule below the first."""
    rule = [column[0] and "-" * max(map(len, column)) for column in zip(*rows, strict=True)]
    return aligned([rows[0], rule, *rows[1:]], left)
