# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An in-process arm that runs a plan against the world faster than real time.

An ideal run of a plan gives the expected state of the nut at any time; a run that starts or ends
in the middle of the plan is compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from arm_common.transforms import Array
from arm_tasks.execution.engine import Engine, EngineState, Feedback, TaskOutcome
from arm_tasks.execution.ports import (
    EndedMove,
    FrameSearch,
    Move,
    MoveState,
    MoveStatus,
    SignalWatch,
)
from arm_tasks.planning.plan import PlannedStep, PlannedTrajectory, TaskPlan
from arm_tasks.scene.nut_state import NutEvent, NutReport, is_same_nut, nut_clause
from arm_tasks.task.condition import Observation, Reading, Signal
from arm_tasks.task.request import ArmConfiguration
from arm_tasks.task.steps import Command

from arm_kinematics import Chain
from arm_simulation.geometric.world import NutWorld

_JAW_SPEED = 0.06  # of the width [m/s]
_SAME_MOMENT = 0.02  # [rad, m/10] largest deviation of the arm within one moment of a plan


class ServoBehaviour:
    """Servos that follow their commands exactly; subclasses have errors."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain

    def tool(self, commanded: Array) -> Array:
        """Return base_link <- tool0 (4, 4) for the next commanded joint positions (n,) [m]."""
        return self._chain.fk(commanded)

    def width(self, commanded: float) -> float:
        """Return the actual distance of the jaws [m]."""
        return commanded


@dataclass
class Recording:
    """A run, sampled at every update."""

    times: list[float] = field(default_factory=list)  # [s]
    joints: list[Array] = field(default_factory=list)  # joint positions (n,) each [rad or m]
    widths: list[float] = field(default_factory=list)  # of the jaws [m]
    nuts: list[NutReport] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)  # index of the running step
    outcome: TaskOutcome | None = None

    @property
    def events(self) -> list[NutEvent]:
        """Events of the nut in order, without repetitions."""
        events = [nut.event for nut in self.nuts]
        return [event for i, event in enumerate(events) if i == 0 or event is not events[i - 1]]


class SimulatedMove:
    """A motion of an IdealArm."""

    def __init__(self, duration: float, at: Callable[[float], None]) -> None:
        self._elapsed = 0.0
        self._duration = duration
        self._at = at
        self._canceled = False

    def poll(self) -> MoveStatus:
        """Return the status."""
        if self._canceled:
            return MoveStatus(MoveState.CANCELED)
        if self._elapsed >= self._duration:
            return MoveStatus(MoveState.SUCCEEDED, progress=1.0)
        return MoveStatus(MoveState.RUNNING, progress=self._elapsed / self._duration)

    def cancel(self) -> None:
        """Stop at once."""
        self._canceled = self._canceled or not self.poll().done

    def advance(self, seconds: float) -> None:
        """Continue by a time along the motion [s]."""
        self._elapsed += seconds
        if not self._canceled:
            self._at(min(self._elapsed, self._duration))


class IdealArm:
    """An ArmPort with its own clock, which step() advances, and optionally a world.

    It starts at joint positions q (n,) [rad or m] and a jaw width [m]; without servos it follows
    exactly.
    """

    def __init__(
        self,
        chain: Chain,
        world: NutWorld | None,
        q: Array,
        width: float,
        servos: ServoBehaviour | None = None,
    ) -> None:
        self.chain = chain
        self.servos = servos or ServoBehaviour(chain)
        self.world = world
        self.q = np.array(q, dtype=np.float64)
        self.width = width
        self.time = 0.0
        self.speed_scaling = 1.0
        self.goal_tolerances: dict[str, float] = {}  # it follows exactly
        self._moves: dict[str, SimulatedMove] = {}  # the last ones of arm and jaws
        self._update()

    def move(self, trajectory: PlannedTrajectory) -> Move:
        """Start a joint motion."""

        def at(time: float) -> None:
            self.q = trajectory.at(time)

        self._moves["arm"] = SimulatedMove(trajectory.duration, at)
        return self._moves["arm"]

    def set_width(self, width: float) -> Move:
        """Start to move the jaws to a width [m], at a constant speed."""
        start = self.width
        duration = abs(width - start) / _JAW_SPEED

        def at(time: float) -> None:
            self.width = width if time >= duration else start + (width - start) * time / duration

        self._moves["jaws"] = SimulatedMove(duration, at)
        return self._moves["jaws"]

    @property
    def still(self) -> bool:
        """True at speed scaling 0, which stops it at once, and without a motion."""
        return self.speed_scaling == 0.0 or self.idle

    @property
    def idle(self) -> bool:
        """True without a motion."""
        return all(move.poll().done for move in self._moves.values())

    @property
    def ready(self) -> bool:
        """True unless it is paused."""
        return self.speed_scaling > 0.0

    def scale_speed(self, factor: float) -> None:
        """Set the factor on the speed of all motions."""
        self.speed_scaling = factor

    def scale_speed_when_idle(self, factor: float) -> None:
        """Set the factor, as this arm never loses a motion."""
        self.scale_speed(factor)

    def configuration(self) -> ArmConfiguration:
        """Return the commanded configuration."""
        return ArmConfiguration.of(self.chain.joint_names, self.q, self.width)

    @property
    def observation(self) -> Observation:
        """Current observation of nut and jaws."""
        nut = None if self.world is None else self.world.report
        return Observation(nut, self.servos.width(self.width), self.configuration().positions)

    def step(self, seconds: float) -> NutReport | None:
        """Advance the time [s]; return the new state of the nut."""
        self.time += seconds
        for move in self._moves.values():
            if not move.poll().done:
                move.advance(seconds * self.speed_scaling)
        return self._update()

    def _update(self) -> NutReport | None:
        if self.world is None:
            return None
        return self.world.update(self.servos.tool(self.q), self.servos.width(self.width))


class _Fulfilled:
    """A signal whose condition always holds."""

    def read(self) -> Reading:
        """Return that it holds."""
        return Reading(holds=True)

    def close(self) -> None:
        """Do nothing."""


class WillingNodes:
    """Other nodes that do and report whatever a task needs, as there are none to wait for."""

    def watch(self, signal: Signal) -> SignalWatch:
        """Return a signal whose condition holds."""
        return _Fulfilled()

    def send(self, command: Command) -> Move:
        """Return a command that is carried out."""
        return EndedMove(MoveStatus(MoveState.SUCCEEDED, progress=1.0))

    def find(self, step: PlannedStep) -> FrameSearch:
        """Return a search that fails, as there is nothing to see."""
        reason = "no frame can be found in a simulated run"
        return EndedMove(MoveStatus(MoveState.FAILED, reason))


def simulate(
    plan: TaskPlan,
    world: NutWorld | None,
    rate: float = 50.0,
    on_update: Callable[[Engine, IdealArm], None] | None = None,
    servos: ServoBehaviour | None = None,
) -> Recording:
    """Run a feasible plan to its end in this process, at a rate of updates [1/s].

    on_update is called after each update, for tests that interfere; without servos the arm follows
    exactly.
    """
    arm = IdealArm(plan.request.chain, world, plan.start, plan.request.start.width, servos)
    recording = Recording()
    running = 0

    def on_feedback(feedback: Feedback) -> None:
        nonlocal running
        running = feedback.step

    engine = Engine(
        plan,
        arm,
        clock=lambda: arm.time,
        on_feedback=on_feedback,
        observe=lambda *_: arm.observation,
        nodes=WillingNodes(),
    )
    while not (state := engine.tick()).done:
        if state is EngineState.PAUSED and plan.steps[running].kind == "pause":
            engine.resume()  # there is no person to wait for
        report = arm.step(1.0 / rate)
        recording.times.append(arm.time)
        recording.joints.append(arm.q.copy())
        recording.widths.append(arm.width)
        recording.nuts += [] if report is None else [report]
        recording.steps.append(running)
        if on_update is not None:
            on_update(engine, arm)
    recording.outcome = engine.outcome
    return recording


@dataclass(frozen=True)
class ReferenceRun:
    """An ideal run of a plan."""

    plan: TaskPlan  # its scene has a nut
    recording: Recording

    @classmethod
    def of(cls, plan: TaskPlan) -> ReferenceRun:
        """Simulate a plan."""
        return cls(plan, simulate(plan, NutWorld(plan.request.scene)))

    def nut(self, step: int, current: ArmConfiguration) -> NutReport:
        """Return the expected nut for an arm on the path of a step."""
        return next(self.moments(step, current))

    def disagreement(self, step: int, current: ArmConfiguration, nut: NutReport) -> str:
        """Return why a nut does not fit a step, or "" if it does."""
        expected = list(self.moments(step, current))
        if any(is_same_nut(nut, moment) for moment in expected):
            return ""
        needed, actual = nut_clause(expected[0]), nut_clause(nut)
        return f"{self.plan.steps[step].label}, needs the nut {needed}; it is {actual}"

    def moments(self, step: int, current: ArmConfiguration) -> Iterator[NutReport]:
        """Yield the nut when the arm was at a configuration in a step, the nearest time first."""
        run, q = self.recording, current.array(self.plan.joint_names)
        of_step = [i for i, k in enumerate(run.steps) if k == step]
        later = (i for i, k in enumerate(run.steps) if k > step)  # if the run took another branch
        first = of_step[0] if of_step else next(later, len(run.steps) - 1)
        moments = [max(first - 1, 0), *of_step]

        def off(i: int) -> float:
            width = 10.0 * abs(run.widths[i] - current.width)
            return max(float(np.abs(run.joints[i] - q).max()), width)

        distances = {i: off(i) for i in moments}
        nearest = min(distances.values())
        for i in sorted(distances, key=distances.__getitem__):
            if distances[i] <= nearest + _SAME_MOMENT:
                yield run.nuts[i]
