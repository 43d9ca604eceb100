# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the engine says while it runs a plan, and at the end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class EngineState(Enum):
    """How far a run is."""

    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    LOST = "lost"
    CANCELED = "canceled"

    @property
    def done(self) -> bool:
        """True if the run is over: nothing will move any more."""
        return self in (
            EngineState.SUCCEEDED,
            EngineState.FAILED,
            EngineState.LOST,
            EngineState.CANCELED,
        )


@dataclass(frozen=True)
class Feedback:
    """What the engine is doing; the fields of RunTask's feedback.

    Attributes:
        state: How far the run is.
        step: Index of the running step, or of the next one while paused, from 0.
        steps_total: Number of steps.
        name: The step's name.
        progress: How far the step is, 0 to 1.
        message: One sentence: what the arm is doing, or why it waits.
    """

    state: EngineState
    step: int
    steps_total: int
    name: str
    progress: float
    message: str


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes:
        state: SUCCEEDED, FAILED (by the arm), LOST (by something else that went) or CANCELED.
        message: One sentence; names the step if it is not a success.
        steps_done: How many steps were finished, those before the first one included.
        steps_total: Number of steps.
        last_step: Name of the last step that was begun, or "".
        duration: From the first tick to the end, on the engine's clock [s].
        durations: Time of each step that was finished, from the first that was run [s].
    """

    state: EngineState
    message: str
    steps_done: int
    steps_total: int
    last_step: str
    duration: float
    durations: tuple[float, ...]

    @property
    def resume_step(self) -> int | None:
        """Index of the step with which a new run can go on; None if nothing is left to do."""
        left = self.state is not EngineState.SUCCEEDED and self.steps_done < self.steps_total
        return self.steps_done if left else None
