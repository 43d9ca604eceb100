# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""State, feedback and outcome of a run, and the log that they are made from."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from arm_tasks.planning.plan import PlannedStep, TaskPlan

_LOGGER = logging.getLogger(__name__)


class EngineState(Enum):
    """State of a run."""

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
        """Whether the run is over: nothing will move any more."""
        return self.value in ("succeeded", "failed", "lost", "canceled")


@dataclass(frozen=True)
class Feedback:
    """Feedback of a run; the fields of RunTask's feedback."""

    state: EngineState
    step: int  # index of the running step, or of the next one while paused, from 0
    steps_total: int
    name: str  # the step's name
    progress: float  # of the step, 0 to 1
    message: str  # one sentence: what the arm is doing, or why it waits


@dataclass(frozen=True)
class TaskOutcome:
    """How a run ended."""

    state: EngineState  # SUCCEEDED, FAILED (by the arm), LOST (a dependency) or CANCELED
    message: str  # one sentence; names the step if it is not a success
    steps_done: int  # number of finished steps, including those before the first one
    steps_total: int
    last_step: str  # name of the last step that was begun, or ""
    duration: float  # from the first tick to the end, on the engine's clock [s]
    durations: tuple[float, ...]  # time of each finished step, from the first that was run [s]

    @property
    def resume_step(self) -> int | None:
        """Index of the step at which a new run can resume; None if nothing is left to do."""
        left = self.state is not EngineState.SUCCEEDED and self.steps_done < self.steps_total
        return self.steps_done if left else None


class RunLog:
    """Log of one run; progress is that of the running step, 0 to 1."""

    def __init__(
        self,
        plan: TaskPlan,
        clock: Callable[[], float],
        on_feedback: Callable[[Feedback], None] | None,
    ) -> None:
        self.progress = 0.0
        self._plan = plan
        self._clock = clock
        self._on_feedback = on_feedback
        self._began: float | None = None
        self._last = ""
        self._durations: list[float] = []

    def run_began(self) -> None:
        """Record the time of the first tick."""
        self._began = self._clock() if self._began is None else self._began

    def step_began(self, step: PlannedStep) -> None:
        """Record and publish that a step begins."""
        _LOGGER.info("step %d of %d: %s", step.index + 1, len(self._plan.steps), step.name)
        self._last, self.progress = step.name, 0.0
        self.publish(EngineState.RUNNING, step.index, step.message)

    def step_ended(self, seconds: float, skipped: int = 0) -> None:
        """Record the time of a finished step, and how many were skipped after it."""
        self._durations += [seconds, *[0.0] * skipped]
        self.progress = 0.0

    def publish(self, state: EngineState, index: int, message: str) -> None:
        """Send feedback on a step, the last one if all are done."""
        if self._on_feedback is None or not self._plan.steps:
            return
        total = len(self._plan.steps)
        step = self._plan.steps[min(index, total - 1)]
        self._on_feedback(Feedback(state, step.index, total, step.name, self.progress, message))

    def outcome(self, state: EngineState, message: str, done: int) -> TaskOutcome:
        """Return how the run ended after a number of finished steps."""
        _LOGGER.info("%s: %s", state.value, message)
        now = self._clock()
        return TaskOutcome(
            state=state,
            message=message,
            steps_done=done,
            steps_total=len(self._plan.steps),
            last_step=self._last,
            duration=now - (now if self._began is None else self._began),
            durations=tuple(self._durations),
        )
