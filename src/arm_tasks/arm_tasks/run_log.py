# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a run has done so far, and how it is told: feedback on the way, an outcome at the end."""

from __future__ import annotations

import logging
from collections.abc import Callable

from arm_tasks.outcome import EngineState, Feedback, Outcome
from arm_tasks.plan import Plan, PlannedStep

_LOG = logging.getLogger(__name__)


class RunLog:
    """Keeps the log of one run.

    Args:
        plan: What is run.
        clock: Steady time [s].
        on_feedback: Called with all that is told, or None.

    Attributes:
        progress: How far the running step is, 0 to 1.
    """

    def __init__(
        self,
        plan: Plan,
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
        """Note the time of the first tick."""
        self._began = self._clock() if self._began is None else self._began

    def step_began(self, step: PlannedStep) -> None:
        """Note and tell that a step begins."""
        _LOG.info("step %d of %d: %s", step.index + 1, len(self._plan.steps), step.name)
        self._last, self.progress = step.name, 0.0
        self.tell(EngineState.RUNNING, step.index, step.message)

    def step_ended(self, seconds: float, passed_over: int = 0) -> None:
        """Note how long a step took that was done, and how many were passed over after it."""
        self._durations += [seconds, *[0.0] * passed_over]
        self.progress = 0.0

    def tell(self, state: EngineState, index: int, message: str) -> None:
        """Send feedback about a step, the last one if all are done."""
        if self._on_feedback is None or not self._plan.steps:
            return
        total = len(self._plan.steps)
        step = self._plan.steps[min(index, total - 1)]
        told = Feedback(state, step.index, total, step.name, self.progress, message)
        self._on_feedback(told)

    def outcome(self, state: EngineState, message: str, done: int) -> Outcome:
        """Return how the run ended, done steps being behind it."""
        _LOG.info("%s: %s", state.value, message)
        now = self._clock()
        return Outcome(
            state=state,
            message=message,
            steps_done=done,
            steps_total=len(self._plan.steps),
            last_step=self._last,
            duration=now - (now if self._began is None else self._began),
            durations=tuple(self._durations),
        )
