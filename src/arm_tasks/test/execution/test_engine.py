# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The engine with scripted arms that succeed, reject, fail, hang, or do not stop."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from arm_tasks.errors import PlanError
from arm_tasks.execution.engine import Engine, EngineState
from arm_tasks.execution.ports import MoveState, MoveStatus
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.task.condition import Condition, Reading, Signal
from arm_tasks.task.request import ArmConfiguration
from arm_tasks.task.steps import Command
from arm_testing.arms.scripted_arm import REQUEST, ManualClock, Port, plan, report, step


def engine_of(*kinds, script=(), obeys=True, q=0.0, **options):
    clock = ManualClock()
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


def check_end(outcome, state, message="", steps_done=None):
    assert outcome.state is state and message in outcome.message
    assert steps_done in (None, outcome.steps_done)


def test_steps_run_in_order_with_feedback():
    feedback = []
    engine, port, clock = engine_of("motion", "gripper", "wait", on_feedback=feedback.append)
    outcome = run(engine, clock)
    check_end(outcome, EngineState.SUCCEEDED, steps_done=3)
    assert port.moves == [("move", 1.0), ("width", 0.01)]
    assert (outcome.steps_total, outcome.last_step, outcome.resume_step) == (3, "step 2", None)
    assert outcome.duration == pytest.approx(3.0, abs=0.5) and len(outcome.durations) == 3
    assert [t.step for t in feedback] == sorted(t.step for t in feedback)
    assert feedback[0].message == "doing 0" and feedback[-1].progress == 1.0
    assert all(0.0 <= t.progress <= 1.0 and t.steps_total == 3 for t in feedback)


def test_motion_that_ends_far_from_its_goal_stops_the_task():
    """A driver may report success without a goal tolerance; the joint states decide."""
    engine, port, clock = engine_of("motion", "motion")
    port.configuration = lambda: ArmConfiguration({"a": 0.693 if port.moves else 0.0}, 0.0)
    outcome = run(engine, clock)
    check_end(outcome, EngineState.FAILED, "but a is 0.307 from its goal, more than 0.1")
    assert len(port.moves) == 1


def test_joint_states_that_arrive_late_end_no_task():
    engine, port, clock = engine_of("motion", "motion")
    reached = port.configuration
    port.configuration = lambda: (
        ArmConfiguration({"a": 0.5}, 0.0) if 1.0 < clock() < 1.8 else reached()
    )
    check_end(run(engine, clock), EngineState.SUCCEEDED)


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (MoveState.REJECTED, "the driver rejected the motion: joint a is above its limit"),
        (MoveState.FAILED, "the motion failed: bus fault"),
        (MoveState.CANCELED, "the driver stopped the motion: bus fault"),
    ],
)
def test_rejected_or_failed_motion_ends_the_run(end, message):
    script = [MoveState.SUCCEEDED, end]
    engine, port, clock = engine_of("motion", "motion", "motion", script=script)
    outcome = run(engine, clock)
    check_end(outcome, EngineState.FAILED, f"step 2, step 1: {message}", steps_done=1)
    assert outcome.last_step == "step 1" and len(port.moves) == 2


@pytest.mark.parametrize(
    ("cancel_at", "message"),
    [(None, "was not done after"), (0.3, "does not report that it stopped")],
)
def test_hanging_motion_times_out(cancel_at, message):
    engine, port, clock = engine_of("motion", script=["hang"], obeys=False)
    check_end(run(engine, clock, cancel_at=cancel_at), EngineState.FAILED, message)
    assert port.cancels == 1


@pytest.mark.parametrize("cancel_at", [None, 0.3])
def test_timeout_needs_simulated_and_wall_time_to_pass(cancel_at):
    wall = ManualClock()
    engine, _, clock = engine_of("motion", script=["hang"], obeys=False, wall=wall)
    assert run(engine, clock, 1000.0, cancel_at) is None
    wall.now += 10.0
    assert engine.tick() is EngineState.FAILED


@pytest.mark.parametrize("at", [0.0, 0.5, 1.5, 2.5])
def test_cancel_ends_the_run_in_any_step(at):
    engine, port, clock = engine_of("motion", "gripper", "wait", "motion")
    outcome = run(engine, clock, cancel_at=at)
    check_end(outcome, EngineState.CANCELED, "the arm holds where it is", int(at))
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


def test_motion_that_succeeds_during_a_cancel_is_still_canceled():
    engine, port, clock = engine_of("motion", "motion", obeys=False)
    check_end(run(engine, clock, cancel_at=0.9), EngineState.CANCELED)
    assert len(port.moves) == 1


def test_run_can_start_at_a_later_step():
    engine, port, clock = engine_of("motion", "motion", "motion", q=2.0, first=2)
    check_end(run(engine, clock), EngineState.SUCCEEDED, steps_done=3)
    assert port.moves == [("move", 3.0)]
    engine, _, clock = engine_of()  # a plan without steps
    assert run(engine, clock).state is EngineState.SUCCEEDED


@pytest.mark.parametrize("ticks", [0, 1])
@pytest.mark.parametrize("kinds", [("motion", "wait"), ("wait",), ("gripper",), ()])
def test_lost_arm_ends_the_run_in_any_step(kinds, ticks):
    engine, port, _ = engine_of(*kinds)
    for _ in range(ticks if kinds else 0):
        engine.tick()
    engine.give_up("the arm is gone")
    assert engine.tick() is EngineState.FAILED and "the arm is gone" in engine.outcome.message
    moving = ticks and kinds and kinds[0] != "wait"
    assert port.cancels == bool(moving)  # the arm must not continue if it comes back
    assert not ticks or not kinds or "step 1" in engine.outcome.message
    engine.give_up("again")
    assert "again" not in engine.outcome.message


def test_infeasible_plan_and_invalid_start_step_are_rejected():
    bad = TaskPlan(REQUEST, np.zeros(1), (), report(0, feasible=False))
    with pytest.raises(PlanError, match=r"step 1, step 0: out of reach by 12\.0 mm"):
        Engine(bad, Port(ManualClock()))
    with pytest.raises(PlanError, match="the plan has no step 7"):
        Engine(plan("motion"), Port(ManualClock()), first=7)
    with pytest.raises(PlanError, match="step 2, step 1, begins elsewhere: a is off by"):
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


def test_pause_scales_the_motion_to_0_and_resume_continues_the_same():
    engine, port, clock = paused_at(("motion", "motion"), 0.5)
    assert port.cancels == 0 and port.scalings == [1.0, 0.0]
    for _ in range(1000):  # a pause has no time limit
        clock.now += 1.0
        assert engine.tick() is EngineState.PAUSED
    assert engine.resume() == ""
    check_end(run(engine, clock), EngineState.SUCCEEDED, steps_done=2)
    assert port.moves == [("move", 1.0), ("move", 2.0)]
    assert port.scalings == [1.0, 0.0, 1.0]


def held_at_half(**options):
    engine, port, clock = engine_of("motion", "motion", **options)
    engine.tick()
    clock.now += 0.5
    engine.hold("nobody sees the arm")
    assert engine.tick() is EngineState.PAUSED and port.scalings == [1.0, 0.0]
    return engine, port, clock


def test_held_task_continues_when_it_is_released():
    engine, port, clock = held_at_half()
    engine.hold("nobody sees the arm")
    engine.release()
    check_end(run(engine, clock), EngineState.SUCCEEDED, steps_done=2)
    assert port.scalings == [1.0, 0.0, 1.0] and port.cancels == 0
    engine.release()


def test_release_does_not_end_the_pause_of_a_person():
    for held_first in (True, False):
        engine, _, _ = held_at_half() if held_first else paused_at(("motion", "motion"), 0.5)
        engine.pause() if held_first else engine.hold("nobody sees the arm")
        engine.release()
        assert engine.tick() is EngineState.PAUSED
        assert engine.resume() == "" and engine.state is EngineState.RUNNING


def test_single_step_that_was_held_still_ends_with_a_pause():
    feedback = []
    engine, _, clock = engine_of("motion", "motion", paused=True, on_feedback=feedback.append)
    engine.single_step()
    engine.tick()
    clock.now += 0.5
    engine.hold("nobody sees the arm")
    engine.tick()
    engine.release()
    for _ in range(40):
        clock.now += 0.1
        engine.tick()
    assert engine.state is EngineState.PAUSED and feedback[-1].message == "step 1 is done"


def test_single_step_that_ends_while_it_is_held_waits_for_a_person():
    engine, port, clock = engine_of("motion", "motion", paused=True, obeys=False)
    engine.single_step()
    engine.tick()
    engine.hold("nobody sees the arm")
    for _ in range(40):
        clock.now += 0.1
        engine.tick()
        engine.release()
    assert engine.state is EngineState.PAUSED and len(port.moves) == 1


def test_step_after_a_hold_is_a_persons_and_its_pause_is_not_released():
    feedback = []
    engine, _, clock = held_at_half(on_feedback=feedback.append)
    assert engine.single_step() == ""
    for _ in range(40):
        clock.now += 0.1
        engine.tick()
        engine.release()
    assert engine.state is EngineState.PAUSED and feedback[-1].message == "step 1 is done"


def test_resume_restores_the_scaling_before_the_pause():
    engine, port, clock = engine_of("motion")
    port.scale_speed(0.25)
    engine.tick()
    clock.now += 0.5
    engine.pause()
    assert engine.tick() is EngineState.PAUSED
    assert engine.resume() == "" and port.scalings[-2:] == [0.0, 0.25]


def test_scaling_is_remembered_while_the_arm_still_reports_that_of_the_pause():
    engine, port, clock = engine_of("motion")
    port.scale_speed(0.5)
    engine.tick()
    clock.now += 0.5
    for _ in range(3):
        engine.pause()
        assert engine.tick() is EngineState.PAUSED
        assert engine.resume() == "" and port.scalings[-1] == 0.5
        port.scalings.append(0.0)  # the report of before
        engine.tick()
    port.scalings.append(0.5)
    check_end(run(engine, clock), EngineState.SUCCEEDED)


def test_late_report_of_a_resume_does_not_end_the_next_pause():
    engine, port, clock = paused_at(("motion",), 0.5)
    engine.resume()
    port.scalings.append(0.0)  # the report of before
    engine.pause()
    assert engine.tick() is EngineState.PAUSED
    port.scalings.append(1.0)  # a report of the resume
    assert engine.tick() is EngineState.PAUSED
    port.scalings.append(0.0)
    clock.now += 1.0
    assert engine.tick() is EngineState.PAUSED


def test_scaling_above_0_set_elsewhere_resumes_the_task():
    engine, port, clock = paused_at(("motion",), 0.5)
    clock.now += 1.0
    engine.tick()
    port.scale_speed(0.5)
    assert engine.tick() is EngineState.RUNNING
    check_end(run(engine, clock), EngineState.SUCCEEDED)


def test_slowed_step_is_not_late():
    engine, port, clock = engine_of("motion")
    port.scale_speed(0.01)
    began = clock.now
    check_end(run(engine, clock, 300.0), EngineState.SUCCEEDED)
    assert clock.now - began == pytest.approx(100.0, abs=1.0)


def test_hanging_step_is_late_however_slow():
    engine, port, clock = engine_of("motion", script=["hang"])
    port.scale_speed(0.5)
    check_end(run(engine, clock, 60.0), EngineState.FAILED, "was not done")


def test_motion_that_does_not_brake_is_canceled():
    engine, port, clock = engine_of("motion", "motion", script=["hang"])
    engine.tick()
    port.__class__ = type("Deaf", (Port,), {"still": False})
    engine.pause()
    run(engine, clock, 10.0)
    assert engine.state is EngineState.PAUSED and port.cancels == 1


def test_motion_that_ends_while_paused_is_completed_by_another():
    """A stop or a goal of another client ends it; the rest of its path is timed again."""
    engine, port, clock = paused_at(("motion", "motion"), 0.5)
    port.handle.end, port.handle.left = MoveState.FAILED, 0.0
    port.q = 0.4
    assert engine.tick() is EngineState.PAUSED
    assert port.scalings[:3] == [1.0, 0.0, 1.0]  # others may move the arm meanwhile
    assert engine.resume() == ""
    check_end(run(engine, clock), EngineState.SUCCEEDED, steps_done=2)
    assert port.moves == [("move", 1.0), ("move", 1.0), ("move", 2.0)]


def test_paused_motion_of_a_lost_arm_stays_paused_until_it_has_ended():
    engine, port, _ = paused_at(("motion",), 0.5)
    engine.give_up("no joint_states for 5 s")
    assert engine.state is EngineState.FAILED
    assert port.cancels == 1 and port.speed_scaling == 0.0
    assert port.idle_scaling == 1.0


def test_failure_while_pausing_restores_the_scaling():
    engine, port, _ = engine_of("motion", script=[MoveState.FAILED])
    engine.tick()
    engine.pause()
    port.handle.left = 0.0
    assert engine.tick() is EngineState.FAILED
    assert port.speed_scaling == 1.0


def test_step_that_ends_while_pausing_is_not_repeated():
    engine, port, clock = paused_at(("motion", "motion"), 0.5, obeys=False)
    assert len(port.moves) == 1 and port.speed_scaling == 1.0
    assert engine.resume() == ""
    assert run(engine, clock).state is EngineState.SUCCEEDED
    assert len(port.moves) == 2


def test_pause_in_the_last_step_lets_the_run_succeed():
    engine, _, clock = engine_of("motion", obeys=False)
    engine.tick()
    engine.pause()
    assert run(engine, clock).state is EngineState.SUCCEEDED


def test_resume_is_rejected_if_the_arm_was_moved():
    engine, port, _ = paused_at(("motion",), 0.5)
    port.handle.end, port.handle.left = MoveState.FAILED, 0.0
    engine.tick()
    port.q = 1.5
    assert "a is off by 28.6 deg; move there first" in engine.resume()
    assert engine.tick() is EngineState.PAUSED
    port.q = 0.7
    assert engine.resume() == ""


@pytest.mark.parametrize("kind", ["motion", "gripper", "wait"])
def test_paused_run_can_be_canceled(kind):
    engine, port, _ = paused_at((kind, kind), 0.5)
    engine.cancel()
    assert engine.tick() is EngineState.CANCELED
    assert engine.outcome.message == "canceled in step 1, step 0; the arm holds where it is"
    assert engine.outcome.resume_step == 0
    assert len(port.moves) == (kind != "wait")
    assert port.speed_scaling == 1.0


@pytest.mark.parametrize("kind", ["motion", "gripper", "wait"])
@pytest.mark.parametrize("obeys", [True, False])
def test_run_is_canceled_while_the_arm_still_brakes_for_a_pause(kind, obeys):
    """The scaling of the pause is not left behind, however the motion ends."""
    engine, port, clock = engine_of(kind, kind, obeys=obeys)
    engine.tick()
    engine.pause()
    assert engine.state is EngineState.PAUSING
    engine.cancel()
    outcome = run(engine, clock)
    check_end(outcome, EngineState.CANCELED, "the arm holds where it is")
    assert engine.resume() == "the task is not paused but canceled"
    assert len(port.moves) == (kind != "wait")
    assert port.cancels == (kind != "wait")
    assert port.speed_scaling == 1.0


def test_controls_are_rejected_with_a_reason_in_the_wrong_state():
    engine, _, clock = engine_of("motion")
    engine.tick()
    assert engine.resume() == "the task is not paused but running"
    engine.pause()
    assert engine.resume() == "the arm is still slowing down; try again"
    engine.cancel()
    assert engine.pause() == "the task is stopping"
    run(engine, clock)
    assert engine.pause() == "the task is canceled"
    assert engine.single_step() == "the task is not paused but canceled"


def test_single_steps():
    feedback = []
    kinds = ("motion", "gripper", "wait")
    engine, port, clock = engine_of(*kinds, paused=True, on_feedback=feedback.append)
    for done in range(3):
        for _ in range(30):
            engine.tick()
            clock.now += 0.1
        assert engine.state is EngineState.PAUSED
        assert feedback[-1].step == done and feedback[-1].state is EngineState.PAUSED
        assert len(port.moves) == done
        port.q, port.jaws = 0.0, 0.0  # where the next step starts
        assert engine.single_step() == ""
    assert run(engine, clock).state is EngineState.SUCCEEDED


def test_single_step_while_running_pauses_after_the_step():
    engine, port, clock = engine_of("motion", "motion")
    engine.tick()
    assert engine.single_step() == ""
    run(engine, clock, 5.0)
    assert engine.state is EngineState.PAUSED
    assert port.moves == [("move", 1.0)] and port.cancels == 0


def test_pause_step_waits_for_resume():
    feedback = []
    engine, port, clock = engine_of("motion", "pause", "motion", on_feedback=feedback.append)
    run(engine, clock, 600.0)
    assert engine.state is EngineState.PAUSED
    assert (feedback[-1].state, feedback[-1].message) == (EngineState.PAUSED, "doing 1")
    assert engine.resume().startswith("step 3, step 2, begins elsewhere: a is off by 57.3 deg")
    port.q = 2.0
    assert engine.resume() == ""
    assert run(engine, clock).steps_done == 3


def test_lost_dependency_stops_the_arm():
    engine, port, clock = engine_of("motion", "motion")
    engine.tick()
    engine.abort("tf has been silent")
    outcome = run(engine, clock)
    message = "tf has been silent in step 1, step 0; the arm holds where it is"
    check_end(outcome, EngineState.LOST, message)
    assert port.cancels == 1 and outcome.resume_step == 0


class Topic:
    """Other nodes with one topic, whose readings the test sets."""

    def __init__(self):
        self.reading, self.opened, self.closed = Reading(False, "nothing publishes t"), 0, 0

    def watch(self, signal):
        assert signal == UNTIL.signal
        self.opened += 1
        return self

    def read(self):
        return self.reading

    def close(self):
        self.closed += 1


UNTIL = Condition(signal=Signal("t", field="state", equals=0.0))


def waiting():
    """Return an engine whose second step waits for a topic, ticked until it waits."""
    clock, topic = ManualClock(), Topic()
    port = Port(clock)
    first, last = step(0, "gripper"), step(2, "gripper")
    wait = replace(
        step(1, "wait"), when=UNTIL, timeout=30.0, report=replace(report(1), duration=0.0)
    )
    engine = Engine(
        TaskPlan(REQUEST, np.zeros(1), (first, wait, last)), port, clock=clock, nodes=topic
    )
    run(engine, clock, seconds=10.0)  # much longer than a step of 0 s may take
    assert (engine.state, topic.opened, len(port.moves)) == (EngineState.RUNNING, 1, 1)
    return engine, port, clock, topic


def test_wait_until_ends_with_its_condition():
    engine, port, clock, topic = waiting()
    topic.reading = Reading(True)
    check_end(run(engine, clock), EngineState.SUCCEEDED, steps_done=3)
    assert (topic.closed, len(port.moves)) == (1, 2)


def test_wait_until_fails_after_its_timeout_with_the_reason():
    engine, port, clock, topic = waiting()
    outcome = run(engine, clock)
    why = "step 2, step 1: it did not hold within 30 s that state of t is 0: nothing publishes t"
    check_end(outcome, EngineState.FAILED, why, steps_done=1)
    assert outcome.duration == pytest.approx(31.0, abs=0.5)
    assert (topic.closed, len(port.moves)) == (1, 1)


def test_wait_until_fails_at_once_if_its_condition_can_never_hold():
    engine, _, clock, topic = waiting()
    topic.reading = Reading(False, "no field 'x'", failed=True)
    check_end(run(engine, clock, seconds=0.2), EngineState.FAILED, "step 1: no field 'x'")
    assert topic.closed == 1


def test_wait_until_is_canceled():
    engine, port, clock, topic = waiting()
    engine.cancel()
    check_end(run(engine, clock), EngineState.CANCELED, "in step 2", steps_done=1)
    assert (topic.closed, len(port.moves)) == (1, 1)


def test_pause_of_wait_until_does_not_count():
    engine, _, clock, topic = waiting()
    assert engine.pause() == ""
    topic.reading = Reading(True)
    run(engine, clock, seconds=60.0)
    assert (engine.state, topic.closed) == (EngineState.PAUSED, 1)
    topic.reading = Reading(False)
    assert engine.resume() == ""
    run(engine, clock, seconds=20.0)
    assert (engine.state, topic.opened) == (EngineState.RUNNING, 2)


def test_wait_until_without_topics_fails():
    wait = replace(step(0, "wait"), when=UNTIL, timeout=30.0)
    clock = ManualClock()
    engine = Engine(TaskPlan(REQUEST, np.zeros(1), (wait,)), Port(clock), clock=clock)
    check_end(run(engine, clock), EngineState.FAILED, "t cannot be received here")


def waiting_or_else():
    """Return an engine that waits, and then opens the jaws to 30 mm, or to 20 mm if in vain."""
    clock, topic = ManualClock(), Topic()
    wait = replace(step(0, "wait"), when=UNTIL, timeout=30.0, otherwise=1, following=2)
    wait = replace(wait, report=replace(report(0), duration=0.0))
    other = replace(step(1, "gripper"), width=0.02, following=3)
    steps = wait, other, replace(step(2, "gripper"), width=0.03)
    plan = TaskPlan(REQUEST, np.zeros(1), steps)
    port = Port(clock)
    return Engine(plan, port, clock=clock, nodes=topic), port, clock, topic


@pytest.mark.parametrize(("holds", "width"), [(True, 0.03), (False, 0.02)])
def test_wait_that_times_out_goes_on_with_its_other_steps(holds, width):
    engine, port, clock, topic = waiting_or_else()
    topic.reading = Reading(holds, "it is 5")
    check_end(run(engine, clock), EngineState.SUCCEEDED, steps_done=3)
    assert port.moves == [("width", width)] and topic.closed == 1
    assert len(engine.outcome.durations) == 3


def test_mistake_in_a_condition_is_not_taken_for_a_timeout():
    engine, port, clock, topic = waiting_or_else()
    topic.reading = Reading(False, "no field 'x'", failed=True)
    check_end(run(engine, clock), EngineState.FAILED, "no field 'x'")
    assert port.moves == []


def test_canceled_wait_does_not_go_on_with_its_other_steps():
    engine, port, clock, _ = waiting_or_else()
    engine.tick()
    engine.cancel()
    check_end(run(engine, clock), EngineState.CANCELED)
    assert port.moves == []


def recovering(kind, script, retries=0, **other):
    """Return an engine whose first step may fail, with a second one to run instead."""
    clock = ManualClock()
    port = Port(clock, script)
    first = replace(step(0, kind), retries=retries, otherwise=1, following=2, **other)
    instead = replace(step(1, "gripper"), width=0.02, following=3)
    last = replace(step(2, "gripper"), width=0.03)
    made = TaskPlan(REQUEST, np.zeros(1), (first, instead, last))
    return Engine(made, port, clock=clock), port, clock


@pytest.mark.parametrize(
    ("failures", "retries", "moves"),
    [
        (0, 0, [("move", 1.0), ("width", 0.03)]),
        (1, 1, [("move", 1.0), ("move", 1.0), ("width", 0.03)]),
        (1, 0, [("move", 1.0), ("move", 0.0), ("width", 0.02)]),
        (2, 1, [("move", 1.0), ("move", 1.0), ("move", 0.0), ("width", 0.02)]),
    ],
)
@pytest.mark.parametrize("end", [MoveState.FAILED, MoveState.REJECTED])
def test_failed_motion_is_tried_again_then_undone_for_other_steps(end, failures, retries, moves):
    engine, port, clock = recovering("motion", [end] * failures, retries)
    port.move = lambda path: port._start(("move", float(path.positions[-1, 0])))
    outcome = None
    while outcome is None:
        outcome = run(engine, clock, 0.1)
        done = port.handle is not None and port.handle.left <= 0.0
        if done and port.moves[-1][0] == "move":
            port.q = port.moves[-1][1]
        elif port.moves[-1:] == [("move", 1.0)] and end is MoveState.FAILED:
            port.q = 0.5  # on its path
    check_end(outcome, EngineState.SUCCEEDED, steps_done=3)
    went = end is MoveState.FAILED  # a rejected motion does not begin
    assert port.moves == [move for move in moves if went or move != ("move", 0.0)]


@pytest.mark.parametrize("script", [["FAILED"] * 2, ["FAILED", "REJECTED"]])
def test_way_back_that_fails_ends_the_task_with_both_reasons(script):
    engine, port, clock = recovering("motion", [MoveState[name] for name in script])
    check_end(run(engine, clock), EngineState.FAILED, "the motion failed: bus fault; the ")
    assert len(port.moves) == 2


def test_arm_that_is_off_its_path_does_not_go_on():
    engine, port, clock = recovering("motion", [MoveState.FAILED], retries=3)
    engine.tick()
    port.q = 0.5 + 1.0
    check_end(run(engine, clock), EngineState.FAILED, "the motion failed: bus fault")
    assert len(port.moves) == 1


@pytest.mark.parametrize("end", [MoveState.CANCELED, MoveState.STOPPED])
@pytest.mark.parametrize("retries", [0, 5])
def test_motion_that_someone_stops_is_not_tried_again(end, retries):
    engine, port, clock = recovering("motion", [end], retries)
    check_end(run(engine, clock), EngineState.FAILED, "stopped")
    assert len(port.moves) == 1


@pytest.mark.parametrize("end", [MoveState.FAILED, MoveState.REJECTED])
def test_motion_is_not_tried_again_on_an_arm_that_accepts_none(end):
    engine, port, clock = recovering("motion", [end], retries=5)
    port.ready = False
    check_end(run(engine, clock), EngineState.FAILED)
    assert len(port.moves) == 1 and clock.now < 102.0


@pytest.mark.parametrize(("seconds", "moves"), [(1.0, 2), (60.0, 1)])
def test_motion_is_tried_again_once_the_arm_rests(seconds, moves):
    engine, port, clock = recovering("motion", [MoveState.FAILED], retries=1)
    port.idle = False
    run(engine, clock, 1.0 + seconds)
    assert len(port.moves) == 1
    assert engine.state is (EngineState.FAILED if moves == 1 else EngineState.RUNNING)
    port.idle = True
    run(engine, clock, 0.2)
    assert len(port.moves) == moves


@pytest.mark.parametrize("retries", [0, 5])
def test_overdue_motion_is_not_followed_by_another(retries):
    engine, port, clock = recovering("motion", ["hang"], retries)
    check_end(run(engine, clock), EngineState.FAILED, "was not done after")
    assert len(port.moves) == port.cancels == 1


def test_way_back_is_resumed_after_a_pause():
    engine, port, clock = recovering("motion", [MoveState.FAILED])
    run(engine, clock, 1.4)
    assert engine.pause() == "" and port.moves == [("move", 1.0), ("move", 0.0)]
    run(engine, clock, 1.0)
    assert engine.state is EngineState.PAUSED and engine.resume() == ""
    check_end(run(engine, clock), EngineState.SUCCEEDED)
    assert port.moves[-1] == ("width", 0.02)


class Answers:
    """Other nodes whose commands end in given ways, the last again and again."""

    def __init__(self, *ends):
        self.ends, self.sent = list(ends), []

    def send(self, command):
        self.sent.append(command.to)
        end = self.ends.pop(0) if len(self.ends) > 1 else self.ends[0]
        return SimpleNamespace(poll=lambda: MoveStatus(end, "nothing offers light"), cancel=None)


def commanding(nodes, **options):
    clock = ManualClock()
    common = {"name": "a", "kind": "call_service", "file": "t.yaml", "line": 1, "speed": 1.0}
    light = Command(**common, to="light", type="", content={}, timeout=5.0)
    made = replace(step(0, "command"), command=light, report=replace(report(0), duration=0.0))
    steps = replace(made, **options), step(1, "wait")
    return Engine(
        TaskPlan(REQUEST, np.zeros(1), steps), Port(clock), clock=clock, nodes=nodes
    ), clock


@pytest.mark.parametrize(
    ("ends", "retries", "sent", "message"),
    [
        (["SUCCEEDED"], 0, 1, ""),
        (["FAILED", "SUCCEEDED"], 1, 2, ""),
        (["FAILED"], 2, 3, "step 1, step 0: nothing offers light"),
    ],
)
def test_command_is_sent_until_it_succeeds_or_has_no_tries_left(ends, retries, sent, message):
    nodes = Answers(*(MoveState[end] for end in ends))
    engine, clock = commanding(nodes, retries=retries)
    check_end(run(engine, clock), EngineState[("SUCCEEDED", "FAILED")[bool(message)]], message)
    assert nodes.sent == ["light"] * sent


def test_command_without_an_answer_times_out():
    nodes = Answers(MoveState.RUNNING)
    nodes.send = lambda command, old=nodes.send: SimpleNamespace(
        poll=old(command).poll, cancel=lambda: None
    )
    engine, clock = commanding(nodes)
    outcome = run(engine, clock)
    check_end(outcome, EngineState.FAILED, "not done within 5 s: nothing offers light")
    assert outcome.duration == pytest.approx(5.0, abs=0.5)


def test_command_without_other_nodes_fails():
    engine, clock = commanding(None)
    check_end(run(engine, clock), EngineState.FAILED, "no other node can be reached here")


class SlowMove:
    """A motion of a second whose driver gets a fraction of the time, and reports its progress.

    It goes no further than `most`.
    """

    def __init__(self, clock, pace, most):
        self.clock, self.pace, self.most, self.began = clock, pace, most, clock()

    def poll(self):
        progress = min((self.clock() - self.began) * self.pace, self.most)
        if progress >= 1.0:
            return MoveStatus(MoveState.SUCCEEDED)
        return MoveStatus(MoveState.RUNNING, progress=progress)

    def cancel(self):
        """Do nothing: it does not brake."""


def slow_engine(*kinds, pace, most=1.0, **options):
    engine, port, clock = engine_of(*kinds, **options)

    def move(trajectory):
        port.q = float(trajectory.positions[-1, 0])
        return SlowMove(clock, pace, most)

    port.move = move
    return engine, clock


@pytest.mark.parametrize("pace", [1.0, 0.5, 0.1, 0.01])
def test_motion_is_not_late_while_the_driver_reports_progress(pace):
    """A busy computer slows the driver: the run goes on, and its messages and outcome say so."""
    said = []
    engine, clock = slow_engine("motion", "motion", pace=pace, on_feedback=said.append)
    outcome = run(engine, clock, 300.0)
    check_end(outcome, EngineState.SUCCEEDED, steps_done=2)
    behind = 2.0 * (1.0 / pace - 1.0) if pace < 0.3 else 0.0
    assert outcome.behind == pytest.approx(behind, abs=0.5)
    assert any("slower than planned" in one.message for one in said) == (pace < 0.3)


@pytest.mark.parametrize("most", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("pace", [1.0, 0.1])
def test_motion_without_further_progress_is_late(pace, most):
    engine, clock = slow_engine("motion", pace=pace, most=most)
    began = clock()
    check_end(run(engine, clock, 300.0), EngineState.FAILED, "the arm was not done after")
    assert clock() - began == pytest.approx(most / pace + 2.0 + 5.0, abs=0.3)


def test_canceled_motion_that_goes_on_is_late():
    engine, clock = slow_engine("motion", pace=0.01)
    began = clock()
    outcome = run(engine, clock, 300.0, cancel_at=0.3)
    check_end(outcome, EngineState.FAILED, "does not report that it stopped")
    assert clock() - began == pytest.approx(0.3 + 5.0, abs=0.3)
