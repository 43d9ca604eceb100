# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The nut transfer interrupted in every step, in simulated time: it holds, and goes on."""

from functools import partial

import numpy as np
import pytest
from arm_tasks.execution.engine import Engine, EngineState
from arm_tasks.scene.nut_state import NutStatus
from arm_tasks.task.request import ArmConfiguration
from arm_tasks.world.ideal_arm import IdealArm
from arm_tasks.world.nut_world import NutWorld
from arm_tasks.world.reference_run import ReferenceRun, SafeState, safe_state

PERIOD = 0.03
SHORT = 0.3  # s; a step that is over within some periods cannot be met on its way


@pytest.fixture(scope="module")
def foreseen(nut_plan):
    return ReferenceRun.of(nut_plan)


class Bench:
    """An arm with its world on a manual clock, and engines that run a plan on it."""

    def __init__(self, plan):
        self.plan, self.chain = plan, plan.request.chain
        self.world = NutWorld(plan.request.scene)
        self.arm = IdealArm(self.chain, self.world, plan.start, plan.request.start.width)
        self.told = None

    def engine(self, first=0):
        keep = partial(setattr, self, "told")
        return Engine(self.plan, self.arm, first, lambda: self.arm.time, keep)

    def run(self, engine, until):
        end = self.arm.time + 1000.0
        while not engine.tick().done and not until():
            self.arm.step(PERIOD)
            assert self.arm.time < end

    def stand_still(self, seconds=2.0):
        """Let time pass; the arm must not move."""
        q, width = self.arm.q.copy(), self.arm.width
        for _ in range(int(seconds / PERIOD)):
            self.arm.step(PERIOD)
        assert np.array_equal(self.arm.q, q) and self.arm.width == width

    def safe_state(self, report):
        size = self.world.scene.the_nut().across_flats
        return safe_state(self.chain.fk(self.arm.q), report, size)


@pytest.fixture
def bench(nut_plan):
    return Bench(nut_plan)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.85])
def test_canceled_in_every_step_it_holds_in_a_named_state_and_a_new_run_goes_on(
    bench, foreseen, share
):
    """Every step of one transfer is canceled on its way; each time a new engine goes on there."""
    seen = set()
    for k, step in enumerate(bench.plan.steps):
        engine = bench.engine(first=k)
        if step.duration > SHORT:
            bench.run(engine, lambda k=k: bench.told.step == k and bench.told.progress >= share)
            engine.cancel()
            bench.run(engine, lambda: False)
            assert engine.outcome.state is EngineState.CANCELED
            assert engine.outcome.message.endswith("the arm holds where it is")
            bench.stand_still()
            where, nut = bench.arm.configuration(), bench.world.report
            state = bench.safe_state(nut)
            planned = foreseen.moments(engine.outcome.steps_done, where)
            assert state in {bench.safe_state(moment) for moment in planned}, step.name
            assert foreseen.disagreement(engine.outcome.steps_done, where, nut) == ""
            seen.add(state)
            if engine.outcome.steps_done > k:
                continue
            engine = bench.engine(first=k)
        bench.run(engine, lambda k=k: bench.told is not None and bench.told.step > k)
        if not engine.state.done:
            engine.cancel()
            bench.run(engine, lambda: False)
    assert seen == set(SafeState)
    report = bench.world.report
    assert report.bolt == "lower_bolt" and report.turns_engaged > 4.0


def test_paused_in_every_step_it_goes_on_as_if_nothing_had_been(bench):
    engine = bench.engine()
    for k, step in enumerate(bench.plan.steps):
        if step.duration <= SHORT:
            continue
        bench.run(engine, lambda k=k: bench.told.step == k and bench.told.progress >= 0.4)
        assert engine.pause() == ""
        bench.run(engine, lambda: engine.state is EngineState.PAUSED)
        bench.stand_still()
        assert engine.tick() is EngineState.PAUSED
        assert engine.resume() == "", step.name
    bench.run(engine, lambda: False)
    assert engine.outcome.state is EngineState.SUCCEEDED
    assert bench.world.report.bolt == "lower_bolt"
    assert bench.world.report.turns_engaged == pytest.approx(4.33, abs=0.05)


def test_a_nut_that_is_elsewhere_is_said(foreseen, nut_plan, scene):
    k = next(s.index for s in nut_plan.steps if s.turns < -0.1)
    begin = nut_plan.steps[k]
    here = ArmConfiguration.of(nut_plan.joint_names, begin.start, begin.start_width)
    good = foreseen.nut(k, here)
    assert good.status is NutStatus.ON_BOLT_HELD
    world = NutWorld(scene)
    assert f"step {k} " in foreseen.disagreement(k, here, world.report)
    said = foreseen.disagreement(k, here, foreseen.recording.nuts[-1])
    assert "needs the nut on upper_bolt by" in said and "it is on lower_bolt by 4.3" in said
