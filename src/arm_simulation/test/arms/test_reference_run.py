# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The nut transfer is interrupted in every step; the arm holds and the run can be resumed."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from arm_simulation.arms.ideal_arm import IdealArm, ReferenceRun
from arm_simulation.geometric.world import NutWorld
from arm_tasks.execution.engine import Engine, EngineState
from arm_tasks.execution.ports import REFERENCE_RUNS
from arm_tasks.scene.nut_state import NutStatus, SafeState, initial_nut, safe_state
from arm_tasks.task.request import ArmConfiguration
from arm_testing.arms.samples import sampled

PERIOD = 0.03
SHORT = 0.3  # s; a step that ends within a few periods cannot be interrupted


@pytest.fixture(scope="module")
def reference(nut_plan):
    return ReferenceRun.of(nut_plan)


class Bench:
    """An arm with its world on a manual clock, and engines that run a plan on it."""

    def __init__(self, plan):
        self.plan, self.chain = plan, plan.request.chain
        self.world = NutWorld(plan.request.scene)
        self.arm = IdealArm(self.chain, self.world, plan.start, plan.request.start.width)
        self.feedback = None

    def engine(self, first=0):
        on_feedback = partial(setattr, self, "feedback")
        return Engine(self.plan, self.arm, first, lambda: self.arm.time, on_feedback)

    def run(self, engine, until):
        end = self.arm.time + 1000.0
        while not engine.tick().done and not until():
            self.arm.step(PERIOD)
            assert self.arm.time < end

    def check_at_rest(self, seconds=2.0):
        """Let time pass and assert that the arm does not move."""
        q, width = self.arm.q.copy(), self.arm.width
        for _ in range(int(seconds / PERIOD)):
            self.arm.step(PERIOD)
        assert np.array_equal(self.arm.q, q) and self.arm.width == width

    def safe_state(self, report):
        size = self.world.scene.require_nut().across_flats
        return safe_state(self.chain.fk(self.arm.q), report, size)


@pytest.fixture
def bench(nut_plan):
    return Bench(nut_plan)


@pytest.mark.parametrize("share", sampled([0.02, 0.5, 0.85], 0.5))
def test_run_canceled_in_any_step_holds_and_can_be_resumed(bench, reference, share):
    """Every step of one transfer is canceled; each time a new engine resumes it."""
    seen = set()
    for k, step in enumerate(bench.plan.steps):
        engine = bench.engine(first=k)
        if step.duration > SHORT:
            bench.run(
                engine, lambda k=k: bench.feedback.step == k and bench.feedback.progress >= share
            )
            engine.cancel()
            bench.run(engine, lambda: False)
            assert engine.outcome.state is EngineState.CANCELED
            assert engine.outcome.message.endswith("the arm holds where it is")
            bench.check_at_rest()
            current, nut = bench.arm.configuration(), bench.world.report
            state = bench.safe_state(nut)
            planned = reference.moments(engine.outcome.steps_done, current)
            assert state in {bench.safe_state(moment) for moment in planned}, step.name
            assert reference.disagreement(engine.outcome.steps_done, current, nut) == ""
            seen.add(state)
            if engine.outcome.steps_done > k:
                continue
            engine = bench.engine(first=k)
        bench.run(engine, lambda k=k: bench.feedback is not None and bench.feedback.step > k)
        if not engine.state.done:
            engine.cancel()
            bench.run(engine, lambda: False)
    assert seen == set(SafeState)
    report = bench.world.report
    assert report.bolt == "lower_bolt" and report.turns_engaged > 4.0


def test_run_paused_in_any_step_completes(bench):
    engine = bench.engine()
    for k, step in enumerate(bench.plan.steps):
        if step.duration <= SHORT:
            continue
        bench.run(engine, lambda k=k: bench.feedback.step == k and bench.feedback.progress >= 0.4)
        assert engine.pause() == ""
        bench.run(engine, lambda: engine.state is EngineState.PAUSED)
        bench.check_at_rest()
        assert engine.tick() is EngineState.PAUSED
        assert engine.resume() == "", step.name
    bench.run(engine, lambda: False)
    assert engine.outcome.state is EngineState.SUCCEEDED
    assert bench.world.report.bolt == "lower_bolt"
    assert bench.world.report.turns_engaged == pytest.approx(4.33, abs=0.05)


def test_misplaced_nut_is_reported(reference, nut_plan, scene):
    k = next(s.index for s in nut_plan.steps if s.report.turns < -0.1)
    begin = nut_plan.steps[k]
    here = ArmConfiguration.of(nut_plan.joint_names, begin.start, begin.start_width)
    good = reference.nut(k, here)
    assert good.status is NutStatus.ON_BOLT_HELD
    world = NutWorld(scene)
    assert begin.label in reference.disagreement(k, here, world.report)
    message = reference.disagreement(k, here, reference.recording.nuts[-1])
    assert "needs the nut on upper_bolt by" in message and "it is on lower_bolt by 4.4" in message


def test_task_server_finds_this_reference_run(nut_plan):
    assert REFERENCE_RUNS.names == ("geometric",)
    assert REFERENCE_RUNS.load("geometric") == ReferenceRun.of


def test_world_begins_with_the_nut_where_a_task_expects_it(scene):
    begin, expected = NutWorld(scene).report, initial_nut(scene)
    np.testing.assert_array_equal(begin.pose, expected.pose)
    assert replace(begin, pose=None) == replace(expected, pose=None)
