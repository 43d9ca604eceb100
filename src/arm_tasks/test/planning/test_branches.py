# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Branching tasks: every branch is planned, and the run takes the one that it observes."""

from itertools import groupby

import numpy as np
import pytest
from arm_tasks.errors import TaskFileError
from arm_tasks.execution.engine import Engine, EngineState
from arm_tasks.world.ideal_arm import IdealArm, simulate
from arm_tasks.world.nut_world import NutWorld


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


def test_branches_that_end_in_the_same_state_are_merged(plan_of):
    def names(*steps):
        then = ", ".join(f"{{{step}}}" for step in steps)
        plan = plan_of([f"if: {{when: {{nut_fallen: true}}, then: [{then}]}}", "wait: 1"])
        return [step.name for step in plan.steps]

    assert names(swing("there", 20), swing("back", 0)) == ["if", "there", "back", "wait"]
    assert names(swing("a", 20)) == ["if", "a", "wait [branch 1 of 2]", "wait [branch 2 of 2]"]


def test_infeasible_branch_is_refused(plan_of):
    steps = [f"if: {{when: {{nut_fallen: true}}, then: [{{{swing('far', 170)}}}]}}"]
    plan = plan_of(steps, refused=True)
    assert "far: joint waist is 80.0 deg beyond its limit" in plan.message


def test_fallen_nut_is_unknown_until_a_person_puts_it_back(plan_of):
    fallen = "if: {when: {nut_fallen: true}, then: [%s]}"
    with pytest.raises(TaskFileError, match="position of the nut is unknown at this step"):
        plan_of(["open: {width_mm: 20}", fallen % "{unscrew: upper_bolt}"])
    back = "{pause_for_person: {say: put it back, nut_back: true}}, {unscrew: upper_bolt}"
    plan = plan_of(["open: {width_mm: 20}", fallen % back])
    assert any(step.kind == "pause" for step in plan.steps)


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


def test_estimated_duration_is_that_of_the_longest_branch(plan_of):
    either = "if: {when: {nut_held: true}, then: [{wait: 5}], else: [{wait: 2}]}"
    plan = plan_of([either, "wait: 1"])
    assert plan.duration == pytest.approx(6.0)


def test_too_many_states_are_rejected_with_a_remedy(plan_of, chain):
    when = "if: {when: {nut_fallen: true}, then: [%s]}"
    joints = [f"{{move_joints: {{joints_deg: {{{joint}: 5}}}}}}" for joint in chain.joint_names]
    steps = [when % step for step in (*joints, "{open: {width_mm: 9}}")]
    assert plan_of(steps[:4]).feasible
    with pytest.raises(TaskFileError, match="let the branches end in the same posture"):
        plan_of(steps)


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


def waiting(failing, **keys):
    more = "".join(f", {key}: {value}" for key, value in keys.items())
    until = f"topic: t, field: data, above: 0, timeout: 1{more}"
    return f"wait_until: {{{until}, on_failure: [{failing}]}}"


def test_steps_after_a_failed_wait_are_planned_beside_the_others(plan_of, scene):
    plan = plan_of([waiting(f"{{{swing('aside', 20)}}}"), swing("away", -20), "wait: 1"])
    wait, aside, *others = plan.steps
    assert (wait.otherwise, wait.following) == (1, 2)
    assert [step.name.split(" [")[0] for step in others] == ["away", "away", "wait", "wait"]
    assert aside.following == 3 and others[1].start[0] == aside.end[0]
    names, run = run_names(plan, scene)
    assert run.outcome.state is EngineState.SUCCEEDED
    assert [name.split(" [")[0] for name in names] == ["wait_until", "away", "wait"]


def test_wait_that_fails_last_may_end_the_task(plan_of):
    plan = plan_of([waiting("{wait: 1}")])
    assert (plan.steps[0].following, plan.steps[0].otherwise, len(plan.steps)) == (2, 1, 2)
    assert plan.duration == 1.0


def test_infeasible_step_after_a_failed_wait_is_refused(plan_of):
    plan = plan_of([waiting(f"{{{swing('far', 170)}}}")], refused=True)
    assert "far: joint waist is 80.0 deg beyond its limit" in plan.message


def test_nut_that_is_screwed_after_a_failed_wait_is_gripped_for_it(plan_of):
    on = "{screw_on: {bolt: lower_bolt, turns: 4}}"
    plan_of(["open: {width_mm: 20}", "unscrew: upper_bolt", waiting(on)])
