# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Runs a plan through an arm's port, one short tick at a time; never blocks."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from arm_tasks.errors import PlanError
from arm_tasks.outcome import EngineState, Feedback, Outcome
from arm_tasks.plan import Plan, PlannedStep
from arm_tasks.ports import ArmPort, Move, MoveState, MoveStatus

_LOG = logging.getLogger(__name__)
_PATIENCE = 2.0  # a step may take so many times as long as planned
_GRACE = 5.0  # and this longer [s]
_CANCEL_GRACE = 5.0  # after a cancel the arm has this long to say that it stands still [s]


class Engine:
    """Runs the steps of a plan in order.

    Call tick() often (20 Hz or more) until it says that it is done; then outcome is set. cancel()
    may be called at any time, from the thread that ticks.

    Args:
        plan: A feasible plan.
        port: The arm.
        first: Index of the step to begin at; the arm must stand where that step begins.
        clock: Steady time [s], simulated where the arm is.
        on_feedback: Called when a step begins and whenever its progress is asked for by a tick.
        wall: Steady time on the wall [s], clock if None. An arm is late only if it is by both:
            simulated time may run fast, the machine that simulates does not.

    Raises:
        PlanError: The plan is not feasible, or it has no such step.
    """

    def __init__(
        self,
        plan: Plan,
        port: ArmPort,
        first: int = 0,
        clock: Callable[[], float] = time.monotonic,
        on_feedback: Callable[[Feedback], None] | None = None,
        wall: Callable[[], float] | None = None,
    ) -> None:
        if not plan.feasible:
            raise PlanError(f"this plan must not be run: {plan.message}")
        if not 0 <= first <= len(plan.steps):
            last = len(plan.steps) - 1
            raise PlanError(f"there is no step {first} to begin at; the last one is {last}")
        self.plan = plan
        self.outcome: Outcome | None = None
        self._port = port
        self._clock = clock
        self._wall = wall or clock
        self._since = self._wall()  # when the step began or the cancel came, on the wall
        self._on_feedback = on_feedback
        self._next = first
        self._running: PlannedStep | None = None
        self._move: Move | None = None
        self._began: float | None = None
        self._step_began = 0.0
        self._canceled_at: float | None = None
        self._cancel_reason = ""
        self._durations: list[float] = []

    @property
    def state(self) -> EngineState:
        """RUNNING until there is an outcome."""
        return EngineState.RUNNING if self.outcome is None else self.outcome.state

    def tick(self) -> EngineState:
        """Do what is due now and return at once."""
        if self.outcome is not None:
            return self.outcome.state
        now = self._clock()
        self._began = now if self._began is None else self._began
        if self._canceled_at is not None:
            self._tick_cancel(now)
        elif self._running is None:
            self._begin(now)
        else:
            self._tick_step(self._running, now)
        return self.state

    def cancel(self, reason: str = "canceled") -> None:
        """Stop the arm where it is; later ticks wait until it says that it stands."""
        if self.outcome is not None or self._canceled_at is not None:
            return
        self._canceled_at, self._cancel_reason = self._clock(), reason
        self._since = self._wall()
        if self._move is not None:
            self._move.cancel()

    def give_up(self, reason: str) -> None:
        """End at once, because the arm is not there any more."""
        if self.outcome is None and self._running is not None:
            self._fail(self._running, reason, self._clock())
        elif self.outcome is None:
            self._finish(EngineState.FAILED, reason, self._clock())

    # -- steps --------------------------------------------------------------------------------

    def _begin(self, now: float) -> None:
        if self._next >= len(self.plan.steps):
            self._finish(EngineState.SUCCEEDED, f"all steps of {self.plan.task} were done", now)
            return
        step = self.plan.steps[self._next]
        self._running, self._step_began, self._since = step, now, self._wall()
        _LOG.info("step %d of %d: %s", step.index + 1, len(self.plan.steps), step.name)
        if step.trajectory is not None:
            self._move = self._port.move(step.trajectory)
        elif step.width is not None:
            self._move = self._port.set_width(step.width)
        else:
            self._move = None
        self._tell(step, 0.0)

    def _tick_step(self, step: PlannedStep, now: float) -> None:
        elapsed, planned = now - self._step_began, step.duration
        if self._move is None:
            status = MoveStatus(MoveState.SUCCEEDED if elapsed >= planned else MoveState.RUNNING)
        else:
            status = self._move.poll()
        if status.state is MoveState.SUCCEEDED:
            self._tell(step, 1.0)
            self._durations.append(elapsed)
            self._next += 1
            self._running = self._move = None
            self._begin(now)
        elif status.done:
            self._fail(step, _why(status), now)
        elif elapsed > _PATIENCE * planned + _GRACE and self._waited() > _GRACE:
            if self._move is not None:
                self._move.cancel()
            late = f"the arm was not done after {elapsed:.1f} s, planned were {planned:.1f} s"
            self._fail(step, late, now)
        else:
            guess = min(elapsed / planned, 0.99) if planned > 0.0 else 0.0
            self._tell(step, guess if status.progress is None else status.progress)

    def _tick_cancel(self, now: float) -> None:
        began = self._canceled_at if self._canceled_at is not None else now
        status = None if self._move is None else self._move.poll()
        waited = now - began > _CANCEL_GRACE and self._waited() > _CANCEL_GRACE
        if status is not None and not status.done and not waited:
            return
        name = f" in step {self._running.index + 1}, {self._running.name}" if self._running else ""
        if status is not None and not status.done:
            what = f"{self._cancel_reason}{name}, but the arm does not say that it stopped"
            self._finish(EngineState.FAILED, what, now)
            return
        what = f"{self._cancel_reason}{name}; the arm holds where it is"
        self._finish(EngineState.CANCELED, what, now)

    def _waited(self) -> float:
        """Return how long the arm has had, on the wall [s]."""
        return self._wall() - self._since

    # -- telling ------------------------------------------------------------------------------

    def _fail(self, step: PlannedStep, why: str, now: float) -> None:
        self._finish(EngineState.FAILED, f"step {step.index + 1}, {step.name}: {why}", now)

    def _finish(self, state: EngineState, message: str, now: float) -> None:
        began = now if self._began is None else self._began
        last = self._running or (self.plan.steps[self._next - 1] if self._next > 0 else None)
        self.outcome = Outcome(
            state=state,
            message=message,
            steps_done=self._next,
            steps_total=len(self.plan.steps),
            last_step=last.name if last else "",
            duration=now - began,
            durations=tuple(self._durations),
        )
        _LOG.info("%s: %s", state.value, message)

    def _tell(self, step: PlannedStep, progress: float) -> None:
        if self._on_feedback is not None:
            total = len(self.plan.steps)
            told = Feedback(step.index, total, step.name, progress, step.message)
            self._on_feedback(told)


def _why(status: MoveStatus) -> str:
    word = {
        MoveState.REJECTED: "the driver refused the motion",
        MoveState.CANCELED: "the driver stopped the motion",
    }.get(status.state, "the motion failed")
    return f"{word}: {status.message}" if status.message else word


__all__ = ["Engine", "EngineState", "Feedback", "Outcome"]
