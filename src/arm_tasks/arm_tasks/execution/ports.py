# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the engine needs of an arm: two verbs that start something, and handles to watch it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from arm_description import RobotModel
from arm_tasks.errors import PlanError
from arm_tasks.planning.plan import PlannedTrajectory
from arm_tasks.task.condition import Condition, Sensed


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

    def move(self, trajectory: PlannedTrajectory) -> Move:
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


def start_of(model: RobotModel, posture: str) -> tuple[dict[str, float], float]:
    """Return joint positions by name [rad or m] and the width of the jaws [m] of a posture.

    Raises:
        PlanError: The robot has no such posture.
    """
    if posture and posture not in model.postures:
        known = ", ".join(model.postures) or "none"
        raise PlanError(f"{model.name} has no posture '{posture}'; it has {known}")
    named = model.postures.get(posture or "rest", {})
    width = named.get("gripper", model.gripper.min_width if model.gripper else 0.0)
    return {**dict.fromkeys(model.joint_names, 0.0), **named}, width
