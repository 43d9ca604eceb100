# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Frames that are found while a task runs: nothing moves before its plan is proven."""

import re
from dataclasses import replace

import numpy as np
import pytest
from arm_common.errors import InputError
from arm_common.ros.tf import TransformTree
from arm_common.transforms import pose
from arm_simulation.arms.ideal_arm import IdealArm
from arm_tasks.errors import TaskFileError
from arm_tasks.execution.engine import Engine, EngineState
from arm_tasks.execution.ports import MoveState
from arm_tasks.planning.feasibility import FeasibilityReport
from arm_tasks.planning.planner import plan_task
from arm_tasks.ros.task_server.frame_search import TfFrameSearch

FIND = "find_frame: part"
GO = "move_pose: {frame: part, orientation: any}"
REST = "move_posture: rest"


@pytest.fixture(scope="module")
def there(chain):
    """Return base_link <- part within reach (4, 4)."""
    return pose(p=tuple(chain.fk([0.3, 0.4, -0.8, 0.0])[:3, 3]))


@pytest.fixture
def listener():
    class Listener:
        tree, stamp = TransformTree(), 0.0

        def oldest_stamp(self, target, source):
            return self.stamp

    return Listener()


class World:
    """An ideal arm, tf, and a planner in this process."""

    def __init__(self, request, listener):
        self.plan = plan_task(request, collisions=False)
        self.arm = IdealArm(request.chain, None, self.plan.start, request.start.width)
        self.listener, self.request, self.planning = listener, request, lambda: None
        self.engine = Engine(self.plan, self.arm, clock=lambda: self.arm.time, nodes=self)

    def find(self, step):
        clock = lambda: self.arm.time  # noqa: E731
        search = TfFrameSearch(step, self.listener, "base_link", clock, self.extend, lambda _: 0)
        self.planning = lambda: search._planning
        return search

    def extend(self, index, T, canceled):
        self.request = replace(self.request, found={**self.request.found, index: T})
        return plan_task(self.request, collisions=False)

    def see(self, T):
        self.listener.tree.set("base_link", "part", T)
        self.listener.stamp = self.arm.time

    def run(self, until=lambda: False):
        while not (until() or self.engine.tick().done):
            self.arm.step(0.02)
            if thread := self.planning():
                thread.join()  # in simulated time it takes none
            assert self.arm.time < 120.0, "it does not end"
        return self.engine.outcome


def test_steps_below_are_planned_once_the_frame_is_known(request_for, there):
    request = request_for([REST, FIND, GO, REST])
    known = plan_task(request, collisions=False)
    assert known.feasible and [s.kind for s in known.steps] == ["wait", "find"]
    assert known.message.startswith("steps 1 to 2 of t can be done, in about 0 s; ")
    assert known.message.endswith("what depends on part is planned when it is found")
    assert "Fine: steps 1 to 2" in FeasibilityReport(known).text()
    whole = plan_task(replace(request, found={1: there}), collisions=False)
    assert [s.kind for s in whole.steps] == ["wait", "wait", "motion", "motion"]
    assert np.array_equal(whole.steps[0].end, known.steps[0].end)
    tool = request.chain.fk(whole.steps[2].end)
    assert tool[:3, 3] == pytest.approx(there[:3, 3], abs=2e-5)


def test_each_round_of_a_loop_finds_its_own_frame(request_for, there):
    request = request_for([f"repeat: {{times: 2, steps: [{FIND}, {GO}]}}"])
    other = pose(p=(0.01, 0.02, 0.0)) @ there
    first = plan_task(replace(request, found={0: there}), collisions=False)
    assert [s.kind for s in first.steps] == ["wait", "motion", "find"]
    both = plan_task(replace(request, found={0: there, 2: other}), collisions=False)
    tool = request.chain.fk(both.steps[3].end)
    assert tool[:3, 3] == pytest.approx(other[:3, 3], abs=2e-5)


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        ([GO, FIND], "there is no frame 'part' .* needs the step find_frame first"),
        (["find_frame: upper_bolt"], "upper_bolt is known; only frames of"),
        (["find_frame: base_link"], "base_link is known; only frames of other nodes"),
        (["find_frame: tool0"], "tool0 is known; only frames of other nodes"),
        (["move_linear: {frame: tool0, blend_mm: 1}", FIND], "blend needs a following"),
    ],
)
def test_frame_is_found_before_it_is_used(request_for, steps, what):
    with pytest.raises(TaskFileError, match=what):
        plan_task(request_for(steps), collisions=False)


def test_arm_waits_for_a_frame_that_was_seen_since_and_goes_there(request_for, there, listener):
    world = World(request_for(["move_posture: ready", FIND, GO]), listener)
    world.see(there)  # long before the search
    world.run(lambda: world.arm.time > world.plan.duration + 3.0)
    assert not world.engine.state.done and world.arm.idle
    other = pose(p=(0.01, 0.0, 0.0)) @ there
    world.see(other)
    assert world.run().state is EngineState.SUCCEEDED
    assert world.arm.chain.fk(world.arm.q)[:3, 3] == pytest.approx(other[:3, 3], abs=2e-5)
    assert world.engine.outcome.steps_total == len(world.engine.plan.steps) == 3


@pytest.mark.parametrize(
    ("seen", "what"),
    [
        ("never", "step 1, find_frame: part was not seen within 10 s: there is no frame"),
        ("before", "part was not seen within 10 s: it was last seen 1[0-9]"),
        ("far", "with part where it was found, step 2, move_pose: the position is out of reach"),
        ("failing", "with part where it was found, no memory"),
    ],
)
def test_nothing_moves_if_the_frame_is_missing_stale_or_out_of_reach(
    request_for, there, listener, seen, what
):
    world = World(request_for([FIND, GO]), listener)
    start = world.arm.q.copy()
    if seen != "never":
        world.see(pose(p=(2.0, 0.0, 0.3)) if seen == "far" else there)
    if seen == "before":
        listener.stamp = -1.0
    if seen == "failing":

        def fail(*_):
            raise InputError("no memory")

        world.extend = fail
    outcome = world.run()
    assert outcome.state is EngineState.FAILED
    assert outcome.resume_step == 0 and np.array_equal(world.arm.q, start)
    assert re.search(what, outcome.message), outcome.message


def test_other_steps_run_if_a_frame_is_not_found(request_for, listener):
    search = "find_frame: {frame: part, timeout: 1, retries: 1, on_failure: [open, close]}"
    world = World(request_for([search, REST]), listener)
    outcome = world.run()
    assert outcome.state is EngineState.SUCCEEDED and outcome.steps_done == len(world.plan.steps)
    assert outcome.durations[0] + world.arm.time > 2.0 and world.arm.width < 1e-3


def test_search_that_failed_may_be_followed_by_another(request_for, there, listener):
    """As in the example of the reference; without it the steps below have no frame."""
    again = "on_failure: [{pause_for_person: look}, {find_frame: part}]"
    search = f"find_frame: {{frame: part, timeout: 1, {again}}}"
    world = World(request_for([search, GO]), listener)
    world.run(lambda: world.engine.state is EngineState.PAUSED)
    assert world.engine.resume() == ""
    world.run(lambda: world.arm.time > 2.0)
    world.see(there)
    assert world.run().state is EngineState.SUCCEEDED, world.engine.outcome.message
    assert world.arm.chain.fk(world.arm.q)[:3, 3] == pytest.approx(there[:3, 3], abs=2e-5)
    with pytest.raises(TaskFileError, match="there is no frame 'part'"):
        plan_task(request_for([FIND.replace("part", "{frame: part, on_failure: [open]}"), GO]))


def test_search_that_is_paused_begins_again_and_one_that_is_cancelled_ends(
    request_for, there, listener
):
    world = World(request_for([FIND, GO]), listener)
    world.run(lambda: world.arm.time > 1.0)
    world.engine.pause()
    world.see(there)
    world.run(lambda: world.engine.state is EngineState.PAUSED)
    world.arm.step(5.0)
    assert world.engine.resume() == ""
    world.run(lambda: world.arm.time > 7.0)
    assert not world.engine.state.done  # what was seen during the pause is too old
    world.engine.cancel()
    outcome = world.run()
    assert outcome.state is EngineState.CANCELED and outcome.resume_step == 0


def test_search_ends_once(request_for, there, listener):
    world = World(request_for([FIND, GO]), listener)
    search = world.find(world.plan.steps[0])
    world.see(there)
    while search.poll().state is MoveState.RUNNING:
        pass
    assert search.poll().state is search.poll().state is MoveState.SUCCEEDED
    assert search.plan.feasible
