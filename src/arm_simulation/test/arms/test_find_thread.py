# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A nut that clicks as it is turned back tells where a thread starts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from arm_common.transforms import wrap
from arm_simulation.arms.ideal_arm import simulate
from arm_simulation.geometric.world import NutWorld
from arm_tasks.errors import TaskFileError
from arm_tasks.scene.nut_state import NutEvent, NutStatus
from arm_tasks.task.parser import task_from_text
from arm_testing.arms.plans import MEASURE
from arm_testing.arms.samples import sampled


@pytest.mark.parametrize("hand", sampled((1, -1), 1))
def test_click_of_a_nut_turned_back_tells_where_the_thread_starts(plan_of, chain, scene, hand):
    bolts = {name: replace(bolt, hand=hand) for name, bolt in scene.bolts.items()}
    other = replace(scene, bolts=bolts, nut=replace(scene.nut, turns=0.4))
    task = task_from_text(MEASURE)
    with pytest.raises(TaskFileError, match="the nut is on upper_bolt at this step, not in the"):
        plan_of(replace(task, steps=task.steps[-1:]))
    plan = plan_of(task, scene=other, collisions=False)
    (back,) = (step for step in plan.steps if step.thread)
    assert plan.steps[-1].name == "find_thread: retreat" and back.report.turns == 0.0
    assert np.abs(back.trajectory.velocities).max() < math.radians(4.1)
    for share in (0.2, 0.8):
        start = back.thread.start(chain.fk(back.trajectory.at(share * back.duration)))
        bolt = replace(other.bolt("lower_bolt"), start=start)
        world, told = NutWorld(replace(other, bolts={**bolts, "lower_bolt": bolt})), []

        def person(engine, arm, told=told):
            if arm.world.report.event is NutEvent.CLICKED and not told:
                told.append(back.thread.start(arm.chain.fk(arm.q)))

        run = simulate(plan, world, 20.0, on_update=person)
        clicked = next(k for k, nut in enumerate(run.nuts) if nut.event is NutEvent.CLICKED)
        assert run.steps[clicked] == back.index and run.nuts[-1].status is NutStatus.HELD
        assert math.degrees(abs(wrap(told[0] - start))) < 0.5
    deep = replace(back.thread, depth=other.bolt("lower_bolt").pitch / 4.0)
    moved = wrap(deep.start(np.eye(4)) - back.thread.start(np.eye(4)))
    assert moved == pytest.approx(-hand * math.pi / 2.0)
