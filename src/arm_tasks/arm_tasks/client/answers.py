# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the arm tells: how far a task is, and answers of inverse kinematics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a task is.

    Attributes:
        step: Index of the running step, from 0.
        steps_total: Number of steps; 0 while it is checked.
        name: The step's name.
        progress: How far the step is, 0 to 1.
        message: One sentence: what the arm is doing.
        paused: Whether it waits to be resumed.
    """

    step: int
    steps_total: int
    name: str
    progress: float
    message: str
    paused: bool


@dataclass(frozen=True)
class IkAnswer:
    """An answer of inverse kinematics; true if there is a solution.

    Attributes:
        status: As in SolveIK, 1 for success.
        message: One sentence.
        joints: The nearest solution by joint name [rad or m]; without one, the best effort.
        position_error: Of these joints [m].
        orientation_error: Of these joints [rad].
        limiting_joints: Those whose limits are in the way.
    """

    status: int
    message: str
    joints: Mapping[str, float]
    position_error: float
    orientation_error: float
    limiting_joints: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.status == 1
