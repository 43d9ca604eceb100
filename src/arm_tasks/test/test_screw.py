# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The screw primitive for arms that are not exact, and for arms of other kinds."""

import math
from dataclasses import replace

import numpy as np
import pytest
from arm_common.transforms import frame_along, pose, tilt_z
from arm_tasks.planning.planner import plan_task
from arm_tasks.planning.screwing.planner import Spiral
from arm_tasks.simulation.noisy_arm import HOBBY, ONE_TICK, Noise, run_trial
from arm_tasks.task.parser import load_task, task_from_text
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from hypothesis import given, settings
from hypothesis import strategies as st

EXPECTED = load_task("nut_transfer").expect


def transfer(*kinds, **keys):
    """The shipped task, with other keys of its steps of some kinds."""
    task = load_task("nut_transfer")
    steps = tuple(replace(step, **keys) if step.kind in kinds else step for step in task.steps)
    return replace(task, steps=steps)


@pytest.mark.parametrize("seed", range(4))
def test_servos_with_ticks_a_degree_of_dead_band_and_half_a_degree_off_succeed(
    scene, chain, nut_plan, seed
):
    trial = run_trial(nut_plan, EXPECTED, HOBBY, seed)
    assert (trial.fault, trial.turns >= 3.0) == ("", True)


def test_without_looking_for_the_tip_and_taking_up_play_they_fail(request_for):
    task = transfer("unscrew", "screw_on", press=0.3e-3, search=0.0, play=0.0)
    plan = plan_task(request_for(task), False)
    noise = Noise(tick=ONE_TICK, dead_band=math.radians(1.0))
    assert run_trial(plan, EXPECTED, noise, 0).fault


@settings(max_examples=25, deadline=None)
@given(radius=st.floats(0.5e-3, 6e-3), roll=st.floats(-2.0, 2.0), share=st.floats(0.01, 0.99))
def test_the_rings_stay_within_their_radius_and_their_rate_is_their_derivative(
    radius, roll, share
):
    rings = Spiral(pose(frame_along(np.array([1.0, 0.3, 0.1])), (0.2, 0.0, 0.1)), radius, roll)
    from_middle = np.linalg.inv(rings.start) @ rings.pose(share)
    assert np.hypot(*from_middle[:2, 3]) <= radius + 1e-12
    assert abs(from_middle[2, 3]) < 1e-12
    for end in (0.0, 1.0):
        assert rings.pose(end)[:3, 3] == pytest.approx(rings.start[:3, 3], abs=1e-12)
    step = 1e-7
    slope = (rings.pose(share + step) - rings.pose(share - step))[:3, 3] / (2 * step)
    corner = abs(share * (rings.rings + 0.25) - 0.25) < 1e-3
    corner |= abs(share * (rings.rings + 0.25) - 1.25) < 1e-3
    assert corner or rings.velocity(share)[:3] == pytest.approx(slope, rel=1e-3, abs=1e-5)


def test_no_place_within_the_radius_is_farther_from_the_rings_than_a_mouth_is_wide(scene):
    rings = Spiral(np.eye(4), 3.2e-3, 0.0)
    way = np.array([rings.pose(s)[:2, 3] for s in np.linspace(0.0, 1.0, 2000)])
    for x in np.linspace(-3.2e-3, 3.2e-3, 15):
        for y in np.linspace(-3.2e-3, 3.2e-3, 15):
            if math.hypot(x, y) <= 3.2e-3:
                assert np.linalg.norm(way - [x, y], axis=1).min() < 1.1e-3


def test_the_tool_stands_straight_where_the_thread_starts(scene, chain, nut_plan):
    step = next(s for s in nut_plan.steps if "catches" in s.name)
    to_bolt = np.linalg.inv(scene.bolt("lower_bolt").pose)
    for q in step.trajectory.positions:
        assert tilt_z((to_bolt @ chain.fk(q))[:3, :3]) <= math.radians(3.0) + 1e-6


def test_it_refuses_to_start_a_thread_askew(request_for, scene):
    """12 mm higher the arm comes with its tool tilted; while turning it may, at the start not."""
    up = scene.bolt("lower_bolt").pose.copy()
    up[2, 3] += 0.012
    moved = scene.with_bolt("lower_bolt", up)
    tolerance = next(s for s in transfer().steps if s.kind == "screw_on").tolerance
    task = transfer("screw_on", tolerance=replace(tolerance, tilt=math.radians(12.0)))
    plan = plan_task(request_for(task, scene=moved), False)
    assert not plan.feasible
    assert "turn until the thread catches" in plan.message
    assert "where 3.43 deg are allowed" in plan.message


@pytest.mark.parametrize("part", ["turn 5 of 9", "look for the tip", "turn back 3"])
def test_from_the_midst_of_a_turn_there_is_a_way_back(scene, model, chain, nut_plan, part):
    """Canceled there, the jaws are about the bolt: straight off it first, then to rest."""
    for step in (s for s in nut_plan.steps if part in s.name and s.trajectory):
        q = step.trajectory.at(0.5 * step.duration)
        start = dict(zip(chain.joint_names, q, strict=True))
        home = task_from_text("task: home\nsteps:\n  - move_posture: rest\n")
        plan = plan_task(
            TaskRequest(home, scene, model, chain, ArmConfiguration(start, step.start_width))
        )
        assert plan.feasible, plan.message
