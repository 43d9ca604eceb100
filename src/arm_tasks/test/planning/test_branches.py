# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Branching tasks: every branch is planned; equal states are merged."""

import pytest
from arm_tasks.errors import TaskFileError


def swing(name, deg):
    return f"move_joints: {{name: {name}, joints_deg: {{waist: {deg}}}}}"


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


def waiting(failing, **keys):
    more = "".join(f", {key}: {value}" for key, value in keys.items())
    until = f"topic: t, field: data, above: 0, timeout: 1{more}"
    return f"wait_until: {{{until}, on_failure: [{failing}]}}"


def test_steps_after_a_failed_wait_are_planned_beside_the_others(plan_of):
    plan = plan_of([waiting(f"{{{swing('aside', 20)}}}"), swing("away", -20), "wait: 1"])
    wait, aside, *others = plan.steps
    assert (wait.otherwise, wait.following) == (1, 2)
    assert [step.name.split(" [")[0] for step in others] == ["away", "away", "wait", "wait"]
    assert aside.following == 3 and others[1].start[0] == aside.end[0]


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
