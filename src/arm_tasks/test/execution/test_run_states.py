# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every event in every state of a run: the laws of the table, and the engine obeys it."""

import math
from collections import Counter
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from arm_tasks.execution.engine import Engine, EngineState
from arm_tasks.execution.ports import MoveState, MoveStatus
from arm_tasks.execution.run_states import RUN, RunAction, RunEvent, RunState
from arm_tasks.planning.plan import TaskPlan
from arm_testing.arms.scripted_arm import REQUEST, ManualClock, Port, step
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

PEOPLE = {RunEvent.RESUME, RunEvent.SINGLE_STEP, RunEvent.RESCALED}
ASKED = {RunEvent.PAUSE, RunEvent.RESUME, RunEvent.SINGLE_STEP}  # may be refused
ENDS = {
    RunEvent.STEP_DONE: MoveState.SUCCEEDED,
    RunEvent.ALL_DONE: MoveState.SUCCEEDED,
    RunEvent.STEP_CANCELED: MoveState.CANCELED,
    RunEvent.STEP_FAILED: MoveState.STOPPED,
    RunEvent.RECOVERABLE: MoveState.FAILED,
}
REQUESTS = {
    "pause": (), "hold": ("nobody sees the arm",), "release": (), "resume": (), "single_step": (),
    "cancel": (), "abort": ("a node is gone",), "give_up": ("the arm is gone",),
}  # fmt: skip
LIVELY = ["pause", "hold", "release", *4 * ["resume"], "single_step"]
SCALES_UP = {RunAction.CONTINUE, RunAction.KEEP_SPEED}
CANCELS = {RunAction.CANCEL_STEP, RunAction.ABANDON}
BEGINS = {RunAction.BEGIN, RunAction.RECOVER}
GOING = (RunState.RUNNING, RunState.BRAKING)
STOPS = {RunState.CANCELING, RunState.ABORTING}
OVER = {state for state in RunState if state.done}


def rows_of(event):
    return [row for row in RUN.rows if row.event is event]


def test_users_see_the_state_of_each_state():
    assert {EngineState(state.shown) for state in RunState} == set(EngineState)
    assert all(EngineState(state.shown).done == state.done for state in RunState)


def test_nothing_begins_or_continues_but_on_the_way_to_running():
    for row in RUN.rows:
        assert (row.action in BEGINS | SCALES_UP) <= (row.next_state is RunState.RUNNING), row


def test_arm_that_pauses_waits_or_stops_begins_no_step():
    for row in RUN.rows:
        going = row.state in (RunState.RUNNING, RunState.BRAKING)
        assert going or row.action not in BEGINS, row


def test_only_a_person_ends_the_pause_of_a_person():
    paused = [r for r in RUN.rows if r.state in (RunState.PAUSING, RunState.PAUSED)]
    onward = [row for row in paused if row.next_state is RunState.RUNNING]
    assert onward and {row.event for row in onward} == PEOPLE
    assert not [row for row in paused if row.next_state in (RunState.HOLDING, RunState.HELD)]


@pytest.mark.parametrize("event", [RunEvent.CANCEL, RunEvent.ABORT, RunEvent.GIVE_UP])
def test_run_is_stopped_from_every_state(event):
    assert {row.state for row in rows_of(event)} == set(RunState)
    assert all(row.next_state in STOPS | OVER for row in rows_of(event))


def test_run_that_stops_only_ends():
    for row in RUN.rows:
        if row.state in STOPS:
            assert row.next_state in OVER | {row.state}, row


def test_done_state_is_left_by_nothing():
    for row in RUN.rows:
        if row.state.done:
            assert row.next_state is row.state and row.action is RunAction.NOTHING


@pytest.mark.parametrize("state", [state for state in RunState if not state.done])
def test_every_state_leads_to_the_end(state):
    for event in (RunEvent.CANCEL, RunEvent.STEP_CANCELED):
        state = RUN.row(state, event).next_state
    assert state.done


# -- The engine ----------------------------------------------------------------------------------


class Watched(Engine):
    """Notes each event with the state before, which the table must have, and the steps done."""

    def __init__(self, *arguments, **options):
        self.events, self.closed = [], 0
        super().__init__(*arguments, **options)
        self._port.engine = self

    def _fire(self, event, reason=""):
        self.events.append((self._state, event))
        assert RUN.row(self._state, event) is not None or event in ASKED, self.events[-1]
        return super()._fire(event, reason)

    def _close_step(self, run):
        self.closed += 1
        super()._close_step(run)


class Arm(Port):
    """Its motions have the status that the test sets; they begin and continue in RUNNING only.

    None begins before the last one has ended or, if the arm does not answer, was canceled.
    """

    status, canceled = MoveStatus(MoveState.CANCELED), False

    @property
    def moving(self):
        return not self.status.done

    def _start(self, command):
        assert self.engine._state is RunState.RUNNING and (self.canceled or not self.moving)
        self.moves.append(command)
        self.canceled = False
        self.status, self.idle = MoveStatus(MoveState.RUNNING), False
        return SimpleNamespace(poll=lambda: self.status, cancel=self._cancel)

    def _cancel(self):
        self.cancels, self.canceled = self.cancels + 1, True

    def move(self, trajectory):
        return self._start(("move", float(trajectory.positions[-1, 0])))

    def scale_speed(self, factor):
        assert factor == 0.0 or self.engine._state is RunState.RUNNING or not self.moving
        self.scalings.append(factor)

    def scale_speed_when_idle(self, factor):
        self.idle_scaling = factor


class Rig:
    """An engine with an arm and its clock."""

    def __init__(self, steps, paused=False):
        self.clock = ManualClock()
        self.arm = Arm(self.clock)
        planned = TaskPlan(REQUEST, np.zeros(1), tuple(steps))
        self.engine = Watched(planned, self.arm, clock=self.clock, paused=paused)

    @property
    def state(self):
        return self.engine._state

    def end(self, state, q, idle=True):
        """Let the motion end somewhere."""
        self.arm.status, self.arm.q, self.arm.idle = MoveStatus(state), q, idle
        self.engine.tick()


def reach(state, event) -> Rig:
    """Return a rig in a state, in a step unless the event is that the arm rests without one."""
    last = event is RunEvent.ALL_DONE or state is RunState.SUCCEEDED
    between = event is RunEvent.RESTS and state not in (RunState.PAUSING, RunState.HOLDING)
    between = between and state is not RunState.BRAKING
    rig = Rig([replace(step(0), retries=1), step(1)][: 1 if last else 2])
    engine = rig.engine
    if not between or state is RunState.SUCCEEDED:
        engine.tick()
    if state is RunState.BRAKING:
        rig.end(MoveState.FAILED, 0.3, idle=False)
    if state in (RunState.PAUSING, RunState.PAUSED):
        engine.pause()
    if state in (RunState.HOLDING, RunState.HELD):
        engine.hold("the test says so")
    if state is RunState.SUCCEEDED:
        rig.end(MoveState.SUCCEEDED, 1.0)
    if state is RunState.FAILED:
        engine.give_up("the test says so")
    if state in (RunState.ABORTING, RunState.LOST):
        engine.abort("the test says so")
    if state in (RunState.CANCELING, RunState.CANCELED):
        engine.cancel()
    if state in (RunState.LOST, RunState.CANCELED):
        rig.end(MoveState.CANCELED, 0.3)
    elif state.waits and not between:
        engine.tick()
    return rig


def fire(rig, event) -> str | None:
    """Let an event happen; return the answer if it is a request."""
    engine, arm = rig.engine, rig.arm
    if event is RunEvent.RESTS:
        arm.idle = True
    elif event is RunEvent.RESCALED:
        arm.scalings.append(0.5)
        rig.clock.now += 1.0
    elif event is RunEvent.OVERDUE:
        arm.obeys = False
        rig.clock.now += 3.5 if rig.state.slows else 1.0
    requests = {
        RunEvent.PAUSE: engine.pause,
        RunEvent.HOLD: lambda: engine.hold("nobody sees the arm"),
        RunEvent.RELEASE: engine.release,
        RunEvent.RESUME: engine.resume,
        RunEvent.SINGLE_STEP: engine.single_step,
        RunEvent.CANCEL: engine.cancel,
        RunEvent.ABORT: lambda: engine.abort("a node is gone"),
        RunEvent.GIVE_UP: lambda: engine.give_up("the arm is gone"),
    }
    if event in requests:
        return requests[event]()
    if event in ENDS:
        q = 1.0 if ENDS[event] is MoveState.SUCCEEDED else 0.3
        rig.end(ENDS[event], q, idle=event is not RunEvent.RECOVERABLE)
    else:
        engine.tick()
    return None


PAIRS = [
    pytest.param(state, event, id=f"{state.name}-{event.name}")
    for state, event in product(RunState, RunEvent)
]


@pytest.mark.parametrize(("state", "event"), PAIRS)
def test_engine_does_what_the_table_says(state, event):
    rig = reach(state, event)
    assert rig.state is state
    outcome, moves, cancels = rig.engine.outcome, len(rig.arm.moves), rig.arm.cancels
    answer = fire(rig, event)
    row = RUN.row(state, event)
    assert (state, event) in rig.engine.events or row is None or state.done
    assert answer in (None, RUN.refusal(state, event))
    assert rig.state is (row.next_state if row else state)
    action = row.action if row else RunAction.NOTHING
    assert len(rig.arm.moves) == moves + (action in BEGINS)
    assert rig.arm.cancels == max(cancels, action in CANCELS)
    assert (rig.engine.outcome is None) == (not rig.state.done)
    if state.done:
        assert rig.engine.outcome is outcome
    if rig.state.done:
        assert rig.arm.speed_scaling > 0.0 or rig.arm.idle_scaling == 1.0
    elif (rig.state.slows or rig.state.waits) and event is not RunEvent.RESCALED:
        assert rig.arm.speed_scaling == 0.0 or rig.engine._run is None


def test_cancel_does_not_speed_up_a_motion_that_may_not_have_ended():
    rig = Rig([step(0)])
    rig.engine.tick()
    rig.engine.pause()
    rig.engine.tick()
    rig.end(MoveState.FAILED, 0.3)  # such as a cancel without an answer
    rig.engine.cancel()
    assert rig.engine.tick() is EngineState.CANCELED
    assert rig.arm.speed_scaling == 0.0 and rig.arm.idle_scaling == 1.0


# -- Random lives --------------------------------------------------------------------------------


class RunLife(RuleBasedStateMachine):
    """Runs of three steps, one after the other; requests come in any order.

    The motions of the arm end in any way at any time.
    """

    visits: ClassVar[Counter] = Counter()
    fired: ClassVar[set] = set()

    @initialize(paused=st.booleans(), retries=st.integers(1, 3), otherwise=st.booleans())
    def begin(self, paused, retries, otherwise):
        steps = [replace(step(i), retries=retries) for i in range(3)]
        if otherwise:
            steps[0] = replace(steps[0], otherwise=1, following=2)
            steps[1:] = replace(steps[0], index=1, otherwise=None), replace(steps[1], index=2)
        self.rig = Rig(steps, paused)
        self.engine, self.arm = self.rig.engine, self.rig.arm
        self.asked_to_stop, self.most = False, math.inf  # steps that may be done

    def leave(self):
        """Note what has happened in this run."""
        self.visits.update([self.state, *(state for state, _ in self.engine.events)])
        self.fired.update(self.engine.events)

    @property
    def state(self):
        return self.rig.state

    # -- What happens ----------------------------------------------------------------------------

    @precondition(lambda self: not self.state.done)
    @rule(name=st.sampled_from([*2 * LIVELY, *REQUESTS]))
    def request(self, name):
        before, arguments = self.state, REQUESTS[name]
        answer = getattr(self.engine, name)(*arguments)
        if name == "pause" and not answer:
            assert self.state in (RunState.PAUSING, RunState.PAUSED)
        if name in ("hold", "release"):
            assert before is self.state or before in (*GOING, RunState.HELD)
        if name in ("resume", "single_step") and not answer:
            self.most = self.engine.closed + 1 if name == "single_step" else math.inf
        self.asked_to_stop |= name in ("cancel", "abort", "give_up")

    @precondition(lambda self: not self.state.done)
    @rule(seconds=st.sampled_from([0.0, 0.1, 1.0, 4.0]))
    def tick(self, seconds):
        if seconds < 4.0 or self.state is not RunState.RUNNING:  # else the motion is overdue
            self.rig.clock.now += seconds
        self.engine.tick()

    @precondition(lambda self: self.arm.moving or self.state is RunState.BRAKING)
    @rule(
        end=st.sampled_from([*ENDS.values(), *3 * [MoveState.FAILED, MoveState.SUCCEEDED]]),
        share=st.floats(0.0, 1.0),
        rests=st.booleans(),
    )
    def end_motion(self, end, share, rests):
        share = 1.0 if end is MoveState.SUCCEEDED else share
        start, goal = self.arm.q, self.arm.moves[-1][1]
        self.rig.end(end, start + share * (goal - start), idle=rests)

    @precondition(lambda self: not self.state.done)
    @rule(stop=st.sampled_from(["", "cancel", "abort"]))
    def finish(self, stop):
        """Stop the run or let it go on; each motion succeeds, or ends by a cancel."""
        if stop:
            self.request(stop)
        for _ in range(30):
            if self.state.waits:
                self.request("resume")
            if self.arm.moving:
                cancelled = self.state in STOPS
                self.rig.end(
                    MoveState.CANCELED if cancelled else MoveState.SUCCEEDED,
                    self.arm.q if cancelled else self.arm.moves[-1][1],
                )
            elif not self.state.done:
                self.arm.idle = True
                self.rig.clock.now += 0.1
                self.engine.tick()

    @precondition(lambda self: not self.state.done)
    @rule(what=st.sampled_from(["obeys", "disobeys", "rests", "rescaled", "reported 0", "pushed"]))
    def disturb(self, what):
        if what == "rests":
            self.arm.idle |= not self.arm.moving
        elif what == "pushed" and self.state.waits and not self.arm.moving:
            self.arm.q += 5.0
            assert "begins elsewhere" in self.engine.resume() or self.engine._is_over
            self.arm.q -= 5.0
        elif what.endswith("obeys"):
            self.arm.obeys = what == "obeys"
        elif what != "pushed":
            self.arm.scalings.append(0.5 if what == "rescaled" else 0.0)
        self.engine.tick()

    @precondition(lambda self: self.state.done)
    @rule(paused=st.booleans(), retries=st.integers(1, 3), otherwise=st.booleans())
    def begin_again(self, paused, retries, otherwise):
        """A run that is over stays so, and has left no speed of 0 behind."""
        before, outcome = self.state, self.engine.outcome
        moves, cancels = len(self.arm.moves), self.arm.cancels
        for name, arguments in REQUESTS.items():
            getattr(self.engine, name)(*arguments)
            assert self.engine.tick().done
        assert self.state is before and self.engine.outcome is outcome
        assert (len(self.arm.moves), self.arm.cancels) == (moves, cancels)
        assert not self.engine._speed._is_paused or self.arm.idle_scaling
        self.leave()
        self.begin(paused, retries, otherwise)

    # -- Laws ------------------------------------------------------------------------------------

    @invariant()
    def run_that_was_stopped_only_ends(self):
        if hasattr(self, "engine"):
            assert self.state.done == (self.engine.outcome is not None)
            assert not self.asked_to_stop or self.state in STOPS | OVER

    @invariant()
    def single_step_is_one_step(self):
        if hasattr(self, "engine"):
            assert self.engine.closed <= self.most
            if self.engine.closed == self.most:
                assert self.state.waits or self.state in STOPS | OVER

    def teardown(self):
        """Every run can be ended."""
        if hasattr(self, "engine"):
            self.engine.cancel()
            self.arm.status = MoveStatus(MoveState.CANCELED)
            assert self.engine.tick().done
            self.leave()


def live(examples, steps, skipped, derandomize=False):
    RunLife.visits.clear()
    RunLife.fired.clear()
    run_state_machine_as_test(
        RunLife,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=derandomize,
            suppress_health_check=list(HealthCheck),
        ),
    )
    rows = {(row.state, row.event) for row in RUN.rows if not row.state.done}
    left = rows - RunLife.fired
    assert min(RunLife.visits[state] for state in RunState) >= 5, RunLife.visits
    assert len(left) <= skipped, left


def test_laws_hold_whatever_happens():
    live(examples=150, steps=50, skipped=60, derandomize=True)


@pytest.mark.thorough
def test_laws_hold_in_many_long_lives():
    live(examples=400, steps=100, skipped=15)
