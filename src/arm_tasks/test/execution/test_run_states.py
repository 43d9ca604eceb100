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
from arm_testing.scripted_arm import REQUEST, Clock, Port, step
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


class Arm(Port):
    """Its motions have the status that the test sets."""

    status = MoveStatus(MoveState.RUNNING)
    obeys = True

    def _start(self, command):
        self.moves.append(command)
        return SimpleNamespace(poll=lambda: self.status, cancel=self._cancel)

    def _cancel(self):
        self.cancels += 1

    def scale_speed_when_idle(self, factor):
        self.idle_scaling = factor

    def move(self, trajectory):
        return self._start(("move", float(trajectory.positions[-1, 0])))


class Rig:
    """An engine with an arm, whose first step has one more try."""

    def __init__(self, *, steps=2, paused=False):
        self.clock, self.arm = Clock(), None
        self.arm = Arm(self.clock)
        first = replace(step(0), retries=1)
        planned = TaskPlan(REQUEST, np.zeros(1), (first, step(1))[:steps])
        self.engine = Engine(planned, self.arm, clock=self.clock, paused=paused)

    @property
    def state(self):
        return self.engine._state

    def tick(self, seconds=0.0):
        self.clock.now += seconds
        return self.engine.tick()

    def end(self, state, q=0.0):
        self.arm.status, self.arm.q = MoveStatus(state), q
        self.tick()


def reach(state, event) -> Rig:
    """Return a rig in a state, in a step unless the event is that the arm rests without one."""
    last = event is RunEvent.ALL_DONE or state is RunState.SUCCEEDED
    between = event is RunEvent.RESTS and state not in (RunState.PAUSING, RunState.HOLDING)
    between = between and state is not RunState.BRAKING
    rig = Rig(steps=1 if last else 2)
    engine = rig.engine
    if not between or state is RunState.SUCCEEDED:
        rig.tick()
    if state is RunState.BRAKING:
        rig.arm.idle = False
        rig.end(MoveState.FAILED)
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
        rig.end(MoveState.CANCELED)
    elif state.waits and not between:
        rig.tick()
    return rig


def fire(rig, event) -> str | None:
    """Let an event happen; return the answer if it is a request."""
    engine, arm = rig.engine, rig.arm
    if event is RunEvent.RESTS or event is RunEvent.RECOVERABLE:
        arm.idle = event is RunEvent.RESTS
    elif event is RunEvent.RESCALED:
        arm.scale_speed(0.5)
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
        rig.end(ENDS[event], 1.0 if ENDS[event] is MoveState.SUCCEEDED else 0.3)
    else:
        rig.tick()
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
    fired, old = [], rig.engine._fire
    rig.engine._fire = lambda event, why="": (fired.append(event), old(event, why))[1]
    answer = fire(rig, event)
    row = RUN.row(state, event)
    assert event in fired or row is None or state.done
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


# -- Random lives --------------------------------------------------------------------------------


class RunLife(RuleBasedStateMachine):
    """Runs of three steps, one after the other; requests come in any order.

    The motions of the arm end in any way at any time.
    """

    visits: ClassVar[Counter] = Counter()
    fired: ClassVar[set] = set()

    @initialize(paused=st.booleans(), retries=st.integers(0, 3), otherwise=st.booleans())
    def begin(self, paused, retries, otherwise):
        steps = [replace(step(i), retries=retries) for i in range(3)]
        if otherwise:
            steps[0] = replace(steps[0], otherwise=1, following=2)
            steps[1:] = replace(steps[0], index=1, otherwise=None), replace(steps[1], index=2)
        self.clock = Clock()
        self.arm = Arm(self.clock)
        planned = TaskPlan(REQUEST, np.zeros(1), tuple(steps))
        self.engine = Engine(planned, self.arm, clock=self.clock, paused=paused)
        self.asked_to_stop = False
        self.closed, self.most = 0, math.inf  # steps that were done, and may be
        self.watch(self.engine._fire, self.engine._close_step)
        self.watch_arm(self.arm._start, self.arm.scale_speed)

    def watch(self, fire, close):
        """Note all events, which the table must have, and steps that are done."""

        def fire_and_note(event, why=""):
            self.visits[self.state] += 1
            self.fired.add((self.state, event))
            assert RUN.row(self.state, event) is not None or event in ASKED, (self.state, event)
            return fire(event, why)

        def close_and_count(run):
            self.closed += 1
            close(run)

        self.engine._fire, self.engine._close_step = fire_and_note, close_and_count

    def watch_arm(self, start, scale):
        """Nothing starts or continues but in RUNNING, and nothing starts in a motion."""

        def start_if_running(command):
            assert self.state is RunState.RUNNING and not self.moves
            self.arm.status, self.arm.idle = MoveStatus(MoveState.RUNNING), False
            return start(command)

        def scale_unless_paused(factor):
            goes_on = self.state is RunState.RUNNING or not self.moves
            assert factor == 0.0 or goes_on, self.state
            scale(factor)

        self.arm._start, self.arm.scale_speed = start_if_running, scale_unless_paused

    @property
    def state(self):
        return self.engine._state

    @property
    def moves(self):
        return self.engine._run is not None and not self.arm.status.done

    # -- What happens ----------------------------------------------------------------------------

    @precondition(lambda self: not self.state.done)
    @rule(name=st.sampled_from([*4 * LIVELY, *REQUESTS]))
    def request(self, name):
        before, arguments = self.state, REQUESTS[name]
        answer = getattr(self.engine, name)(*arguments)
        if name == "pause" and not answer:
            assert self.state in (RunState.PAUSING, RunState.PAUSED)
        if name in ("hold", "release"):
            assert before is self.state or before in (*GOING, RunState.HELD)
        if name in ("resume", "single_step") and not answer:
            self.most = self.closed + 1 if name == "single_step" else math.inf
        self.asked_to_stop |= name in ("cancel", "abort", "give_up")

    @precondition(lambda self: not self.state.done)
    @rule(seconds=st.sampled_from([0.0, 0.1, 1.0, 4.0]))
    def tick(self, seconds):
        if seconds < 4.0 or self.state is not RunState.RUNNING:  # else the motion is overdue
            self.clock.now += seconds
        self.engine.tick()

    @precondition(lambda self: self.moves or self.state is RunState.BRAKING)
    @rule(
        end=st.sampled_from([*ENDS.values(), *3 * [MoveState.FAILED, MoveState.SUCCEEDED]]),
        share=st.floats(0.0, 1.0),
        rests=st.booleans(),
    )
    def end_motion(self, end, share, rests):
        share = 1.0 if end is MoveState.SUCCEEDED else share
        self.arm.q += share * (self.arm.moves[-1][1] - self.arm.q)
        self.arm.status, self.arm.idle = MoveStatus(end), rests
        self.engine.tick()

    @precondition(lambda self: not self.state.done)
    @rule(what=st.sampled_from(["obeys", "disobeys", "rests", "rescaled", "reported 0", "pushed"]))
    def disturb(self, what):
        if what == "rests":
            self.arm.idle |= not self.moves
        elif what == "pushed" and self.state.waits and not self.moves:
            self.arm.q += 5.0
            assert "begins elsewhere" in self.engine.resume() or self.engine._is_over
            self.arm.q -= 5.0
        elif what.endswith("obeys"):
            self.arm.obeys = what == "obeys"
        elif what != "pushed":
            self.arm.scalings.append(0.5 if what == "rescaled" else 0.0)
        self.engine.tick()

    @precondition(lambda self: self.state.done)
    @rule(paused=st.booleans(), retries=st.integers(0, 3), otherwise=st.booleans())
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
            assert self.closed <= self.most
            if self.closed == self.most:
                assert self.state.waits or self.state in STOPS | OVER

    def teardown(self):
        """Every run can be ended."""
        if hasattr(self, "engine"):
            self.engine.cancel()
            self.arm.status = MoveStatus(MoveState.CANCELED)
            assert self.engine.tick().done


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
    assert min(RunLife.visits[state] for state in RunState) > 10, RunLife.visits
    assert len(left) <= skipped, left


def test_laws_hold_whatever_happens():
    live(examples=100, steps=60, skipped=40, derandomize=True)


@pytest.mark.thorough
def test_laws_hold_in_many_long_lives():
    live(examples=1000, steps=100, skipped=2)
