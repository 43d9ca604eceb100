# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the planner makes: steps that have been proven, or the one that cannot be done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from arm_common.transforms import Array

from arm_tasks.planning.collision.checker import Clearance
from arm_tasks.planning.world_model import PlannedWorldState
from arm_tasks.task.condition import Condition
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from arm_tasks.task.steps import Screw, StepBase

Kind = Literal["motion", "gripper", "wait", "pause", "branch"]


@dataclass(frozen=True)
class PlannedTrajectory:
    """A timed joint path, at rest at both ends; between its points it is a cubic.

    Attributes:
        joint_names: (n,) names, base to tip.
        times: (m,) from 0, increasing [s].
        positions: (m, n) [rad or m].
        velocities: (m, n) [rad/s or m/s].
    """

    joint_names: tuple[str, ...]
    times: Array
    positions: Array
    velocities: Array

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    def at(self, time: float) -> Array:
        """Return the joint positions (n,) at a time [s], held before the start and past the end.

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
    """What the check says of one step; the fields of arm_interfaces/StepReport.

    Attributes:
        index: Of the step as executed, from 0.
        name: As in the task file, with what part of it this is.
        feasible: True if it can be done.
        position_error: Largest distance between wanted and reachable tool position [m].
        orientation_error: Largest angle between wanted and reachable orientation [rad].
        limit_margin: Smallest distance to a joint limit [rad or m]; inf if no joint has any.
        limit_joint: The joint it belongs to, or "".
        duration: Estimated [s].
        message: One sentence.
        turns: How far it turns a nut, positive on, negative off; 0 if it does not.
        near: The bodies that come nearest to each other; None if that was not checked.
        reason: Of a step that cannot be done, in a word for programs, such as "COLLISION".
    """

    index: int
    name: str
    feasible: bool
    position_error: float
    orientation_error: float
    limit_margin: float
    limit_joint: str
    duration: float
    message: str
    turns: float = 0.0
    near: Clearance | None = None
    reason: str = ""


@dataclass(frozen=True)
class PlannedStep:
    """One thing to do: a joint motion, a gripper command, a wait, a pause, or a look at the world.

    Attributes:
        index: From 0, repetitions and screw strokes expanded.
        name: As in the task file, with what part of it this is.
        message: One sentence for people: what the arm is doing.
        kind: "motion", "gripper", "wait", "pause": until a person says to go on, or "branch".
        start: Joint positions (n,) before it [rad or m].
        start_width: Width of the jaws before it [m].
        report: What the check said of it; its duration is the step's [s].
        trajectory: Of a motion, else None.
        width: Of a gripper command [m], else None.
        task_step: Index of the step in the task file that it is a part of.
        line: tool0 at both ends, base_link <- tool0 (2, 4, 4) [m], if it goes straight; else None.
        when: Of a branch, what is looked at.
        following: Index of the step after it, past it; None is the next one. Of a branch, where it
            holds.
        otherwise: Of a branch, the index where it does not hold; None if the task fails then.
    """

    index: int
    name: str
    message: str
    kind: Kind
    start: Array
    start_width: float
    report: StepReport
    trajectory: PlannedTrajectory | None = None
    width: float | None = None
    task_step: int = 0
    line: Array | None = None
    when: Condition | None = None
    following: int | None = None
    otherwise: int | None = None

    @property
    def next(self) -> int:
        """Index of the step after it, of a branch where it holds."""
        return self.index + 1 if self.following is None else self.following

    @property
    def duration(self) -> float:
        """Estimated time [s]."""
        return self.report.duration

    @property
    def turns(self) -> float:
        """How far it turns a nut, positive on, negative off; 0 if it does not."""
        return self.report.turns

    @property
    def end(self) -> Array:
        """Joint positions (n,) after it [rad or m]."""
        return self.start if self.trajectory is None else self.trajectory.positions[-1]


@dataclass(frozen=True)
class Situation:
    """What a step of the task begins with.

    Attributes:
        step: The step.
        screw_next: The screw step after it, or None.
        q: Joint positions (n,) [rad or m].
        width: Of the jaws [m].
        world: What the plan takes the world to be like.
    """

    step: StepBase
    screw_next: Screw | None
    q: Array
    width: float
    world: PlannedWorldState


@dataclass(frozen=True)
class TaskPlan:
    """A whole task, every step of it proven, or where it fails.

    Attributes:
        request: What is planned.
        start: Joint positions (n,) it begins at [rad or m].
        steps: What can be done, up to the refused step if there is one.
        refusal: The step that cannot be done, or None.
        warnings: What a person should know although every step can be done.
        refused_at: What the refused step began with, or None.
    """

    request: TaskRequest
    start: Array
    steps: tuple[PlannedStep, ...]
    refusal: StepReport | None = None
    warnings: tuple[str, ...] = field(default=())
    refused_at: Situation | None = None

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names (n,), base to tip."""
        return self.request.chain.joint_names

    @property
    def feasible(self) -> bool:
        """True if every step can be done; only then may it be run."""
        return self.refusal is None

    @property
    def reports(self) -> tuple[StepReport, ...]:
        """One for each step, up to and including the first that is not feasible."""
        done = tuple(step.report for step in self.steps)
        return done if self.refusal is None else (*done, self.refusal)

    @property
    def duration(self) -> float:
        """Estimated time of the longest way through the steps [s]."""
        left = [0.0] * (len(self.steps) + 1)
        for step in reversed(self.steps):
            ways = [step.next] if step.otherwise is None else [step.next, step.otherwise]
            left[step.index] = step.duration + max(left[min(w, len(self.steps))] for w in ways)
        return left[0]

    @property
    def worst_position_error(self) -> float:
        """Largest distance between wanted and planned tool position [m]."""
        return max((r.position_error for r in self.reports), default=0.0)

    @property
    def worst_orientation_error(self) -> float:
        """Largest angle between wanted and planned tool orientation [rad]."""
        return max((r.orientation_error for r in self.reports), default=0.0)

    @property
    def message(self) -> str:
        """One sentence for a person; names the step that is not feasible and by how much."""
        if self.refusal is not None:
            return f"step {self.refusal.index + 1}, {self.refusal.name}: {self.refusal.message}"
        count, seconds = len(self.steps), self.duration
        return (
            f"all {count} steps of {self.request.task.name} can be done, in about {seconds:.0f} s"
        )

    def start_of(self, index: int) -> ArmConfiguration:
        """Return the configuration that a step begins at."""
        step = self.steps[index]
        by_name = dict(zip(self.joint_names, step.start.tolist(), strict=True))
        return ArmConfiguration(by_name, step.start_width)
