# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A run of a branching task takes the branch that it observes."""

from itertools import groupby

import numpy as np
import pytest
from arm_simulation.arms.ideal_arm import IdealArm, simulate
from arm_simulation.geometric.world import NutWorld
from arm_tasks.execution.engine import Engine, EngineState


def run_names(plan, scene):
    run = simulate(plan, NutWorld(scene))
    return [name for name, _ in groupby(plan.steps[index].name for index in run.steps)], run


def swing(name, deg):
    return f"move_joints: {{name: {name}, joints_deg: {{waist: {deg}}}}}"


def test_both_branches_are_planned_and_one_is_run(plan_of, scene):
    ways = f"then: [{{{swing('wide', 20)}}}], else: [{{{swing('narrow', -20)}}}]"
    both = f"if: {{when: {{gripper_above_mm: 10}}, {ways}}}"
    for width, taken in ((0.02, "wide"), (0.0, "narrow")):
        plan = plan_of([both, "wait: {name: after, seconds: 1}"], width=width)
        names, run = run_names(plan, scene)
        assert run.outcome.state is EngineState.SUCCEEDED
        assert [n.split(" [")[0] for n in names if n != "if"] == [taken, "after"]
        assert len(run.outcome.durations) == len(plan.steps)
        assert sum(d > 0.5 for d in run.outcome.durations) >= 1


@pytest.mark.parametrize(
    ("above", "width", "rounds", "message"),
    [
        (10, 0.02, 0, "all steps"),
        (10, 0.0, 1, "all steps"),
        (25, 0.0, None, "it does not hold that the jaws are wider than 25 mm"),
    ],
)
def test_until_repeats_until_its_condition_holds_or_fails(
    plan_of, scene, above, width, rounds, message
):
    until = f"when: {{gripper_above_mm: {above}}}, at_most: 3, steps: [{{open: {{width_mm: 20}}}}]"
    plan = plan_of([f"until: {{{until}}}", "wait: 0.2"], width=width)
    names, run = run_names(plan, scene)
    assert rounds in (None, sum(n.startswith("open") for n in names))
    assert message in run.outcome.message


def test_branch_fails_if_the_nut_is_not_observed(plan_of, chain, scene):
    plan = plan_of(["if: {when: {nut_on: upper_bolt}, then: [{wait: 1}]}"])
    arm = IdealArm(chain, NutWorld(scene), plan.start, 0.0)
    engine = Engine(plan, arm, clock=lambda: arm.time, observe=lambda when, since: None)
    while engine.tick() is EngineState.RUNNING and arm.time < 60.0:
        arm.step(0.1)
    assert engine.outcome.state is EngineState.FAILED
    assert "the position of the nut is unknown" in engine.outcome.message


def test_task_branches_on_whether_the_nut_came_off(plan_of, scene):
    plan = plan_of("""
task: careful
defaults: {speed: 0.8, tilt_deg: 8}
steps:
  - move_posture: ready
  - open: {width_mm: 20}
  - unscrew: upper_bolt
  - if: {when: {nut_held: true}, then: [{wait: {name: held, seconds: 1}}]}
  - if: {when: {nut_on: upper_bolt, turns: 4}, then: [{wait: {name: left, seconds: 1}}]}
  - until: {when: {nut_held: true}, at_most: 1, steps: [{wait: 1}]}
""")
    names, run = run_names(plan, scene)
    assert run.outcome.state is EngineState.SUCCEEDED and names.count("held") == 1
    assert "left" not in names
    pushed = np.array(scene.bolt("upper_bolt").pose)
    pushed[:3, 3] += 0.008 * pushed[:3, 2]
    names, missed = run_names(plan, scene.with_bolt("upper_bolt", pushed))
    assert missed.outcome.state is EngineState.FAILED and "left" in names
    assert "does not hold that the nut is held" in missed.outcome.message


def test_steps_after_a_failed_wait_are_left_out_of_a_run_without_failures(plan_of, scene):
    until = "topic: t, field: data, above: 0, timeout: 1"
    wait = f"wait_until: {{{until}, on_failure: [{{{swing('aside', 20)}}}]}}"
    names, run = run_names(plan_of([wait, swing("away", -20), "wait: 1"]), scene)
    assert run.outcome.state is EngineState.SUCCEEDED
    assert [name.split(" [")[0] for name in names] == ["wait_until", "away", "wait"]
