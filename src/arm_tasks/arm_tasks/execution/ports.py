# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/execution/test_engine.py
"""Interfaces to an arm and other nodes: methods that start motions, and their handles.

What a step expects of the nut is known from a reference run of the plan, which a simulated world
makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from arm_common.plugins import PluginGroup

from arm_tasks.planning.plan import PlannedStep, PlannedTrajectory, TaskPlan
from arm_tasks.scene.nut_state import NutReport
from arm_tasks.task.condition import Condition, Observation, Reading, Signal
from arm_tasks.task.request import ArmConfiguration
from arm_tasks.task.steps import Command


class MoveState(Enum):
    """State of a started motion."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    REJECTED = "rejected"
    FAILED = "failed"
    STOPPED = "stopped"  # by a person, another client or a fault: it must not be repeated
    CANCELED = "canceled"


@dataclass(frozen=True)
class MoveStatus:
    """Status of a started motion."""

    state: MoveState
    message: str = ""  # the reason if it was rejected, stopped or failed
    progress: float | None = None  # 0 to 1, or None if unknown

    @property
    def done(self) -> bool:
        """True if the motion has ended."""
        return self.state is not MoveState.RUNNING


class Move(Protocol):
    """A started motion. No method blocks or raises."""

    def poll(self) -> MoveStatus:
        """Return its status."""

    def cancel(self) -> None:
        """Stop the arm; poll() then returns CANCELED, or the end state that came first."""


@dataclass
class EndedMove:
    """A motion, command or search that has ended at its start."""

    status: MoveStatus
    plan: TaskPlan | None = None  # of a search

    def poll(self) -> MoveStatus:
        """Return how it has ended."""
        return self.status

    def cancel(self) -> None:
        """Do nothing."""


class ArmPort(Protocol):
    """An arm, real or simulated. No method blocks or raises."""

    def move(self, trajectory: PlannedTrajectory) -> Move:
        """Start a joint motion."""

    def set_width(self, width: float) -> Move:
        """Start to move the jaws to a width [m]."""

    def configuration(self) -> ArmConfiguration:
        """Return the current configuration."""

    @property
    def goal_tolerances(self) -> Mapping[str, float]:
        """How far from its goal a joint may be after a motion [rad or m]; absent: anywhere."""

    @property
    def speed_scaling(self) -> float:
        """The arm's factor on the speed of all motions: 1 as planned, 0 paused."""

    @property
    def still(self) -> bool:
        """Whether nothing moves."""

    @property
    def idle(self) -> bool:
        """Whether it executes no motion, and nothing moves."""

    @property
    def ready(self) -> bool:
        """Whether it accepts motions: armed, without a fault, and not paused."""

    def scale_speed(self, factor: float) -> None:
        """Set the factor; at 0 the arm brakes on its path, and its motion remains started."""

    def scale_speed_when_idle(self, factor: float) -> None:
        """Set the factor once the arm executes no motion, unless another is set before."""


Observer: TypeAlias = Callable[[Condition, float], Observation | None]
"""Returns the observation that a condition needs, made after a time on the engine's clock [s], or
None until there is one."""


class SignalWatch(Protocol):
    """The value of a signal from a moment on. No method blocks or raises."""

    def read(self) -> Reading:
        """Return whether its condition holds for the newest value."""

    def close(self) -> None:
        """Receive no more values."""


class FrameSearch(Move, Protocol):
    """A search for a frame.

    Attributes:
        plan: Once it has succeeded, the plan with the frame; equal up to the step that found it.
    """

    plan: TaskPlan | None


class OtherNodes(Protocol):
    """The nodes beside those of the arm. No method blocks or raises."""

    def watch(self, signal: Signal) -> SignalWatch:
        """Start to watch a signal."""

    def send(self, command: Command) -> Move:
        """Start to carry out a command."""

    def find(self, step: PlannedStep) -> FrameSearch:
        """Start to look for the frame of a step, and then to plan what follows."""


class NutPrediction(Protocol):
    """The nut at any time of a plan."""

    def nut(self, step: int, current: ArmConfiguration) -> NutReport:
        """Return the expected nut for an arm on the path of a step."""

    def disagreement(self, step: int, current: ArmConfiguration, nut: NutReport) -> str:
        """Return why a nut does not fit a step, or "" if it does."""


REFERENCE_RUNS = PluginGroup("arm_tasks.reference_runs", "reference run")
"""Functions of a TaskPlan whose scene has a nut that return a NutPrediction."""
