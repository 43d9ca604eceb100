# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Puts a plan together: where the arm stands, how long a step takes, how near the limits."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from arm_common.transforms import Array
from arm_kinematics.paths.result import PathStatus
from arm_kinematics.paths.timing import TimedPath, time_path

from arm_description import Gripper, RobotModel
from arm_kinematics import Chain
from arm_tasks.errors import TaskFileError
from arm_tasks.planning.collision.checker import Clearance, CollisionChecker
from arm_tasks.planning.collision.path_checker import clearance_along, clearance_of_jaws
from arm_tasks.planning.plan import Kind, PlannedStep, PlannedTrajectory, StepReport
from arm_tasks.planning.tool_path import OutOfReach
from arm_tasks.scene.scene import readonly
from arm_tasks.task.condition import Condition
from arm_tasks.task.steps import StepBase

Errors = tuple[float, float]
"""Largest distance [m] and angle [rad] between wanted and planned poses of the tool."""

Exit = tuple[int, Literal["following", "otherwise"]]
"""A step and which of its ways on is not known yet."""

_NONE: Errors = (0.0, 0.0)
_HIT = PathStatus.COLLISION.name
_STILL = 1e-9  # joints that move less do not move [rad or m]


@dataclass(frozen=True)
class Labels:
    """How a step is called.

    Attributes:
        source: The step of the task that it comes from.
        name: Its name, with what part of the task's step it is.
        message: What the arm is doing, one sentence without a full stop.
    """

    source: StepBase
    name: str
    message: str


class Refused(Exception):  # noqa: N818
    """A step cannot be done; carries its report."""

    def __init__(self, report: StepReport) -> None:
        super().__init__(report.message)
        self.report = report


@dataclass
class PlanBuilder:
    """The plan so far and the state of arm and jaws at its end.

    Attributes:
        model: The robot.
        chain: Its kinematics.
        q: Joint positions (n,) [rad or m].
        width: Width of the jaws [m].
        steps: Made so far.
        checker: What knows of collisions, or None.
        warnings: Things that were planned but depend on what nobody knows.
        task_step: Index of the task's step that is being planned.
        touching: Thing that the jaws are meant to touch while it is set, or "".
        sketch: Plan no more of a step than tells most likely whether it can be done.
    """

    model: RobotModel
    chain: Chain
    q: Array
    width: float
    checker: CollisionChecker | None = None
    steps: list[PlannedStep] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    task_step: int = 0
    touching: str = ""
    sketch: bool = False

    @contextlib.contextmanager
    def touches(self, thing: str) -> Iterator[None]:
        """Let the jaws touch a thing: what is planned in here is pressed against it."""
        self.touching = thing
        try:
            yield
        finally:
            self.touching = ""

    def mark(self) -> tuple[int, int, Array, float]:
        """Return what back() needs to undo all that comes after."""
        return len(self.steps), len(self.warnings), self.q, self.width

    def back(self, mark: tuple[int, int, Array, float]) -> None:
        """Forget what was added since mark()."""
        steps, warnings, self.q, self.width = mark
        del self.steps[steps:], self.warnings[warnings:]

    def motion(
        self,
        labels: Labels,
        rows: Array,
        errors: Errors = _NONE,
        turns: float = 0.0,
        straight: bool = False,
        timed: TimedPath | None = None,
    ) -> None:
        """Add a motion through rows (m, n) of joint positions, from where the arm is now.

        It is as fast as the step may be, if it is not timed already.
        """
        joints = np.clip(rows, self.chain.lower, self.chain.upper)
        joints[0] = self.q
        if np.abs(joints - self.q).max() < _STILL:
            self._add(labels, "wait", 0.0, f"{labels.message}: already there", errors)
            return
        near = self._check_way(labels, joints)
        timed = timed or time_path(
            joints, self.chain.velocity, self.chain.acceleration, scaling=labels.source.speed
        )
        trajectory = PlannedTrajectory(
            self.chain.joint_names, timed.times, timed.positions, timed.velocities
        )
        ends = np.array([self.chain.fk(joints[i]) for i in (0, -1)]) if straight else None
        self._add(
            labels,
            "motion",
            trajectory.duration,
            "",
            errors,
            trajectory,
            turns=turns,
            near=near,
            line=ends,
        )
        self.q = readonly(joints[-1])

    def joint_motion(self, labels: Labels, goal: Array, errors: Errors = _NONE) -> None:
        """Add a motion straight in joint space to goal (n,)."""
        self.motion(labels, np.array([self.q, goal]), errors)

    def gripper(self, labels: Labels, width: float) -> None:
        """Add a motion of the jaws to a width [m]."""
        jaws = self.jaws(labels.source)
        if not jaws.min_width <= width <= jaws.max_width:
            low, high = jaws.min_width * 1e3, jaws.max_width * 1e3
            what = f"the width {width * 1e3:.2f} mm is not within {low:g} to {high:g} mm"
            raise self.wrong(labels.source, what)
        near = self._check_jaws(labels, width)
        way = abs(width - self.width)
        seconds = _ramp_time(way, jaws.velocity, jaws.acceleration)
        self._add(labels, "gripper", seconds, width=width, near=near)
        self.width = width

    def wait(self, labels: Labels, seconds: float) -> None:
        """Add a time to stand still [s]."""
        self._add(labels, "wait", seconds)

    def pause(self, labels: Labels) -> None:
        """Add a stand until a person says to go on."""
        self._add(labels, "pause", 0.0)

    def branch(self, labels: Labels, when: Condition) -> int:
        """Add a look at the world; returns its index, for join()."""
        self._add(labels, "branch", 0.0)
        self.steps[-1] = replace(self.steps[-1], when=when)
        return len(self.steps) - 1

    def join(self, exits: Iterable[Exit]) -> None:
        """Let the task go on from some steps with the next that is added."""
        for index, way in exits:
            step, goal = self.steps[index], len(self.steps)
            if way == "otherwise":
                self.steps[index] = replace(step, otherwise=goal)
            elif goal != index + 1:
                self.steps[index] = replace(step, following=goal)

    def refuse(self, labels: Labels, miss: OutOfReach, near: Clearance | None = None) -> Refused:
        """Return the refusal of the next step."""
        margin, joint = self._margin(self.q[None])
        report = StepReport(
            index=len(self.steps),
            name=labels.name,
            feasible=False,
            position_error=miss.position_error,
            orientation_error=miss.orientation_error,
            limit_margin=margin,
            limit_joint=joint,
            duration=0.0,
            message=miss.what,
            reason=miss.reason,
            near=near,
        )
        return Refused(report)

    def _check_way(self, labels: Labels, rows: Array) -> Clearance | None:
        """Return what a motion comes nearest to; refuse it if it collides."""
        if self.checker is None:
            return None
        way = clearance_along(self.checker, rows, self.width, self.touching)
        if way.hit_at is not None:
            where = f"first after {100.0 * way.hit_at:.0f} % of the way"
            miss = OutOfReach(f"collision: {way.nearest.clause}, {where}", reason=_HIT)
            raise self.refuse(labels, miss, way.nearest)
        return way.nearest

    def _check_jaws(self, labels: Labels, width: float) -> Clearance | None:
        """Return what the jaws come nearest to on their way; refuse it if it collides."""
        if self.checker is None or self.touching:
            return None
        nearest = clearance_of_jaws(self.checker, self.q, self.width, width)
        if nearest.hits:
            miss = OutOfReach(f"collision: {nearest.clause}", reason=_HIT)
            raise self.refuse(labels, miss, nearest)
        return nearest

    def jaws(self, step: StepBase) -> Gripper:
        """Return the robot's gripper; a robot without one is the task's fault."""
        if self.model.gripper is None:
            raise self.wrong(step, f"the robot {self.model.name} has no gripper")
        return self.model.gripper

    def wrong(self, step: StepBase, what: str) -> TaskFileError:
        """Return the error that a step of the task file makes no sense here."""
        return TaskFileError(f"step {step.kind}: {what}", step.file, step.line)

    def _add(
        self,
        labels: Labels,
        kind: Kind,
        duration: float,
        message: str = "",
        errors: Errors = _NONE,
        trajectory: PlannedTrajectory | None = None,
        width: float | None = None,
        turns: float = 0.0,
        near: Clearance | None = None,
        line: Array | None = None,
    ) -> None:
        points = self.q[None] if trajectory is None else trajectory.positions
        margin, joint = self._margin(points)
        index = len(self.steps)
        report = StepReport(
            index=index,
            name=labels.name,
            feasible=True,
            position_error=errors[0],
            orientation_error=errors[1],
            limit_margin=margin,
            limit_joint=joint,
            duration=duration,
            message="fine",
            turns=turns,
            near=near,
        )
        self.steps.append(
            PlannedStep(
                index=index,
                name=labels.name,
                message=message or labels.message,
                kind=kind,
                start=self.q,
                start_width=self.width,
                report=report,
                trajectory=trajectory,
                width=width,
                task_step=self.task_step,
                line=line,
            )
        )

    def _margin(self, points: Array) -> tuple[float, str]:
        """Return the smallest distance to a limit and its joint, from points (m, n)."""
        distance = np.minimum(points - self.chain.lower, self.chain.upper - points).min(axis=0)
        joint = int(np.argmin(distance))
        if not math.isfinite(distance[joint]):
            return math.inf, ""
        return float(distance[joint]), self.chain.joint_names[joint]


def _ramp_time(way: float, velocity: float, acceleration: float) -> float:
    """Return the time from rest to rest over a way, by a trapezoid of speed [s]."""
    if way * acceleration < velocity * velocity:
        return 2.0 * math.sqrt(way / acceleration)
    return way / velocity + velocity / acceleration
