# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm that exists in this process only: runs a plan against NutWorld, faster than real time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from arm_common.transforms import Array

from arm_kinematics import Chain
from arm_tasks.execution.engine import Engine
from arm_tasks.execution.outcome import EngineState, Feedback, TaskOutcome
from arm_tasks.execution.ports import Move, MoveState, MoveStatus, Standing
from arm_tasks.execution.resume import JointRateLimits
from arm_tasks.planning.plan import PlannedTrajectory, TaskPlan
from arm_tasks.scene.nut_state import NutReport
from arm_tasks.task.condition import Sensed
from arm_tasks.world.nut_world import NutWorld

_JAW_SPEED = 0.06  # of the width [m/s]


class ServoBehaviour(Protocol):
    """What servos make of what they are told."""

    def tool(self, told: Array) -> Array:
        """Return base_link <- tool0 (4, 4) for joint positions (n,) told one after the other."""
        ...

    def width(self, told: float) -> float:
        """Return the distance of the jaws [m]."""
        ...


@dataclass(frozen=True)
class PerfectServos:
    """Servos that do what they are told."""

    chain: Chain

    def tool(self, told: Array) -> Array:
        """Return base_link <- tool0 (4, 4) for joint positions (n,) [m]."""
        return self.chain.fk(told)

    def width(self, told: float) -> float:
        """Return the distance of the jaws [m]."""
        return told


@dataclass
class Recording:
    """What happened, sampled at every update.

    Attributes:
        times: [s].
        joints: Joint positions (n,) each [rad or m].
        widths: Width of the jaws [m].
        nuts: What the world said of the nut.
        steps: Index of the step that was running.
        outcome: How the run ended.
    """

    times: list[float] = field(default_factory=list)
    joints: list[Array] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    nuts: list[NutReport] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    outcome: TaskOutcome | None = None

    @property
    def messages(self) -> list[str]:
        """What became of the nut, in order, each once."""
        said = [nut.message for nut in self.nuts]
        return [text for i, text in enumerate(said) if i == 0 or text != said[i - 1]]


class SimMove:
    """Something that SimArm is doing."""

    def __init__(self, arm: IdealArm, duration: float, at: Callable[[float], None]) -> None:
        self._arm = arm
        self._began = arm.time
        self._duration = duration
        self._at = at
        self._canceled = False

    def poll(self) -> MoveStatus:
        """Return how far it is on the arm's own clock."""
        elapsed = self._arm.time - self._began
        if self._canceled:
            return MoveStatus(MoveState.CANCELED)
        if elapsed >= self._duration:
            return MoveStatus(MoveState.SUCCEEDED, progress=1.0)
        return MoveStatus(MoveState.RUNNING, progress=elapsed / self._duration)

    def cancel(self) -> None:
        """Stand still at once."""
        self._canceled = self._canceled or not self.poll().done

    def advance(self) -> None:
        """Bring the arm to where it is on its way now."""
        if not self._canceled:
            self._at(min(self._arm.time - self._began, self._duration))


class IdealArm:
    """An ArmPort with a clock of its own; step() lets time pass.

    Args:
        chain: The arm's kinematics.
        world: The nut's world, updated at every step.
        q: Joint positions (n,) [rad or m].
        width: Width of the jaws [m].
        body: What it really does when it is told something; None is perfect.
    """

    def __init__(
        self,
        chain: Chain,
        world: NutWorld | None,
        q: Array,
        width: float,
        body: ServoBehaviour | None = None,
    ) -> None:
        self.chain = chain
        self.body = body or PerfectServos(chain)
        self.world = world
        self.q = np.array(q, dtype=np.float64)
        self.width = width
        self.time = 0.0
        self._doing: SimMove | None = None
        self._update()

    def move(self, trajectory: PlannedTrajectory) -> Move:
        """Start a joint motion."""

        def at(time: float) -> None:
            self.q = trajectory.at(time)

        self._doing = SimMove(self, trajectory.duration, at)
        return self._doing

    def set_width(self, width: float) -> Move:
        """Start to bring the jaws to a width [m], at a constant speed."""
        start = self.width
        duration = abs(width - start) / _JAW_SPEED

        def at(time: float) -> None:
            self.width = width if time >= duration else start + (width - start) * time / duration

        self._doing = SimMove(self, duration, at)
        return self._doing

    def where(self) -> Standing:
        """Return where it was commanded to be."""
        by_name = zip(self.chain.joint_names, self.q.tolist(), strict=True)
        return Standing(dict(by_name), self.width)

    @property
    def sensed(self) -> Sensed:
        """What is known of nut and jaws."""
        nut = None if self.world is None else self.world.report
        return Sensed(nut, self.body.width(self.width))

    def step(self, seconds: float) -> NutReport | None:
        """Let time pass [s]; return what the world then says of the nut."""
        self.time += seconds
        if self._doing is not None:
            self._doing.advance()
        return self._update()

    def _update(self) -> NutReport | None:
        if self.world is None:
            return None
        return self.world.update(self.body.tool(self.q), self.body.width(self.width))


def simulate(
    plan: TaskPlan,
    chain: Chain,
    world: NutWorld | None,
    rate: float = 50.0,
    on_update: Callable[[Engine, IdealArm], None] | None = None,
    body: ServoBehaviour | None = None,
) -> Recording:
    """Run a plan to its end in this process.

    Args:
        plan: A feasible plan.
        chain: The arm.
        world: Decides where the nut is.
        rate: Updates of the arm and the world per second.
        on_update: Called after each update, for tests that interfere.
        body: What the arm really does when it is told something; None is perfect.

    Returns:
        What happened; recording.outcome says how it ended.
    """
    arm = IdealArm(chain, world, plan.start, plan.start_width, body)
    recording = Recording()
    running = [0]

    def told(feedback: Feedback) -> None:
        running[0] = feedback.step

    limits = JointRateLimits(chain.velocity, chain.acceleration)
    engine = Engine(
        plan, arm, limits, clock=lambda: arm.time, on_feedback=told, senses=lambda *_: arm.sensed
    )
    while not (state := engine.tick()).done:
        if state is EngineState.PAUSED and plan.steps[running[0]].kind == "pause":
            engine.resume()  # there is no person here to wait for
        report = arm.step(1.0 / rate)
        recording.times.append(arm.time)
        recording.joints.append(arm.q.copy())
        recording.widths.append(arm.width)
        recording.nuts += [] if report is None else [report]
        recording.steps.append(running[0])
        if on_update is not None:
            on_update(engine, arm)
    recording.outcome = engine.outcome
    return recording
