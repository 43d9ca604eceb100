# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Runs a plan on an arm in short ticks that never block."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from arm_tasks.errors import PlanError
from arm_tasks.execution.ports import ArmPort, MoveState, MoveStatus, Observer, OtherNodes
from arm_tasks.execution.run_memory import Interruption, PausedSpeed, Recovery, RunProgress
from arm_tasks.execution.run_states import RUN, RunAction, RunEvent, RunState
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
    # at which a new run can resume; None if nothing remains or the arm is not on its path
    resume_step: int | None = None
    behind: float = 0.0  # by which slow motions took longer than planned, on the same clock [s]


class Engine:
    """Runs the steps of a plan in order.

    Call tick() at about 20 Hz until the state is done; then outcome is set. cancel(), pause(),
    resume() and single_step() may be called between ticks, from the same thread. However a run
    ends or is interrupted, the arm stops and holds its position.

    Args:
        plan: A feasible plan.
        port: The arm.
        first: Index of the first step; PlanError unless the arm is at its start or on its path.
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
        self.outcome: TaskOutcome | None = None
        self._port = port
        self._observe, self._nodes = observe, nodes
        self._clocks = Clocks(clock, wall or clock)
        self._on_feedback = on_feedback
        self._state = RunState.PAUSED if paused else RunState.RUNNING
        self._run: StepExecution | None = None
        self._progress = RunProgress(first)
        self._interruption = Interruption("ready for the first step" if paused else "")
        self._recovery = Recovery()
        self._speed = PausedSpeed(port)
        self._actions = self._make_actions()
        self._progress.remainder = self._remaining_step() if first else None

    def _make_actions(self) -> Mapping[RunAction, Callable[[str], None]]:
        return {
            RunAction.NOTHING: lambda reason: None,
            RunAction.BEGIN: lambda reason: self._begin(),
            RunAction.WAIT: self._wait_for_rest,
            RunAction.RECOVER: self._recover,
            RunAction.BRAKE: self._brake,
            RunAction.CONTINUE: lambda reason: self._go_on(),
            RunAction.KEEP_SPEED: lambda reason: self._speed.keep(),
            RunAction.CANCEL_STEP: self._cancel_step,
            RunAction.DROP: lambda reason: self._drop(ended=True),
            RunAction.DROP_FAILED: lambda reason: self._drop(ended=False),
            RunAction.SUCCEED: lambda reason: self._succeed(),
            RunAction.END_HOLDING: lambda reason: self._end_holding(),
            RunAction.FAIL: self._fail,
            RunAction.ABANDON: self._abandon,
        }

    @property
    def state(self) -> EngineState:
        """The state that users see."""
        return EngineState(self._state.shown)

    def _fire(self, event: RunEvent, reason: str = "") -> str:
        """Do what the table says; return why the event is refused, or ""."""
        row = RUN.row(self._state, event)
        if row is None:
            return RUN.refusal(self._state, event)
        self._state = row.next_state
        self._actions[row.action](reason)
        return ""

    # -- Requests --------------------------------------------------------------------------------

    def pause(self, reason: str = "paused") -> str:
        """Stop the arm on its path until resume(); return why that is impossible, or "".

        A motion is paused by the arm's speed scaling and remains started.
        """
        return self._fire(RunEvent.PAUSE, reason)

    def hold(self, reason: str) -> None:
        """Pause a running task until release(), unless a person pauses it, too."""
        self._fire(RunEvent.HOLD, reason)

    def release(self) -> None:
        """Continue after hold()."""
        if why_not := self._continue(RunEvent.RELEASE, self._interruption.after_step):
            self.pause()  # a person must look
            self._interruption.reason = why_not

    def resume(self) -> str:
        """Continue after a pause; return why that is impossible, or ""."""
        return self._continue(RunEvent.RESUME, after_step=False)

    def single_step(self) -> str:
        """Run one step, or the rest of it, then pause; return why that is impossible, or ""."""
        return self._continue(RunEvent.SINGLE_STEP, after_step=True)

    def _continue(self, event: RunEvent, after_step: bool) -> str:
        row = RUN.row(self._state, event)
        if row is not None and row.action is RunAction.CONTINUE and self._run is None:
            try:
                self._progress.remainder = self._remaining_step()
            except PlanError as error:
                return str(error)
        refusal = self._fire(event)
        if not refusal:
            self._interruption.after_step = after_step
        return refusal

    def cancel(self, reason: str = "canceled") -> None:
        """Stop the arm where it is; later ticks wait until it has stopped."""
        self._fire(RunEvent.CANCEL, reason)

    def abort(self, reason: str) -> None:
        """Stop the arm as cancel() does, because a dependency was lost."""
        self._fire(RunEvent.ABORT, reason)

    def give_up(self, reason: str) -> None:
        """End at once because the arm is gone; if it comes back, it must not continue."""
        self._fire(RunEvent.GIVE_UP, reason)

    # -- What happens ----------------------------------------------------------------------------

    def tick(self) -> EngineState:
        """Advance the run without blocking; return the state."""
        if self._state.done:
            return self.state
        if self._progress.began is None:
            self._progress.began = self._clocks.arm()
        self._speed.note()
        if self._run is None:
            self._fire(RunEvent.RESTS)
        else:
            self._poll(self._run)
        if self._state.waits:
            self._publish(self._interruption.reason)
        return self.state

    def _poll(self, run: StepExecution) -> None:
        status = run.poll()
        if status.state is MoveState.SUCCEEDED:
            self.plan = run.plan or self.plan
            self._publish(run.step.message, 1.0)
            self._end_step(run)
        elif status.done:
            back, reason = self._recovery.returning, run.end_reason(status)
            self._fire(self._ending(run, status), f"{back}; {reason}" if back else reason)
        else:
            self._progress.fraction = status.progress or 0.0
            self._follow_speed(run)
            if not self._state.waits:
                self._publish(run.message)

    def _ending(self, run: StepExecution, status: MoveStatus) -> RunEvent:
        """Return the event of a step that has ended otherwise than done."""
        if status.state is MoveState.CANCELED:
            return RunEvent.STEP_CANCELED
        tries_left = self._recovery.tries < self.plan.steps[self._progress.next].retries
        has_remedy = tries_left or self._alternative is not None
        failed = status.state in (MoveState.FAILED, MoveState.REJECTED) and run.can_recover
        if failed and has_remedy and not self._recovery.returning:
            return RunEvent.RECOVERABLE
        return RunEvent.STEP_FAILED

    def _follow_speed(self, run: StepExecution) -> None:
        """Follow the speed scaling: the arm has come to rest, or someone lets it continue."""
        is_zero = self._port.speed_scaling == 0.0
        since = self._clocks.arm() - self._interruption.since
        if self._state.waits:
            if not is_zero and since > _REPORT_DELAY:  # else it may be a report of before
                self._fire(RunEvent.RESCALED)
        elif self._state.slows and run.is_motion:
            if is_zero and self._port.still:
                self._fire(RunEvent.RESTS)
            elif since > _PAUSE_TIMEOUT:
                self._fire(RunEvent.OVERDUE, self._interruption.reason)

    def _end_step(self, run: StepExecution) -> None:
        """Close a step that is done, and go on as the state says."""
        self._close_step(run)
        if self._is_over:
            self._fire(RunEvent.ALL_DONE)
            return
        if self._interruption.after_step:
            self._interruption.after_step = False
            self.pause(f"step {run.step.report.number} is done")
        self._fire(RunEvent.STEP_DONE)

    # -- Actions ---------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Start the next step, or the rest of it."""
        if self._is_over:
            self._fire(RunEvent.ALL_DONE)
            return
        progress = self._progress
        step = progress.remainder or self.plan.steps[progress.next]
        progress.remainder, progress.inside = None, True
        _LOGGER.info("%s", step.label)
        progress.last_step, progress.fraction = step.name, 0.0
        back = self._recovery.returning
        self._publish(f"returning to where {step.name} began, as {back}" if back else step.message)
        self._run = StepExecution(step, self._port, self._clocks, self._observe, self._nodes)
        self._speed.restore()
        if step.kind == "pause":
            self._close_step(self._run)
            self.pause(step.message)

    def _close_step(self, run: StepExecution) -> None:
        progress = self._progress
        following = self._alternative if self._recovery.returning else None
        following = run.next if following is None else following
        progress.behind += run.behind
        progress.durations += [run.elapsed, *[0.0] * (following - progress.next - 1)]
        progress.next, progress.inside, progress.fraction = following, False, 0.0
        self._run, self._recovery = None, Recovery()
        self._speed.restore()

    def _wait_for_rest(self, reason: str) -> None:
        """Recover once an arm that can move on rests; else end the run."""
        assert self._run is not None
        now, recovery = self._clocks.arm(), self._recovery
        recovery.since = now if recovery.since is None else recovery.since
        if not self._run.is_motion or (self._port.ready and self._port.idle):
            self._fire(RunEvent.RESTS, reason)
        elif self._port.ready and now - recovery.since < _REST_TIMEOUT:
            self._publish(reason)
        else:
            self._fire(RunEvent.STEP_FAILED, reason)

    def _recover(self, reason: str) -> None:
        """Try a failed step again, or return to its start for other steps."""
        run, recovery = self._run, self._recovery
        assert run is not None
        retries = self.plan.steps[self._progress.next].retries
        recovery.since = None
        recovery.tries += 1
        recovery.returning = reason if recovery.tries > retries else ""
        try:
            self._progress.remainder = self._remaining_step()
        except PlanError:
            recovery.returning = ""
            self._fire(RunEvent.STEP_FAILED, reason)
            return
        if not recovery.returning:
            _LOGGER.info("%s; trying again, %d of %d", reason, recovery.tries, retries)
        else:
            _LOGGER.info("%s; going on with its on_failure", reason)
            if not run.is_motion:
                self._progress.remainder = None
                self._end_step(run)
                return
        self._drop(ended=True)
        self._fire(RunEvent.RESTS)

    def _brake(self, reason: str) -> None:
        """Stop the arm on its path, or cancel a step that is no motion."""
        self._interruption.reason = reason
        self._interruption.since = self._clocks.arm()
        if self._run is None:
            self._fire(RunEvent.RESTS)
        elif self._run.is_motion:
            self._speed.pause()
        else:
            self._run.cancel()

    def _go_on(self) -> None:
        if self._run is not None:
            self._speed.restore()

    def _cancel_step(self, reason: str) -> None:
        self._interruption.reason = reason
        if self._run is not None:
            self._run.cancel()

    def _drop(self, ended: bool) -> None:
        """Forget a step that has ended; its rest is planned when the run continues."""
        self._run = None
        self._speed.restore(ended)

    def _succeed(self) -> None:
        self._finish(f"all steps of {self.plan.request.task.name} were done")

    def _end_holding(self) -> None:
        reason = self._interruption.reason
        where = f"{reason}{self._step_clause()}; the arm holds where it is"
        self._finish(where, ended=self._run is not None)  # else it may have failed in a pause

    def _fail(self, reason: str) -> None:
        where = "" if self._run is None else f"{self._run.step.label}: "
        self._finish(f"{where}{reason}", ended=False)

    def _abandon(self, reason: str) -> None:
        if self._run is not None:
            self._run.cancel()
        self._fail(reason)

    def _finish(self, message: str, ended: bool = True) -> None:
        self._speed.restore(ended)
        resume_step, why_not = self._resume_step()
        message = f"{message.removesuffix('.')}{why_not}" if why_not else message
        _LOGGER.info("%s: %s", self.state.value, message)
        now, progress = self._clocks.arm(), self._progress
        self.outcome = TaskOutcome(
            state=self.state,
            message=message,
            steps_done=progress.next,
            steps_total=len(self.plan.steps),
            last_step=progress.last_step,
            duration=now - (now if progress.began is None else progress.began),
            durations=tuple(progress.durations),
            behind=progress.behind,
            resume_step=resume_step,
        )

    # -- Steps -----------------------------------------------------------------------------------

    def _publish(self, message: str, share: float | None = None) -> None:
        """Send feedback about the current step, or the last one if all are done."""
        progress, steps = self._progress, self.plan.steps
        progress.fraction = progress.fraction if share is None else share
        if self._on_feedback is None or not steps:
            return
        step = steps[min(progress.next, len(steps) - 1)]
        where = step.index, len(steps), step.report.number, step.name
        self._on_feedback(Feedback(self.state, *where, progress.fraction, message))

    @property
    def _is_over(self) -> bool:
        return self._progress.next >= len(self.plan.steps)

    @property
    def _alternative(self) -> int | None:
        return self.plan.steps[self._progress.next].otherwise

    def _remaining_step(self) -> PlannedStep | None:
        """Return the next step, or what remains of it; raise PlanError if the arm is elsewhere."""
        if self._is_over:
            return None
        step = self.plan.steps[self._progress.next]
        get = return_motion if self._recovery.returning else remaining_motion
        return get(step, self._port.configuration(), self.plan.request.chain)

    def _resume_step(self) -> tuple[int | None, str]:
        """Return the step at which a new run can resume, and why there is none, a clause."""
        if self._state is RunState.SUCCEEDED or self._is_over:
            return None, ""
        try:
            if self._progress.next:  # else a run is planned from wherever the arm is
                self._remaining_step()
        except PlanError as error:
            return None, f"; it cannot be resumed: {error}"
        return self._progress.next, ""

    def _step_clause(self) -> str:
        """Return the current or next step, to append to a clause."""
        if self._is_over or not (self._progress.inside or self._progress.next):
            return ""
        step = self.plan.steps[self._progress.next]
        return f" {'in' if self._progress.inside else 'before'} {step.label}"
