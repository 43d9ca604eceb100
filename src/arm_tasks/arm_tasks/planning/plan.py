# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/execution/test_engine.py
"""Plans: proven steps, or a refusal of the first infeasible step."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from arm_common.transforms import Array, twist_z, wrap
from arm_kinematics.ik.result import IkStatus
from arm_kinematics.paths.cartesian_path import PathStatus

from arm_tasks.errors import PlanError
from arm_tasks.planning.collision.checker import Clearance
from arm_tasks.planning.world_model import InJaws, PlannedWorldState
from arm_tasks.scene.scene import Bolt
from arm_tasks.task.condition import Condition
from arm_tasks.task.request import TaskRequest
from arm_tasks.task.steps import Command, FindFrame, HandleNut, StepBase

FIRST_STEP = ("", "1", "1.1")
"""Numbers of the first step: a run from it is planned from wherever the arm is."""

_NUMBER = re.compile(r"[1-9][0-9]{0,8}(\.[1-9][0-9]{0,8})?")

Kind = Literal["motion", "gripper", "wait", "pause", "branch", "command", "find"]


@dataclass(frozen=True)
class PlannedTrajectory:
    """A timed joint path, at rest at both ends; between its points it is a cubic."""

    joint_names: tuple[str, ...]  # (n,) names, base to tip
    times: Array  # (m,) from 0, increasing [s]
    positions: Array  # (m, n) [rad or m]
    velocities: Array  # (m, n) [rad/s or m/s]

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    def at(self, time: float) -> Array:
        """Return the joint positions (n,) at a time [s], clamped to the first and last point.

        Cubic Hermite between points, as a joint trajectory controller does.
        """
        i = int(np.searchsorted(self.times, time, side="right")) - 1
        if i < 0:
            return np.array(self.positions[0])
        if i >= len(self.times) - 1:
            return np.array(self.positions[-1])
        h = float(self.times[i + 1] - self.times[i])
        s = (time - float(self.times[i])) / h
        p0, p1 = self.positions[i], self.positions[i + 1]
        m0, m1 = self.velocities[i] * h, self.velocities[i + 1] * h
        a = (2.0 * s + 1.0) * (1.0 - s) ** 2 * p0 + s * (1.0 - s) ** 2 * m0
        return np.asarray(a + s * s * (3.0 - 2.0 * s) * p1 + s * s * (s - 1.0) * m1)


@dataclass(frozen=True)
class StepReport:
    """Result of the check of one step, with the fields of arm_interfaces/StepReport."""

    index: int  # of the step as executed, from 0
    number: str  # of the step in the task file, from 1; of its later parts as 3.2
    name: str  # name in the task file, with the part of the step
    feasible: bool
    position_error: float  # largest distance between target and reachable tool position [m]
    orientation_error: float  # largest angle between target and reachable orientation [rad]
    limit_margin: float  # smallest distance to a joint limit [rad or m]; inf without limits
    limit_joint: str  # its joint, or ""
    duration: float  # estimated [s]
    message: str  # one sentence
    turns: float = 0.0  # turns of the nut, positive when screwing on
    step_name: str = ""  # without the part
    first_part: int = 0  # index of the first part of the step
    near: Clearance | None = None  # the nearest pair of bodies; None if not checked
    reason: IkStatus | PathStatus | None = None  # code of a refusal
    torque_share: float = 0.0  # largest share of an actuator's torque, 0 if no limit is known
    torque_joint: str = ""  # the joint that it moves, or ""

    @property
    def label(self) -> str:
        """Number in the task file and name, for people."""
        return f"step {self.number}, {self.name}"


@dataclass(frozen=True)
class ThreadSearch:
    """A nut in the jaws that is turned back on a bolt's end."""

    bolt: Bolt
    nut: InJaws
    depth: float = 0.0  # of the bolt's tip in the nut at the click [m]

    def start(self, T_tool: Array) -> float:
        """Return the start of the thread if the nut clicks now, -pi to pi [rad].

        The tool is at base_link <- tool0 (4, 4).
        """
        roll = self.nut.phase + twist_z(self.bolt.pose[:3, :3].T @ T_tool[:3, :3])
        return wrap(roll - self.bolt.hand * math.tau * self.depth / self.bolt.pitch)


@dataclass(frozen=True)
class PlannedStep:
    """An executable step: joint motion, gripper command, wait, pause, branch, command, find."""

    index: int  # from 0, repetitions and screw strokes expanded
    name: str  # name in the task file, with the part of the step
    message: str  # one sentence for people: what the arm is doing
    kind: Kind
    start: Array  # joint positions (n,) before it [rad or m]
    start_width: float  # width of the jaws before it [m]
    report: StepReport  # result of the check, with the duration
    trajectory: PlannedTrajectory | None = None  # for a motion
    width: float | None = None  # of a gripper command, alone or during a motion [m]
    # base_link <- tool0 (2, 4, 4) at both ends of a straight line [m]; else None
    line: Array | None = None
    when: Condition | None = None  # for a branch, or a wait that ends with it
    timeout: float | None = None  # longest time of a wait for a condition or frame [s]
    command: Command | None = None  # for other nodes
    # for a frame that is not known yet: what follows is planned when it is
    find: FindFrame | None = None
    thread: ThreadSearch | None = None  # for a turn at whose click a bolt's thread starts
    retries: int = 0  # how often it is tried again if it fails
    # index of the following step (of a branch: if the condition holds); None for the next index
    following: int | None = None
    # following index if the condition of a branch does not hold or the step has failed, with the
    # arm where it began; None fails the task
    otherwise: int | None = None

    @property
    def next(self) -> int:
        """Index of the following step; for a branch, if the condition holds."""
        return self.index + 1 if self.following is None else self.following

    @property
    def label(self) -> str:
        """Number in the task file and name, for people."""
        return self.report.label

    @property
    def duration(self) -> float:
        """Estimated time [s]."""
        return self.report.duration

    @property
    def can_fail(self) -> bool:
        """Whether it depends on the arm or on other nodes."""
        return self.kind in ("motion", "gripper", "command") or self.timeout is not None

    @property
    def end(self) -> Array:
        """Joint positions (n,) after it [rad or m]."""
        return self.start if self.trajectory is None else self.trajectory.positions[-1]


@dataclass(frozen=True)
class Situation:
    """Situation in which a step of the task is planned."""

    step: StepBase
    next_nut_step: HandleNut | None  # the next step that handles the nut, or None
    q: Array  # joint positions (n,) [rad or m]
    width: float  # of the jaws [m]
    world: PlannedWorldState  # the expected world


@dataclass(frozen=True)
class TaskPlan:
    """Plan of a whole task: every step proven, or the refusal of one."""

    request: TaskRequest
    start: Array  # initial joint positions (n,) [rad or m]
    steps: tuple[PlannedStep, ...]  # up to the refused step, if there is one
    refusal: StepReport | None = None  # the infeasible step
    warnings: tuple[str, ...] = ()  # warnings for a person about a feasible plan
    refused_at: Situation | None = None  # situation of the refused step

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names (n,), base to tip."""
        return self.request.chain.joint_names

    @property
    def feasible(self) -> bool:
        """True if every step is feasible; only then may the plan be run."""
        return self.refusal is None

    @property
    def reports(self) -> tuple[StepReport, ...]:
        """Reports of all steps up to and including the refused one."""
        done = tuple(step.report for step in self.steps)
        return done if self.refusal is None else (*done, self.refusal)

    @property
    def duration(self) -> float:
        """Estimated time of the longest branch [s]."""
        left = [0.0] * (len(self.steps) + 1)
        for step in reversed(self.steps):
            after = [step.next] if step.otherwise is None else [step.next, step.otherwise]
            left[step.index] = step.duration + max(left[min(i, len(self.steps))] for i in after)
        return left[0]

    @property
    def worst_position_error(self) -> float:
        """Largest distance between target and planned tool position [m]."""
        return max((r.position_error for r in self.reports), default=0.0)

    @property
    def worst_orientation_error(self) -> float:
        """Largest angle between target and planned tool orientation [rad]."""
        return max((r.orientation_error for r in self.reports), default=0.0)

    @property
    def needs_other_nodes(self) -> bool:
        """True if a step watches, commands or looks for something of other nodes."""
        return any(
            step.find or step.command or (step.when and step.when.signal) for step in self.steps
        )

    def index_of(self, number: str) -> int:
        """Return the index of the step with a number of the task file; 0 for the empty number.

        Steps without a motion of their own, such as set_speed, begin with the following step.

        Raises:
            PlanError: There is no such step.
        """
        if number in FIRST_STEP:
            return 0
        if not _NUMBER.fullmatch(number):
            what = (
                "give the number of a step in the task file, from 1, or 3.2 for a part of step 3"
            )
            raise PlanError(f"there is no step {number[:20]!r}; {what}")
        step, _, part = number.partition(".")
        last = len(self.request.task.steps)
        later = [s for s in self.steps if _whole(s.report.number) >= int(step)]
        if int(step) > last or not later:
            raise PlanError(f"there is no step {step} to begin at; the last one is {last}")
        parts = max(sum(_whole(s.report.number) == int(step) for s in later), 1)
        if int(part or 1) > parts:
            has = f"{parts} parts" if parts > 1 else "one part"
            raise PlanError(f"there is no step {number}; step {step} has {has}")
        return later[0].index + int(part or 1) - 1

    @property
    def message(self) -> str:
        """One sentence: feasible, or the refused step and the reason."""
        if self.refusal is not None:
            return f"{self.refusal.label}: {self.refusal.message}"
        name, seconds = self.request.task.name, self.duration
        if frames := dict.fromkeys(s.find.frame for s in self.steps if s.find is not None):
            steps = f"steps 1 to {_whole(self.steps[-1].report.number)} of {name} can be done"
            what = f"what depends on {', '.join(frames)} is planned when it is found"
            return f"{steps}, in about {seconds:.0f} s; {what}"
        number = len(self.request.task.steps)
        every = f"all {number} steps" if number > 1 else "the only step"
        return f"{every} of {name} can be done, in about {seconds:.0f} s"


def _whole(number: str) -> int:
    """Return the number of a step without its part."""
    return int(number.partition(".")[0])


def off_lines(plan: TaskPlan, track: Iterable[tuple[int, Array]]) -> float:
    """Return the largest distance of the tool from the straight lines of a plan [m].

    The track contains the index of the running step and joint positions (n,) of each sample. The
    index may be slightly late or early, so the adjacent steps' lines count, too.
    """
    worst = 0.0
    for index, q in track:
        steps = plan.steps[max(index - 1, 0) : index + 2]
        if 0 <= index < len(plan.steps) and plan.steps[index].line is not None:
            point = plan.request.chain.fk(q)[:3, 3]
            ends = [step.line[:, :3, 3] for step in steps if step.line is not None]
            worst = max(worst, min(_distance(point, a, b) for a, b in ends))
    return worst


def _distance(point: Array, start: Array, end: Array) -> float:
    """Return the distance of a point (3,) from a line between two points (3,) [m]."""
    along = end - start
    share = (point - start) @ along / max(float(along @ along), 1e-18)
    return float(np.linalg.norm(point - start - np.clip(share, 0.0, 1.0) * along))
