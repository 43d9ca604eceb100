# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the engine needs of an arm: two verbs that start something, and handles to watch it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from arm_tasks.condition import Condition, Sensed
from arm_tasks.plan import JointTrajectory


class MoveState(Enum):
    """How far something that was started has come."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELED = "canceled"


@dataclass(frozen=True)
class MoveStatus:
    """What a handle says.

    Attributes:
        state: How far it is.
        message: Why, if it was rejected or failed.
        progress: 0 to 1 if that is known, else None.
    """

    state: MoveState
    message: str = ""
    progress: float | None = None

    @property
    def done(self) -> bool:
        """True if it will not change any more."""
        return self.state is not MoveState.RUNNING


@dataclass(frozen=True)
class Standing:
    """Where an arm is.

    Attributes:
        positions: By joint name [rad or m]; joints of which nothing is known are left out.
        width: Of the jaws [m]; 0 if there are none.
    """

    positions: Mapping[str, float]
    width: float


class Move(Protocol):
    """A motion that was started. No method blocks or raises."""

    def poll(self) -> MoveStatus:
        """Return how far it is."""
        ...

    def cancel(self) -> None:
        """Ask the arm to stop and hold; poll() then says CANCELED, or what came first."""
        ...


class ArmPort(Protocol):
    """An arm, or something that stands for one. No method blocks or raises."""

    def move(self, trajectory: JointTrajectory) -> Move:
        """Start a joint motion."""
        ...

    def set_width(self, width: float) -> Move:
        """Start to bring the jaws to a width [m]."""
        ...

    def where(self) -> Standing:
        """Return where it is now."""
        ...


Senses: TypeAlias = Callable[[Condition, float], Sensed | None]
"""What is known of what a condition looks at, seen after a time on the engine's clock [s]; None
as long as nobody has said so."""
