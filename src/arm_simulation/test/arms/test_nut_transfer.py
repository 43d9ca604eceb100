# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The whole nut transfer in one process, judged by a world that does not know the task."""

import math
from dataclasses import replace

import numpy as np
import pytest
from arm_simulation.arms.ideal_arm import simulate
from arm_simulation.geometric.world import NutWorld
from arm_tasks.execution.engine import EngineState
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.nut_state import NutEvent, NutStatus
from arm_testing.arms.samples import sampled


@pytest.fixture
def transfer(plan_of):
    def run(world, task="nut_transfer", **options):
        plan = plan_of(task, **options)
        return plan, simulate(plan, NutWorld(world))

    return run


def is_transferred(run, turns=3.9):
    return run.nuts[-1].bolt == "lower_bolt" and run.nuts[-1].turns_engaged >= turns


@pytest.mark.parametrize("rate", [200.0, 50.0, 6.7])
def test_nut_ends_on_the_lower_bolt(scene, nut_plan, rate):
    run = simulate(nut_plan, NutWorld(scene), rate)
    assert run.outcome.state is EngineState.SUCCEEDED
    assert run.nuts[-1].status == NutStatus.ON_BOLT and is_transferred(run, 4.0)
    assert {NutEvent.CAME_FREE, NutEvent.CAUGHT} <= set(run.events)
    assert not {NutEvent.MISSED, NutEvent.SLIPPED, NutEvent.DROPPED} & set(run.events)


@pytest.mark.parametrize("start_deg", sampled(range(0, 360, 15), 45))
def test_transfer_works_for_any_thread_start(transfer, scene_with, start_deg):
    other = scene_with("lower_bolt", start=math.radians(start_deg))
    assert is_transferred(transfer(other, scene=other)[1])


@pytest.mark.parametrize("start_deg", sampled(range(135, 329, 15), 300))
def test_thread_holds_the_nut_firmly_at_its_first_release(transfer, scene_with, start_deg):
    other = scene_with("lower_bolt", start=math.radians(start_deg))
    plan, run = transfer(other, scene=other)
    assert not plan.warnings
    names = [plan.steps[i].name for i in run.steps]
    assert run.nuts[names.index("screw it on: open")].turns_engaged >= 1.25


def test_thread_that_catches_late_gives_a_warning(plan_of, scene_with):
    """No grip of the six flats lets it catch earlier."""
    plan = plan_of("nut_transfer", scene=scene_with("lower_bolt", start=0.0))
    sideways, late = plan.warnings
    assert "the jaws do not open upwards at the last grip" in sideways
    assert "may fall at the first regrasp, 60 deg after the thread catches" in late


def test_pull_from_more_thread_than_every_nut_leaves_gives_a_warning(plan_of, scene_with):
    """No grip with less thread left lets the next thread catch; 1.54 mm is the least that does."""
    plan = plan_of("nut_transfer", scene=scene_with("lower_bolt", start=math.radians(45.0)))
    deep, late = plan.warnings
    assert "pulled off with 1.21 turns left, 1.54 mm of thread" in deep
    assert "may fall at the first regrasp, 75 deg after the thread catches" in late


def test_jaws_that_open_on_little_thread_give_a_warning(plan_of, scene_with):
    plan = plan_of("nut_transfer", scene=scene_with("lower_bolt", start=math.radians(75.0)))
    (weak,) = plan.warnings
    assert "the jaws open with 1.04 turns left, 1.33 mm of thread" in weak


@pytest.mark.parametrize("seed", sampled(range(60), 7))
def test_nut_gripped_anew_on_a_pin_suits_any_two_thread_starts(transfer, scene_with, seed):
    over = load_scene("nut_over_pin", "nut_arm")
    upper, lower = np.random.default_rng(seed).uniform(0.0, 2.0 * math.pi, 2)
    other = scene_with("lower_bolt", scene_with("upper_bolt", over, start=upper), start=lower)
    plan, run = transfer(other, "nut_over_pin", scene=other)
    assert not plan.warnings and is_transferred(run, 4.0)
    assert plan.steps[run.steps[-1]].name == "go to rest"
    names = [plan.steps[i].name for i in run.steps]
    hanging = run.nuts[names.index("grip it anew: turn to other flats")]
    assert hanging.bolt == "pin" and hanging.status == NutStatus.ON_BOLT


def test_shipped_transfer_over_a_pin_collides_with_nothing(transfer):
    scene = load_scene("nut_over_pin", "nut_arm")
    plan, run = transfer(scene, "nut_over_pin", scene=scene, collisions=True)
    assert not plan.warnings and is_transferred(run, 4.0)


@pytest.mark.parametrize("seed", sampled(range(24), 0))
def test_transfer_works_between_any_two_thread_starts(transfer, scene_with, seed):
    upper, lower = np.random.default_rng(seed).uniform(0.0, 2.0 * math.pi, 2)
    other = scene_with("lower_bolt", scene_with("upper_bolt", start=upper), start=lower)
    assert is_transferred(transfer(other, scene=other)[1])


def test_transfer_works_with_left_handed_threads(transfer, scene_with):
    other = scene_with("upper_bolt", hand=-1, start=2 * math.pi * 4.378)
    other = scene_with("lower_bolt", other, hand=-1, start=math.radians(120))
    assert is_transferred(transfer(other, scene=other)[1])


def test_jaws_that_close_too_little_for_the_actual_nut_leave_it(transfer, scene):
    actual = replace(scene, nut=replace(scene.nut, across_flats=0.008))
    _, run = transfer(actual)
    assert run.outcome.state is EngineState.SUCCEEDED
    assert run.nuts[-1].bolt == "upper_bolt"
    assert run.nuts[-1].turns_engaged == pytest.approx(5.56 / 1.27)


@pytest.mark.parametrize(
    ("bolt", "axis", "off", "events"),
    [
        ("upper_bolt", 2, 0.008, {NutEvent.MISSED}),
        ("lower_bolt", 1, 0.003, {NutEvent.NOT_CAUGHT, NutEvent.PUSHED_OUT}),
    ],
)
def test_misplaced_bolt_is_missed(scene, nut_plan, bolt, axis, off, events):
    pushed = scene.bolt(bolt).pose.copy()
    pushed[:3, 3] += off * pushed[:3, axis]
    run = simulate(nut_plan, NutWorld(scene.with_bolt(bolt, pushed)))
    assert events & set(run.events)
    fell = run.nuts[-1].status == NutStatus.FALLEN
    assert fell == (bolt == "lower_bolt") and run.nuts[-1].bolt == ("" if fell else bolt)


def test_transfer_can_start_from_another_posture(transfer, scene):
    start = {"waist": 0.5, "shoulder": -1.0, "elbow": 1.2, "wrist_roll": 0.7, "left_finger": 0.0}
    assert is_transferred(transfer(scene, **start)[1])
