# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Interface of an arm to the engine: verbs that start something, and handles to watch it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from arm_tasks.planning.plan import PlannedTrajectory
from arm_tasks.task.condition import Condition, Observation
from arm_tasks.task.request import ArmConfiguration


class MoveState(Enum):
    """State of a motion that was started."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELED = "canceled"


@dataclass(frozen=True)
class MoveStatus:
    """Status of a motion that was started."""

    state: MoveState
    message: str = ""  # why, if it was rejected or failed
    progress: float | None = None  # 0 to 1 if that is known, else None

    @property
    def done(self) -> bool:
        """True if it will not change any more."""
        return self.state is not MoveState.RUNNING


class Move(Protocol):
    """A motion that was started. No method blocks or raises."""

    def poll(self) -> MoveStatus:
        """Return its status."""
        ...

    def cancel(self) -> None:
        """Stop the arm; poll() then returns CANCELED, or what came first."""
        ...


class ArmPort(Protocol):
    """An arm, real or simulated. No method blocks or raises."""

    def move(self, trajectory: PlannedTrajectory) -> Move:
        """Start a joint motion."""
        ...

    def set_width(self, width: float) -> Move:
        """Start to move the jaws to a width [m]."""
        ...

    def configuration(self) -> ArmConfiguration:
        """Return the current configuration."""
        ...


Observer: TypeAlias = Callable[[Condition, float], Observation | None]
"""Returns the world as a condition needs it, observed after a time on the engine's clock [s]; None
until there is such an observation."""
