# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/planning/test_planner.py
"""Builds a plan step by step and tracks the state of the arm at its end."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
from arm_common.transforms import Array
from arm_description.model.elements import Payload
from arm_description.model.gripper import Gripper
from arm_description.model.units import SHOWN, mm
from arm_description.robot_model import RobotModel, read_only
from arm_kinematics.paths.cartesian_path import PathOptions, PathStatus
from arm_kinematics.paths.shapes import PathShape
from arm_kinematics.paths.timing import TimedPath, time_path

from arm_kinematics import Chain, IkResult
from arm_tasks.errors import TaskFileError
from arm_tasks.planning.collision.checker import AllowedContact, Clearance, CollisionChecker
from arm_tasks.planning.plan import Kind, PlannedStep, PlannedTrajectory, StepReport
from arm_tasks.planning.tool_path import OutOfReach, branches, tool_path
from arm_tasks.planning.torques import TorqueCheck
from arm_tasks.task.request import PREFERENCES
from arm_tasks.task.steps import StepBase

Errors = tuple[float, float]
"""Largest distance [m] and angle [rad] between target and planned poses of the tool."""

Exit = tuple[int, Literal["following", "otherwise"]]
"""A step and which of its successors is still open."""

_Option = TypeVar("_Option")
_Result = TypeVar("_Result")
_NONE: Errors = (0.0, 0.0)
_COLLISION = PathStatus.COLLISION
_STILL = 1e-6  # joints that move less do not move [rad or m]


@dataclass(frozen=True)
class Labels:
    """Name and message of a planned step."""

    source: StepBase  # its step of the task
    step_name: str  # name of that step
    message: str  # what the arm is doing, a clause
    part: str = ""  # part of that step

    @property
    def name(self) -> str:
        """Name of the step with the part."""
        return f"{self.step_name}: {self.part}" if self.part else self.step_name


class StepRefused(Exception):  # noqa: N818
    """A step is infeasible; carries its report."""

    def __init__(self, report: StepReport) -> None:
        super().__init__(report.message)
        self.report = report


class TimeRanOut(Exception):  # noqa: N818
    """Planning was given up because its time ran out."""


@dataclass
class PlanBuilder:
    """The plan so far and the state of the arm and its jaws at its end."""

    model: RobotModel
    chain: Chain  # its kinematics
    q: Array  # joint positions (n,) [rad or m]
    width: float  # of the jaws [m]
    torques: TorqueCheck
    checker: CollisionChecker | None = None  # None if collisions are not checked
    payload: Payload | None = None  # what the jaws carry, None for nothing
    prefer: str = PREFERENCES[0]  # which of several postures for a target is tried first
    steps: list[PlannedStep] = field(default_factory=list)  # planned so far
    warnings: list[str] = field(default_factory=list)  # unconfirmed assumptions
    task_step: int = 0  # index of the task's step that is being planned
    task_step_start: int = 0  # index of its first planned step
    first_part: int = 0  # index of the first part of the step that is being planned
    allowed_contact: AllowedContact | None = None  # that motions may make at present
    sketch: bool = False  # whether to plan only the parts that usually decide feasibility
    is_over: Callable[[], bool] | None = None  # whether to give up: TimeRanOut; None for never
    memory: dict[str, Any] | None = None  # results shared by plans of one step from one state

    @contextlib.contextmanager
    def allow_contact(self, obj: str, depth: float = math.inf) -> Iterator[None]:
        """Allow the jaws to touch an object, or the hand to a depth [m], within this context."""
        self.allowed_contact = AllowedContact(obj, depth) if obj else None
        try:
            yield
        finally:
            self.allowed_contact = None

    def first_feasible(
        self,
        labels: Labels,
        options: Callable[[], Iterable[_Option]],
        plan: Callable[[_Option], _Result],
    ) -> _Result:
        """Plan the first feasible option; if none is, raise the refusal of the first."""
        refusal, steps, warnings = None, len(self.steps), len(self.warnings)
        q, width = self.q, self.width
        try:
            for option in options():
                self._check_time()
                try:
                    return plan(option)
                except StepRefused as refused:
                    refusal = refusal or refused
                except OutOfReach as miss:
                    refusal = refusal or self.refuse(labels, miss)
                del self.steps[steps:], self.warnings[warnings:]
                self.q, self.width = q, width
        except OutOfReach as miss:
            refusal = refusal or self.refuse(labels, miss)
        raise refusal or self.refuse(labels, OutOfReach("out of reach"))

    def postures(self, T: Array, options: PathOptions) -> Iterable[IkResult]:
        """Return the IK solutions of base_link <- tool0 (4, 4), the preferred one first.

        Raises:
            OutOfReach: There is no solution.
        """
        found = branches(self.chain, T, self.q, options)
        if self.prefer != "torque":
            return found
        return sorted(found, key=lambda each: self.torques.holding(each.q, self.payload).share)

    def remembered(self, what: str, make: Callable[[], _Result]) -> _Result:
        """Return what make() returns, or returned in an earlier plan with the same memory."""
        if self.memory is None:
            return make()
        if what not in self.memory:
            self.memory[what] = make()
        result: _Result = self.memory[what]
        return result

    def follow(
        self,
        labels: Labels,
        shape: PathShape,
        options: PathOptions,
        turns: float = 0.0,
        straight: bool = False,
    ) -> None:
        """Add a motion of the tool along a shape."""
        self._check_time()
        try:
            path = tool_path(self.chain, shape, self.q, options)
        except OutOfReach as miss:
            raise self.refuse(labels, miss) from None
        errors = path.position_error, path.orientation_error
        self.motion(labels, path.positions, errors, turns, straight)

    def motion(
        self,
        labels: Labels,
        rows: Array,
        errors: Errors = _NONE,
        turns: float = 0.0,
        straight: bool = False,
        timed: TimedPath | None = None,
    ) -> None:
        """Add a motion from the current position through rows (m, n) of joint positions.

        It is as fast as the step's speed allows, unless a timed path is given.
        """
        self._check_time()
        joints = np.clip(rows, self.chain.lower, self.chain.upper)
        joints[0] = self.q
        width = self._width_meanwhile(labels)
        if np.abs(joints - self.q).max() < _STILL:
            if width != self.width:
                self.gripper(labels, width)
            else:
                self.add(labels, "wait", 0.0, f"{labels.message}: already there", errors)
            return
        self._check_constraints(labels, joints)
        near = self._check_path(labels, joints, width)
        timed = timed or time_path(
            joints, self.chain.velocity, self.chain.acceleration, scaling=labels.source.speed
        )
        trajectory = PlannedTrajectory(self.chain.joint_names, *timed)
        trajectory = self._within_torques(labels, trajectory)
        ends = np.array([self.chain.fk(joints[i]) for i in (0, -1)]) if straight else None
        parts: dict[str, Any] = {"trajectory": trajectory, "line": ends}
        seconds, message = trajectory.duration, ""
        if width != self.width:
            parts["width"], seconds = width, max(seconds, self._jaw_time(labels, width))
            message = f"{labels.message}, and the jaws to {mm(width, 1)}"
        self.add(labels, "motion", seconds, message, errors, near, turns, **parts)
        self.q, self.width = read_only(joints[-1]), width

    def _check_time(self) -> None:
        if self.is_over is not None and self.is_over():
            raise TimeRanOut

    def joint_motion(self, labels: Labels, goal: Array, errors: Errors = _NONE) -> None:
        """Add a motion straight in joint space to goal (n,)."""
        self.motion(labels, np.array([self.q, goal]), errors)

    def gripper(self, labels: Labels, width: float) -> None:
        """Add a motion of the jaws to a width [m]."""
        width = self._nearest_width(labels, width)
        seconds = self._jaw_time(labels, width)
        near = self._check_jaws(labels, width)
        self.add(labels, "gripper", seconds, near=near, width=width)
        self.width = width

    def _nearest_width(self, labels: Labels, width: float) -> float:
        """Return a width [m]; that of jaws as far closed as they can be if it is smaller."""
        least = self.jaws(labels.source).min_width
        return least if 0.0 <= width < least else width

    def _jaw_time(self, labels: Labels, width: float) -> float:
        """Return the time to move the jaws to a width [m]; raise TaskFileError beyond limits."""
        jaws = self.jaws(labels.source)
        if not jaws.min_width <= width <= jaws.max_width:
            low, high = SHOWN.number(jaws.min_width, "prismatic"), mm(jaws.max_width)
            what = f"the width {mm(width, 2)} is not within {low} to {high}"
            raise self.invalid(labels.source, what)
        return _ramp_time(abs(width - self.width), jaws.velocity, jaws.acceleration)

    def _width_meanwhile(self, labels: Labels) -> float:
        """Return the width of the jaws [m] at the end of a motion of the arm."""
        if labels.source.gripper is None or self.allowed_contact:
            return self.width
        width = self._nearest_width(labels, labels.source.gripper)
        self._jaw_time(labels, width)
        return width

    def join(self, exits: Iterable[Exit]) -> None:
        """Make the next added step the successor of some steps."""
        for index, branch in exits:
            step, goal = self.steps[index], len(self.steps)
            if branch == "otherwise":
                self.steps[index] = replace(step, otherwise=goal)
            elif goal != index + 1:
                self.steps[index] = replace(step, following=goal)

    def refuse(
        self, labels: Labels, miss: OutOfReach, near: Clearance | None = None, **more: Any
    ) -> StepRefused:
        """Return the refusal of the next step."""
        errors = miss.position_error, miss.orientation_error
        refusal = {"feasible": False, "message": miss.what, "reason": miss.reason, **more}
        return StepRefused(self._report(labels, self.q[None], errors, near=near, **refusal))

    def _check_constraints(self, labels: Labels, rows: Array) -> None:
        """Refuse the step if limits that depend on other joints do not allow its path."""
        if worst := self.chain.constraints.along(rows):
            slides = self.chain.sliding[self.chain.joint_names.index(worst.joint)]
            missing = (worst.amount, 0.0) if slides else (0.0, worst.amount)
            miss = OutOfReach(worst.sentence, *missing, reason=PathStatus.JOINT_LIMIT)
            raise self.refuse(labels, miss)

    def _within_torques(self, labels: Labels, motion: PlannedTrajectory) -> PlannedTrajectory:
        """Return a motion, slower if needed; refuse the step if an actuator is too weak."""
        motion = self.torques.slowed(motion, self.payload)
        use = self.torques.moving(motion, self.payload)
        if reason := self.torques.refusal(use):
            more: dict[str, Any] = {"torque_share": use.share, "torque_joint": use.joint}
            raise self.refuse(labels, OutOfReach(reason), **more)
        return motion

    def _check_path(self, labels: Labels, rows: Array, width: float) -> Clearance | None:
        if self.checker is None:
            return None
        path = self.checker.along(rows, (self.width, width), self.allowed_contact)
        if path.hit_at is not None:
            where = f"first after {100.0 * path.hit_at:.0f} % of the path"
            miss = OutOfReach(f"collision: {path.nearest.clause}, {where}", reason=_COLLISION)
            raise self.refuse(labels, miss, path.nearest)
        return path.nearest

    def _check_jaws(self, labels: Labels, width: float) -> Clearance | None:
        if self.checker is None or self.allowed_contact:
            return None
        nearest = self.checker.of_jaws(self.q, self.width, width)
        if nearest.penetrates:
            miss = OutOfReach(f"collision: {nearest.clause}", reason=_COLLISION)
            raise self.refuse(labels, miss, nearest)
        return nearest

    def jaws(self, step: StepBase) -> Gripper:
        """Return the robot's gripper; raise TaskFileError if it has none."""
        if self.model.gripper is None:
            raise self.invalid(step, f"the robot {self.model.name} has no gripper")
        return self.model.gripper

    def invalid(self, step: StepBase, what: str) -> TaskFileError:
        """Return the error for an invalid step of the task file."""
        return TaskFileError(f"step {step.kind}: {what}", file=step.file, line=step.line)

    def add(
        self,
        labels: Labels,
        kind: Kind,
        duration: float,
        message: str = "",
        errors: Errors = _NONE,
        near: Clearance | None = None,
        turns: float = 0.0,
        **parts: Any,
    ) -> None:
        """Add a step; parts are further fields of PlannedStep."""
        motion = parts.get("trajectory")
        points = self.q[None] if motion is None else motion.positions
        moving = motion and self.torques.moving(motion, self.payload)
        use = moving or self.torques.holding(self.q, self.payload)
        more: dict[str, Any] = {"torque_share": use.share, "torque_joint": use.joint}
        more |= {"duration": duration, "near": near, "turns": turns}
        report = self._report(labels, points, errors, **more)
        self.steps.append(
            PlannedStep(
                index=report.index,
                name=labels.name,
                message=message or labels.message,
                kind=kind,
                start=self.q,
                start_width=self.width,
                report=report,
                retries=labels.source.retries,
                **parts,
            )
        )

    def _number(self) -> str:
        """Return the number of the next planned step in the task file."""
        part = len(self.steps) - self.task_step_start + 1
        return f"{self.task_step + 1}.{part}" if part > 1 else f"{self.task_step + 1}"

    def _report(self, labels: Labels, points: Array, errors: Errors, **more: Any) -> StepReport:
        """Return the report of the next step through points (m, n); more are further fields."""
        distance = np.minimum(points - self.chain.lower, self.chain.upper - points).min(axis=0)
        joint = int(np.argmin(distance))
        limited = math.isfinite(distance[joint])
        report = StepReport(
            index=len(self.steps),
            number=self._number(),
            name=labels.name,
            feasible=True,
            position_error=errors[0],
            orientation_error=errors[1],
            limit_margin=float(distance[joint]),
            limit_joint=self.chain.joint_names[joint] if limited else "",
            duration=0.0,
            message="fine",
            step_name=labels.step_name,
            first_part=self.first_part,
        )
        return replace(report, **more)


def _ramp_time(distance: float, velocity: float, acceleration: float) -> float:
    """Return the time of a motion from rest to rest with a trapezoidal speed profile [s]."""
    if distance * acceleration < velocity * velocity:
        return 2.0 * math.sqrt(distance / acceleration)
    return distance / velocity + velocity / acceleration
