# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The engine with scripted arms: that succeed, refuse, fail, hang, stop late, or never say."""

from types import SimpleNamespace

import numpy as np
import pytest
from arm_tasks.errors import PlanError
from arm_tasks.execution.engine import Engine, EngineState
from arm_tasks.execution.ports import MoveState, MoveStatus
from arm_tasks.planning.plan import PlannedStep, PlannedTrajectory, StepReport, TaskPlan
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from arm_tasks.task.steps import Task

CHAIN = SimpleNamespace(
    joint_names=("a",), velocity=np.array([2.0]), acceleration=np.array([10.0])
)
REQUEST = TaskRequest(
    Task("t", "t.yaml", ()), None, None, CHAIN, ArmConfiguration({"a": 0.0}, 0.0)
)


def report(index, feasible=True):
    text = "fine" if feasible else "out of reach by 12.0 mm"
    return StepReport(index, f"step {index}", feasible, 0.0, 0.0, 1.0, "a", 1.0, text)


def step(index, kind="motion"):
    still = np.array([float(index) if kind == "motion" else 0.0])
    ends = np.array([[float(index)], [index + 1.0]])
    path = PlannedTrajectory(("a",), np.array([0.0, 1.0]), ends, np.zeros((2, 1)))
    return PlannedStep(
        *(index, f"step {index}", f"doing {index}", kind, still, 0.0, report(index)),
        trajectory=path if kind == "motion" else None,
        width=0.01 if kind == "gripper" else None,
    )


def plan(*kinds):
    steps = tuple(step(i, kind) for i, kind in enumerate(kinds))
    return TaskPlan(REQUEST, np.zeros(1), steps)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class Port:
    """Each move ends after a second in the state that the script says; "hang" never ends."""

    def __init__(self, clock, script=(), obeys=True):
        self.clock = clock
        self.script = list(script)
        self.obeys = obeys
        self.moves = []
        self.cancels = 0
        self.q, self.jaws = 0.0, 0.0

    def configuration(self):
        return ArmConfiguration({"a": self.q}, self.jaws)

    def move(self, trajectory):
        self.q = float(trajectory.positions[-1, 0])
        return self._start(("move", self.q))

    def set_width(self, width):
        return self._start(("width", width))

    def _start(self, what):
        self.moves.append(what)
        how = self.script.pop(0) if self.script else MoveState.SUCCEEDED
        return Handle(self, how, self.clock())


class Handle:
    def __init__(self, port, how, began):
        self.port, self.how, self.began, self.canceled = port, how, began, False

    def poll(self):
        if self.canceled and self.port.obeys:
            return MoveStatus(MoveState.CANCELED)
        if self.how is MoveState.REJECTED:
            return MoveStatus(self.how, "joint a is above its limit by 0.1 rad")
        if self.how == "hang" or self.port.clock() - self.began < 1.0:
            return MoveStatus(MoveState.RUNNING)
        return MoveStatus(self.how, "" if self.how is MoveState.SUCCEEDED else "bus fault")

    def cancel(self):
        self.port.cancels += 1
        self.canceled = True


def engine_of(*kinds, script=(), obeys=True, q=0.0, **options):
    clock = Clock()
    port = Port(clock, script, obeys)
    port.q = q
    return Engine(plan(*kinds), port, clock=clock, **options), port, clock


def run(engine, clock, seconds=60.0, cancel_at=None):
    end, start = clock.now + seconds, clock.now
    while not engine.tick().done and clock.now < end:
        clock.now += 0.1
        if cancel_at is not None and clock.now - start > cancel_at:
            engine.cancel()
    return engine.outcome


def ends(outcome, state, said="", steps_done=None):
    assert outcome.state is state and said in outcome.message
    assert steps_done in (None, outcome.steps_done)


def test_all_steps_are_done_in_order_with_feedback():
    told = []
    engine, port, clock = engine_of("motion", "gripper", "wait", on_feedback=told.append)
    outcome = run(engine, clock)
    ends(outcome, EngineState.SUCCEEDED, steps_done=3)
    assert port.moves == [("move", 1.0), ("width", 0.01)]
    assert (outcome.steps_total, outcome.last_step, outcome.resume_step) == (3, "step 2", None)
    assert outcome.duration == pytest.approx(3.0, abs=0.5) and len(outcome.durations) == 3
    assert [t.step for t in told] == sorted(t.step for t in told)
    assert told[0].message == "doing 0" and told[-1].progress == 1.0
    assert all(0.0 <= t.progress <= 1.0 and t.steps_total == 3 for t in told)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (MoveState.REJECTED, "the driver rejected the motion: joint a is above its limit"),
        (MoveState.FAILED, "the motion failed: bus fault"),
        (MoveState.CANCELED, "the driver stopped the motion: bus fault"),
    ],
)
def test_what_the_arm_refuses_or_fails_ends_the_run(how, said):
    script = [MoveState.SUCCEEDED, how]
    engine, port, clock = engine_of("motion", "motion", "motion", script=script)
    outcome = run(engine, clock)
    ends(outcome, EngineState.FAILED, f"step 2, step 1: {said}", steps_done=1)
    assert outcome.last_step == "step 1" and len(port.moves) == 2


@pytest.mark.parametrize(
    ("cancel_at", "said"), [(None, "was not done after"), (0.3, "does not report that it stopped")]
)
def test_an_arm_that_hangs_or_does_not_stop_has_failed(cancel_at, said):
    engine, port, clock = engine_of("motion", script=["hang"], obeys=False)
    ends(run(engine, clock, cancel_at=cancel_at), EngineState.FAILED, said)
    assert port.cancels == 1


@pytest.mark.parametrize("cancel_at", [None, 0.3])
def test_an_arm_in_fast_time_is_late_only_if_it_is_late_on_the_wall(cancel_at):
    wall = Clock()
    engine, _, clock = engine_of("motion", script=["hang"], obeys=False, wall=wall)
    assert run(engine, clock, 1000.0, cancel_at) is None
    wall.now += 10.0
    assert engine.tick() is EngineState.FAILED


@pytest.mark.parametrize("at", [0.0, 0.5, 1.5, 2.5])
def test_cancel_ends_it_wherever_it_is(at):
    engine, port, clock = engine_of("motion", "gripper", "wait", "motion")
    outcome = run(engine, clock, cancel_at=at)
    ends(outcome, EngineState.CANCELED, "the arm holds where it is", int(at))
    assert engine.tick() is EngineState.CANCELED
    assert len(port.moves) <= int(at) + 1


def test_cancel_before_the_first_tick_starts_nothing():
    engine, port, _ = engine_of("motion")
    engine.cancel("stopped by hand")
    assert engine.tick() is EngineState.CANCELED
    assert engine.outcome.message == "stopped by hand; the arm holds where it is"
    assert port.moves == []
    engine.cancel()
    assert engine.outcome.message.startswith("stopped by hand")


def test_a_step_that_ends_while_it_is_canceled_still_cancels():
    engine, port, clock = engine_of("motion", "motion", obeys=False)
    ends(run(engine, clock, cancel_at=0.9), EngineState.CANCELED)
    assert len(port.moves) == 1


def test_a_run_can_begin_in_the_middle_and_at_the_end():
    engine, port, clock = engine_of("motion", "motion", "motion", q=2.0, first=2)
    ends(run(engine, clock), EngineState.SUCCEEDED, steps_done=3)
    assert port.moves == [("move", 3.0)]
    engine, _, clock = engine_of()  # a plan without steps
    assert run(engine, clock).state is EngineState.SUCCEEDED


@pytest.mark.parametrize("ticks", [0, 1])
@pytest.mark.parametrize("kinds", [("motion", "wait"), ("wait",), ("gripper",), ()])
def test_an_arm_that_is_gone_ends_any_step_and_before_the_first(kinds, ticks):
    engine, port, _ = engine_of(*kinds)
    for _ in range(ticks if kinds else 0):
        engine.tick()
    engine.give_up("the arm is gone")
    assert engine.tick() is EngineState.FAILED and "the arm is gone" in engine.outcome.message
    moving = ticks and kinds and kinds[0] != "wait"
    assert port.cancels == bool(moving)  # should the arm come back, it must not go on
    assert not ticks or not kinds or "step 1" in engine.outcome.message
    engine.give_up("again")
    assert "again" not in engine.outcome.message


def test_what_must_not_be_run_is_refused():
    bad = TaskPlan(REQUEST, np.zeros(1), (), report(0, feasible=False))
    with pytest.raises(PlanError, match=r"step 1, step 0: out of reach by 12\.0 mm"):
        Engine(bad, Port(Clock()))
    with pytest.raises(PlanError, match="no step 7 to begin at"):
        Engine(plan("motion"), Port(Clock()), first=7)
    with pytest.raises(PlanError, match=r"step 1 \(step 1\) begins elsewhere: a is off by 1.000"):
        engine_of("motion", "motion", first=1)


def paused_at(kinds, at, **options):
    engine, port, clock = engine_of(*kinds, **options)
    start = clock.now
    while engine.state is not EngineState.PAUSED:
        engine.tick()
        clock.now += 0.1
        if clock.now - start > at:
            engine.pause("a hand is in the way")
        assert clock.now < start + 60.0
    return engine, port, clock


def test_a_pause_in_a_motion_stops_it_and_the_rest_is_done_after_it():
    engine, port, clock = paused_at(("motion", "motion"), 0.5)
    assert port.cancels == 1
    clock.now += 1000.0  # however long it takes
    assert engine.tick() is EngineState.PAUSED
    port.q = 0.4
    assert engine.resume() == ""
    ends(run(engine, clock), EngineState.SUCCEEDED, steps_done=2)
    assert port.moves == [("move", 1.0), ("move", 1.0), ("move", 2.0)]


def test_what_ends_while_it_is_paused_counts_and_the_next_step_waits():
    engine, port, clock = paused_at(("motion", "motion"), 0.5, obeys=False)
    assert len(port.moves) == 1
    assert engine.resume() == ""
    assert run(engine, clock).state is EngineState.SUCCEEDED
    assert len(port.moves) == 2


def test_the_last_step_leaves_nothing_to_pause_before():
    engine, _, clock = engine_of("motion", obeys=False)
    engine.tick()
    engine.pause()
    assert run(engine, clock).state is EngineState.SUCCEEDED


def test_an_arm_that_was_moved_meanwhile_is_not_moved_on():
    engine, port, _ = paused_at(("motion",), 0.5)
    port.q = 1.5
    assert "a is off by 0.500; move there first" in engine.resume()
    assert engine.tick() is EngineState.PAUSED
    port.q = 0.7
    assert engine.resume() == ""


@pytest.mark.parametrize("kind", ["motion", "gripper", "wait"])
def test_a_paused_run_can_be_canceled(kind):
    engine, port, _ = paused_at((kind, kind), 0.5)
    engine.cancel()
    assert engine.tick() is EngineState.CANCELED
    assert engine.outcome.message == "canceled in step 1, step 0; the arm holds where it is"
    assert engine.outcome.resume_step == 0
    assert len(port.moves) == (kind != "wait")


def test_what_makes_no_sense_now_is_refused_with_a_reason():
    engine, _, clock = engine_of("motion")
    engine.tick()
    assert engine.resume() == "it is not paused but running"
    engine.pause()
    assert engine.resume() == "the arm is still slowing down; try again"
    engine.cancel()
    assert engine.pause() == "it is stopping"
    run(engine, clock)
    assert engine.pause() == "it is canceled"
    assert engine.single_step() == "it is not paused but canceled"


def test_one_step_at_a_time():
    told = []
    kinds = ("motion", "gripper", "wait")
    engine, port, clock = engine_of(*kinds, paused=True, on_feedback=told.append)
    for done in range(3):
        for _ in range(30):
            engine.tick()
            clock.now += 0.1
        assert engine.state is EngineState.PAUSED
        assert told[-1].step == done and told[-1].state is EngineState.PAUSED
        assert len(port.moves) == done
        port.q, port.jaws = 0.0, 0.0  # as the step that comes needs it
        assert engine.single_step() == ""
    assert run(engine, clock).state is EngineState.SUCCEEDED


def test_a_running_task_can_be_told_to_pause_after_its_step():
    engine, port, clock = engine_of("motion", "motion")
    engine.tick()
    assert engine.single_step() == ""
    run(engine, clock, 5.0)
    assert engine.state is EngineState.PAUSED
    assert port.moves == [("move", 1.0)] and port.cancels == 0


def test_a_pause_in_the_plan_waits_for_a_person():
    told = []
    engine, port, clock = engine_of("motion", "pause", "motion", on_feedback=told.append)
    run(engine, clock, 600.0)
    assert engine.state is EngineState.PAUSED
    assert (told[-1].state, told[-1].message) == (EngineState.PAUSED, "doing 1")
    assert engine.resume().startswith("step 2 (step 2) begins elsewhere: a is off by 1.000")
    port.q = 2.0
    assert engine.resume() == ""
    assert run(engine, clock).steps_done == 3


def test_what_else_is_lost_stops_the_arm_and_says_so():
    engine, port, clock = engine_of("motion", "motion")
    engine.tick()
    engine.abort("tf fell silent")
    outcome = run(engine, clock)
    ends(outcome, EngineState.LOST, "tf fell silent in step 1, step 0; the arm holds where it is")
    assert port.cancels == 1 and outcome.resume_step == 0
