# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The whole nut transfer in one process: planned, run, judged by a world that knows no task."""

import math
from dataclasses import replace

import numpy as np
import pytest
from arm_common.transforms import pose
from arm_tasks.execution.outcome import EngineState
from arm_tasks.planning.planner import plan_task
from arm_tasks.scene.nut_state import NutEvent, NutStatus
from arm_tasks.simulation.noisy_arm import ONE_TICK, Noise, NoisyArm
from arm_tasks.task.parser import load_task
from arm_tasks.world.ideal_arm import simulate
from arm_tasks.world.nut_world import NutWorld

from arm_description import load_robot
from arm_kinematics import Chain


def planned(request_for, task="nut_transfer", **options):
    """Plan without collisions, which other tests check."""
    plan = plan_task(request_for(task, **options), collisions=False)
    assert plan.feasible, plan.message
    return plan


@pytest.mark.parametrize("rate", [200.0, 50.0, 6.7])
def test_the_nut_ends_on_the_lower_bolt(scene, chain, nut_plan, rate):
    run = simulate(nut_plan, NutWorld(scene), rate)
    assert run.outcome.state is EngineState.SUCCEEDED
    nut = run.nuts[-1]
    assert (nut.status, nut.bolt) == (NutStatus.ON_BOLT, "lower_bolt")
    assert nut.turns_engaged >= 4.0
    assert {NutEvent.CAME_FREE, NutEvent.CAUGHT} <= set(run.events)
    assert not {NutEvent.MISSED, NutEvent.SLIPPED, NutEvent.DROPPED} & set(run.events)


@pytest.mark.parametrize("start_deg", [-170, -120, -60, 150])
def test_it_works_wherever_the_plan_says_that_the_thread_can_catch(request_for, scene, start_deg):
    bolt = replace(scene.bolt("lower_bolt"), start=math.radians(start_deg))
    other = replace(scene, bolts={**scene.bolts, "lower_bolt": bolt})
    run = simulate(planned(request_for, scene=other), NutWorld(other))
    assert run.nuts[-1].bolt == "lower_bolt"
    assert run.nuts[-1].turns_engaged >= 3.9


def test_the_steps_of_a_servo_board_do_not_matter(scene, chain, nut_plan):
    """500 to 2500 us over half a turn in counts of 4.88 us: 0.44 degrees a count."""
    board = NoisyArm(chain, Noise(tick=ONE_TICK), np.random.default_rng(0))
    run = simulate(nut_plan, NutWorld(scene), servos=board)
    assert run.nuts[-1].bolt == "lower_bolt"
    assert run.nuts[-1].turns_engaged >= 4.0


def test_left_handed_threads_are_turned_the_other_way(request_for, scene):
    bolts = {
        "upper_bolt": replace(scene.bolt("upper_bolt"), hand=-1, start=2 * math.pi * 4.378),
        "lower_bolt": replace(scene.bolt("lower_bolt"), hand=-1, start=math.radians(120)),
    }
    other = replace(scene, bolts=bolts)
    run = simulate(planned(request_for, scene=other), NutWorld(other))
    assert run.nuts[-1].bolt == "lower_bolt"
    assert run.nuts[-1].turns_engaged >= 3.9


def test_jaws_that_never_close_leave_the_nut_where_it_is(request_for, scene):
    task = load_task("nut_transfer")
    wide = tuple(
        replace(step, grip_width=0.0125) if step.kind == "unscrew" else step for step in task.steps
    )
    plan = plan_task(request_for(replace(task, steps=wide)))
    run = simulate(plan, NutWorld(scene))
    assert run.outcome.state is EngineState.SUCCEEDED
    assert run.nuts[-1].bolt == "upper_bolt"
    assert run.nuts[-1].turns_engaged == pytest.approx(5.56 / 1.27)


def test_a_nut_that_is_not_where_the_scene_says_is_missed(scene, chain, nut_plan):
    pushed = scene.bolt("upper_bolt").pose.copy()
    pushed[:3, 3] += 0.008 * pushed[:3, 2]
    run = simulate(nut_plan, NutWorld(scene.with_bolt("upper_bolt", pushed)))
    assert run.nuts[-1].bolt == "upper_bolt"
    assert NutEvent.MISSED in run.events


def test_a_lower_bolt_that_is_not_where_the_scene_says_lets_the_nut_fall(scene, chain, nut_plan):
    aside = scene.bolt("lower_bolt").pose.copy()
    aside[:3, 3] += 0.003 * aside[:3, 1]
    run = simulate(nut_plan, NutWorld(scene.with_bolt("lower_bolt", aside)))
    assert run.nuts[-1].status == NutStatus.FALLEN
    assert {NutEvent.NOT_CAUGHT, NutEvent.PUSHED_OUT} & set(run.events)


def test_turning_the_wrong_way_tightens(request_for, scene):
    text = """
task: wrong
steps:
  - move_pose: {frame: upper_bolt, xyz_mm: [0, 0, -20], roll_deg: -90}
  - open
  - move_linear: {frame: upper_bolt, xyz_mm: [0, 0, 2.78], roll_deg: -90}
  - grip: {width_mm: 10.5}
  - turn: {angle_deg: 180, advance_mm: 0.635}
"""
    run = simulate(planned(request_for, text), NutWorld(scene))
    thread = scene.bolt("upper_bolt")
    to_bolt = np.linalg.inv(scene.frame("upper_bolt"))
    depth = (to_bolt @ run.nuts[-1].pose)[2, 3] + 0.00278
    assert depth == pytest.approx(thread.depth(4.378 + 0.5), abs=2e-5)


def test_opened_on_the_way_the_nut_falls(request_for, scene):
    text = """
task: drop
steps:
  - unscrew: upper_bolt
  - move_posture: ready
  - open
  - move_posture: rest
"""
    run = simulate(planned(request_for, text), NutWorld(scene))
    assert run.nuts[-1].status == NutStatus.FALLEN
    assert "let go with no thread engaged" in run.nuts[-1].message
    assert run.nuts[-1].pose[2, 3] == pytest.approx(0.00278)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.4, 0.5, 0.52, 0.75])
def test_canceled_anywhere_the_arm_holds_and_the_nut_is_somewhere(scene, chain, nut_plan, share):
    plan = nut_plan
    world = NutWorld(scene)
    at = share * plan.duration

    def interfere(engine, arm):
        if arm.time >= at:
            engine.cancel()

    run = simulate(plan, world, on_update=interfere)
    assert run.outcome.state is EngineState.CANCELED
    assert run.outcome.steps_done < len(plan.steps)
    nut = run.nuts[-1]
    assert nut.status != NutStatus.FALLEN
    again = world.update(chain.fk(run.joints[-1]), run.widths[-1])
    assert np.array_equal(again.pose, nut.pose)
    started = plan.steps[run.outcome.steps_done]
    if started.trajectory is not None:
        ends = np.sort([started.start, started.end], axis=0)
        assert (run.joints[-1] >= chain.lower - 1e-9).all()
        assert (run.joints[-1] <= chain.upper + 1e-9).all()
        assert run.joints[-1][3] == pytest.approx(np.clip(run.joints[-1][3], *ends[:, 3]))


def test_it_can_start_from_another_posture(request_for, scene):
    start = {"waist": 0.5, "shoulder": -1.0, "elbow": 1.2, "wrist_roll": 0.7, "left_finger": 0.0}
    run = simulate(planned(request_for, **start), NutWorld(scene), 20.0)
    assert run.nuts[-1].bolt == "lower_bolt"


def test_another_arm_does_the_same_task(request_for, scene, model):
    """Six axes and more than a full turn of the wrist: fewer regrasps, no tilt, same task."""
    puma = load_robot("puma560")
    ready = {"waist": 0.0, "shoulder": -0.5, "elbow": 0.0, "wrist_bend": 0.5}
    start = {**dict.fromkeys(puma.joint_names, 0.0), **ready}
    arm = replace(puma, gripper=model.gripper, postures={"ready": start, "rest": start})
    for name, y in (("upper_bolt", 0.0), ("lower_bolt", -0.2)):
        R = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
        scene = scene.with_bolt(name, pose(R, (0.70, y, 0.80)))
    chain = Chain.from_model(arm)
    # where this hand is put on, it stands in the wrist: nobody would build it so
    run_plan = planned(request_for, scene=scene, model=arm, chain=chain, **start)
    strokes = [s for s in run_plan.steps if s.turns]
    assert len(strokes) < 12
    assert run_plan.worst_orientation_error < math.radians(0.1)
    run = simulate(run_plan, NutWorld(scene))
    assert run.nuts[-1].bolt == "lower_bolt", run.events
    assert run.nuts[-1].turns_engaged >= 3.9
