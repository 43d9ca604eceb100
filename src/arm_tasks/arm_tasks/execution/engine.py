# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Runs a plan on an arm in short ticks that never block."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from arm_tasks.errors import PlanError
from arm_tasks.execution.ports import ArmPort, MoveState, MoveStatus, Observer, OtherNodes
from arm_tasks.execution.step_execution import (
    Clocks,
    StepExecution,
    remaining_motion,
    return_motion,
)
from arm_tasks.planning.plan import PlannedStep, TaskPlan

_LOGGER = logging.getLogger(__name__)
_PAUSE_TIMEOUT = 3.0  # [s] for the arm to brake by its speed scaling; then its motion is cancelled
_REST_TIMEOUT = 3.0  # [s] for the arm to rest after a motion has failed; then the run has failed
_REPORT_DELAY = 0.5  # [s] after which the arm reports the speed scaling that was set last


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
        """True if the run is over and nothing moves any more."""
        return self in (self.SUCCEEDED, self.FAILED, self.LOST, self.CANCELED)


@dataclass(frozen=True)
class Feedback:
    """Feedback of a run, with the fields of RunTask's feedback."""

    state: EngineState
    step: int  # index of the running step, or of the next one while paused, from 0
    steps_total: int
    number: str  # of the step in the task file
    name: str  # the step's name
    progress: float  # of the step, 0 to 1
    message: str  # one sentence: what the arm is doing or why it waits


@dataclass(frozen=True)
class TaskOutcome:
    """How a run ended."""

    state: EngineState  # SUCCEEDED, FAILED (by the arm), LOST (a dependency) or CANCELED
    message: str  # one sentence, with the step unless the run succeeded
    steps_done: int  # number of finished steps, including those that were skipped at the start
    steps_total: int
    last_step: str  # name of the last step that was started, or ""
    duration: float  # from the first tick to the end, on the engine's clock [s]
    durations: tuple[float, ...]  # times of the finished steps of this run [s]
    # index of the step at which a new run can resume; None if nothing remains or the arm is
    # neither at its start nor on its path
    resume_step: int | None = None


class Engine:
    """Runs the steps of a plan in order.

    Call tick() at about 20 Hz until the state is done; then outcome is set. cancel(), pause(),
    resume() and single_step() may be called between ticks, from the same thread. However a run
    ends or is interrupted, the arm stops and holds its position.

    Args:
        plan: A feasible plan.
        port: The arm.
        first: Index of the first step; PlanError is raised unless the arm is at its start or on
            its path.
        clock: Steady clock of the arm [s], which may be simulated.
        on_feedback: Called when a step begins and at each tick.
        wall: Steady wall clock [s]; the same clock if None.
        paused: Whether to pause before the first step.
        observe: Observes the world for conditions; None if nothing can be observed.
        nodes: The other nodes, for conditions and commands; None if there are none.
    """

    def __init__(
        self,
        plan: TaskPlan,
        port: ArmPort,
        first: int = 0,
        clock: Callable[[], float] = time.monotonic,
        on_feedback: Callable[[Feedback], None] | None = None,
        wall: Callable[[], float] | None = None,
        paused: bool = False,
        observe: Observer | None = None,
        nodes: OtherNodes | None = None,
    ) -> None:
        if not plan.feasible:
            raise PlanError(f"this plan cannot be run: {plan.message}")
        last = len(plan.steps) - 1
        if first and not 0 <= first <= last:
            raise PlanError(f"the plan has no step {first}; its last one is {last}")
        self.plan = plan
        self.state = EngineState.PAUSED if paused else EngineState.RUNNING
        self.outcome: TaskOutcome | None = None
        self._port = port
        self._observe, self._nodes = observe, nodes
        self._clocks = Clocks(clock, wall or clock)
        self._on_feedback = on_feedback
        self._began: float | None = None  # time of the first tick [s]
        self._last_step = ""  # name of the last step that was started
        self._durations: list[float] = []
        self._progress = 0.0  # of the running step
        self._next = first
        self._run: StepExecution | None = None
        self._inside = False  # the next step has started but not finished
        self._tries = 0  # of the next step that have failed
        self._failing_since: float | None = None  # of a motion that has failed: the arm brakes [s]
        self._failed = ""  # why it has failed for good: the arm returns to where it began
        self._remaining = self._remaining_step() if first else None
        self._single = self._held = False
        self._reason = "ready for the first step" if paused else ""
        self._scaling = 1.0  # the last one other than 0 that was reported or set
        self._is_scaled_to_0 = False  # by a pause within a motion
        self._pausing_since = 0.0
        self._ends_as = EngineState.CANCELED

    def pause(self, reason: str = "paused") -> str:
        """Stop the arm on its path until resume(); return why that is impossible, or "".

        A motion is paused by the arm's speed scaling and remains started.
        """
        self._held = False
        if self.state in (EngineState.PAUSING, EngineState.PAUSED):
            return ""
        if self.state is not EngineState.RUNNING:
            return f"the task is {self.state.value}"
        self._reason = reason
        self.state = EngineState.PAUSED
        if self._run is not None:
            self.state = EngineState.PAUSING
            self._pausing_since = self._clocks.arm()
            self._pause_step(self._run)
        return ""

    def hold(self, reason: str) -> None:
        """Pause a running task until release(), unless a person pauses it, too."""
        if self.state is EngineState.RUNNING:
            self.pause(reason)
            self._held = True

    def release(self) -> None:
        """Continue after hold()."""
        if self._held and self.state is EngineState.PAUSED:
            self._held = False
            self._reason = self._continue(single=self._single) or self._reason

    def _pause_step(self, run: StepExecution) -> None:
        if not run.is_motion:
            run.cancel()
            return
        self._note_scaling()
        self._is_scaled_to_0 = True
        self._port.scale_speed(0.0)

    def _note_scaling(self) -> None:
        # The arm reports 0 for a while after the scaling was restored.
        self._scaling = self._port.speed_scaling or self._scaling

    def _restore_scaling(self, ended: bool = True) -> None:
        """Restore the speed scaling from before a pause, if there was one.

        If it is uncertain whether the motion has ended, it must not continue: the arm restores the
        scaling itself, once it executes no motion.
        """
        if self._is_scaled_to_0:
            scale = self._port.scale_speed if ended else self._port.scale_speed_when_idle
            scale(self._scaling)
            self._is_scaled_to_0 = not ended  # a motion that starts before needs it at once

    def resume(self) -> str:
        """Continue after a pause; return why that is impossible, or ""."""
        return self._continue(single=False)

    def single_step(self) -> str:
        """Run one step, or the rest of it, then pause; return why that is impossible, or ""."""
        return self._continue(single=True)

    def cancel(self, reason: str = "canceled") -> None:
        """Stop the arm where it is; later ticks wait until it has stopped."""
        self._stop(reason, EngineState.CANCELED)

    def abort(self, reason: str) -> None:
        """Stop the arm as cancel() does, because a dependency was lost."""
        self._stop(reason, EngineState.LOST)

    def give_up(self, reason: str) -> None:
        """End at once because the arm is gone; if it comes back, it must not continue."""
        if self.state.done:
            return
        if self._run is not None:
            self._run.cancel()
        self._fail(reason)

    def tick(self) -> EngineState:
        """Advance the run without blocking; return the state."""
        if self.state.done:
            return self.state
        self._began = self._clocks.arm() if self._began is None else self._began
        self._note_scaling()
        if self._run is not None:
            self._poll(self._run)
        else:
            self._proceed()
        return self.state

    def _proceed(self) -> None:
        """Choose what to do next while the arm is stopped."""
        if self.state is EngineState.STOPPING:
            where = f"{self._reason}{self._step_clause()}; the arm holds where it is"
            self._finish(self._ends_as, where)
        elif self.state is EngineState.RUNNING:
            self._begin()
        else:
            self.state = EngineState.PAUSED
            self._publish(self._reason)

    def _begin(self) -> None:
        """Start the next step, or the rest of it."""
        if self._is_over:
            name = self.plan.request.task.name
            self._finish(EngineState.SUCCEEDED, f"all steps of {name} were done")
            return
        step = self._remaining or self.plan.steps[self._next]
        self._remaining, self._inside = None, True
        _LOGGER.info("%s", step.label)
        self._last_step, self._progress = step.name, 0.0
        back = f"returning to where {step.name} began, as {self._failed}"
        self._publish(back if self._failed else step.message)
        self._run = StepExecution(step, self._port, self._clocks, self._observe, self._nodes)
        self._restore_scaling()
        if step.kind == "pause":
            self._end_step(self._run)
            self._reason, self.state = step.message, EngineState.PAUSED

    def _poll(self, run: StepExecution) -> None:
        status = run.poll()
        if status.state is MoveState.SUCCEEDED:
            self.plan = run.plan or self.plan
            self._publish(run.step.message, 1.0)
            self._end_step(run, self._alternative if self._failed else run.next)
            self._proceed()
        elif not status.done:
            self._check_pause(run)
            paused = self.state is EngineState.PAUSED
            self._publish(self._reason if paused else run.step.message, status.progress or 0.0)
        elif self.state is EngineState.PAUSED or (
            status.state is MoveState.CANCELED and self.state is not EngineState.RUNNING
        ):
            self._run = None
            self._restore_scaling(status.state not in (MoveState.FAILED, MoveState.STOPPED))
            self._proceed()
        else:
            self._end_failed(run, status)

    def _end_failed(self, run: StepExecution, status: MoveStatus) -> None:
        """Recover from a failure, once the arm rests; else end the run."""
        why = _failure(status) if run.is_motion else status.message
        failed = status.state in (MoveState.FAILED, MoveState.REJECTED) and run.can_recover
        if failed and self.state is EngineState.RUNNING and self._has_remedy:
            if run.is_motion and self._is_braking():
                self._publish(why)
                return
            if self._recover(run, why):
                return
        self._fail(f"{self._failed}; {why}" if self._failed else why)

    def _is_braking(self) -> bool:
        """Return whether the arm, which can move on, still executes a motion that has failed."""
        now = self._clocks.arm()
        since = self._failing_since = now if self._failing_since is None else self._failing_since
        return self._port.ready and not self._port.idle and now - since < _REST_TIMEOUT

    @property
    def _alternative(self) -> int | None:
        return self.plan.steps[self._next].otherwise

    @property
    def _has_remedy(self) -> bool:
        tries_left = self._tries < self.plan.steps[self._next].retries
        return not self._failed and (tries_left or self._alternative is not None)

    def _recover(self, run: StepExecution, why: str) -> bool:
        """Try a failed step again, or return to its start for other steps; False if neither."""
        planned = self.plan.steps[self._next]
        if run.is_motion and not (self._port.ready and self._port.idle):
            return False
        self._failing_since = None
        self._tries += 1
        self._failed = why if self._tries > planned.retries else ""
        try:
            self._remaining = self._remaining_step()
        except PlanError:
            self._failed = ""
            return False
        self._run = None
        self._restore_scaling()
        if self._failed:
            _LOGGER.info("%s; going on with its on_failure", why)
            if not run.is_motion:
                self._remaining = None
                self._end_step(run, self._alternative)
        else:
            _LOGGER.info("%s; trying again, %d of %d", why, self._tries, planned.retries)
        self._proceed()
        return True

    def _check_pause(self, run: StepExecution) -> None:
        """Follow the speed scaling: the arm has come to rest, or someone lets it continue."""
        is_zero = self._port.speed_scaling == 0.0
        since = self._clocks.arm() - self._pausing_since
        if self.state is EngineState.PAUSED and not is_zero:
            if since > _REPORT_DELAY:  # else it may be the report of what was set before
                self._is_scaled_to_0, self.state = False, EngineState.RUNNING
        elif self.state is EngineState.PAUSING and run.is_motion:
            if is_zero and self._port.still:
                self.state = EngineState.PAUSED
            elif since > _PAUSE_TIMEOUT:
                run.cancel()

    def _end_step(self, run: StepExecution, following: int | None = None) -> None:
        following = run.next if following is None else following
        self._tries, self._failed = 0, ""
        skipped = [0.0] * (following - self._next - 1)
        self._durations += [run.elapsed, *skipped]
        self._next = following
        self._run, self._inside, self._progress = None, False, 0.0
        self._restore_scaling()
        if self._is_over and self.state is EngineState.PAUSING:
            self.state = EngineState.RUNNING  # no step is left to pause before
        elif self._single and self.state is EngineState.RUNNING and not self._is_over:
            self._single, self._reason = False, f"step {run.step.report.number} is done"
            self.state = EngineState.PAUSED

    def _continue(self, single: bool) -> str:
        if self.state is EngineState.RUNNING and single:
            self._single = True
            return ""
        if self.state is EngineState.PAUSING:
            return "the arm is still slowing down; try again"
        if self.state is not EngineState.PAUSED:
            return f"the task is not paused but {self.state.value}"
        if self._run is not None:
            self._restore_scaling()
        else:
            try:
                self._remaining = self._remaining_step()
            except PlanError as error:
                return str(error)
        self._single, self._held = single, False
        self.state = EngineState.RUNNING
        return ""

    def _publish(self, message: str, progress: float | None = None) -> None:
        """Send feedback about the current step, or the last one if all are done."""
        self._progress = self._progress if progress is None else progress
        if self._on_feedback is None or not self.plan.steps:
            return
        step = self.plan.steps[min(self._next, len(self.plan.steps) - 1)]
        place = self.state, step.index, len(self.plan.steps), step.report.number, step.name
        self._on_feedback(Feedback(*place, self._progress, message))

    @property
    def _is_over(self) -> bool:
        return self._next >= len(self.plan.steps)

    def _remaining_step(self) -> PlannedStep | None:
        if self._is_over:
            return None
        step = self.plan.steps[self._next]
        get = return_motion if self._failed else remaining_motion
        return get(step, self._port.configuration(), self.plan.request.chain)

    def _resume_step(self, state: EngineState) -> tuple[int | None, str]:
        """Return the step at which a new run can resume, and why there is none, a clause."""
        if state is EngineState.SUCCEEDED or self._is_over:
            return None, ""
        try:
            if self._next:  # a run from the first step is planned from wherever the arm is
                self._remaining_step()
        except PlanError as error:
            return None, f"; it cannot be resumed: {error}"
        return self._next, ""

    def _stop(self, reason: str, ends_as: EngineState) -> None:
        if self.state.done or self.state is EngineState.STOPPING:
            return
        self.state, self._reason, self._ends_as = EngineState.STOPPING, reason, ends_as
        if self._run is not None:
            self._run.cancel()

    def _step_clause(self) -> str:
        """Return the current or next step, to append to a clause."""
        if self._is_over or not (self._inside or self._next):
            return ""
        step = self.plan.steps[self._next]
        return f" {'in' if self._inside else 'before'} {step.label}"

    def _fail(self, reason: str) -> None:
        step = None if self._run is None else self._run.step
        where = "" if step is None else f"{step.label}: "
        self._finish(EngineState.FAILED, f"{where}{reason}")

    def _finish(self, state: EngineState, message: str) -> None:
        self.state = state
        self._restore_scaling(ended=state is not EngineState.FAILED)
        resume_step, why_not = self._resume_step(state)
        message = f"{message.removesuffix('.')}{why_not}" if why_not else message
        _LOGGER.info("%s: %s", state.value, message)
        now = self._clocks.arm()
        self.outcome = TaskOutcome(
            state=state,
            message=message,
            steps_done=self._next,
            steps_total=len(self.plan.steps),
            last_step=self._last_step,
            duration=now - (now if self._began is None else self._began),
            durations=tuple(self._durations),
            resume_step=resume_step,
        )


def _failure(status: MoveStatus) -> str:
    word = {
        MoveState.REJECTED: "the driver rejected the motion",
        MoveState.CANCELED: "the driver stopped the motion",
        MoveState.STOPPED: "the motion was stopped",
    }.get(status.state, "the motion failed")
    return f"{word}: {status.message}" if status.message else word
