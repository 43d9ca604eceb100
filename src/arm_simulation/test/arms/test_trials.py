# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Trials of the transfer: errors of servos, equal results in all processes, what is a fault."""

import math
from dataclasses import replace

import numpy as np
import pytest
from arm_kinematics.dexterity import jobs as dexterity_jobs
from arm_simulation.arms.trials import (
    HOBBY,
    ONE_TICK,
    Noise,
    NoisyArm,
    TransferJob,
    deviation,
    displaced,
    run_job,
    run_trial,
    wilson_interval,
    zeros_after_touching,
)
from arm_simulation.contact.world import NutTruth
from arm_tasks.planning.collision.mujoco_library import has_mujoco
from arm_tasks.scene.nut_state import NutEvent, NutReport, NutStatus
from arm_tasks.task.parser import load_task
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_description import load_robot
from arm_kinematics import Chain
from arm_simulation import SimulationError


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (8, 10, 0.4902, 0.9433), (38, 40, 0.835, 0.986)],
)
def test_interval_is_that_of_wilson(successes, trials, low, high):
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-4)


def test_touching_finds_the_zeros(model):
    noise = replace(HOBBY, zero=math.radians(2.0))
    left = zeros_after_touching(model, noise, 3)
    assert np.abs(np.degrees(left[:3])).max() < 0.4  # the wrist's roll is not seen
    assert np.array_equal(left, zeros_after_touching(model, noise, 3))


@pytest.mark.thorough  # its arm compiles the threads
def test_simulation_that_fails_is_a_fault_of_its_trial(monkeypatch):
    def diverge(*_):
        raise SimulationError("the simulation diverged")

    pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")
    monkeypatch.setattr("arm_simulation.arms.trials.run_in_contact", diverge)
    done = run_job(TransferJob("nut_transfer", HOBBY, 0, contact=True))
    assert done.fault == "the simulation failed: the simulation diverged" and not done.joints


def report(status, bolt="", turns=0.0):
    held = status in (NutStatus.HELD, NutStatus.ON_BOLT_HELD)
    return NutReport(status, bolt, turns, held, np.eye(4), "", NutEvent.START)


ON = NutTruth(np.eye(4), "bolt", 2.0, 0.0, 0.0, 0.1, False)
HELD_ON = replace(ON, jaw_force=5.0)
HELD = NutTruth(np.eye(4), "", 0.0, 0.0, 5.0, 0.0, False)
LOST = NutTruth(np.eye(4), "", 0.0, 0.0, 0.0, 0.0, True)


@pytest.mark.parametrize(
    ("expected", "truth", "what"),
    [
        (report(NutStatus.ON_BOLT, "bolt", 1.5), ON, ""),
        (report(NutStatus.ON_BOLT_HELD, "bolt", 2.5), HELD_ON, ""),
        (report(NutStatus.HELD), HELD, ""),
        (report(NutStatus.ON_BOLT, "bolt", 1.5), LOST, "the nut fell"),
        (report(NutStatus.ON_BOLT_HELD, "bolt", 2.0), ON, "the jaws do not hold the nut"),
        (report(NutStatus.HELD), HELD_ON, "the nut is still on its bolt"),
        (report(NutStatus.ON_BOLT_HELD, "bolt", 3.5), HELD_ON, "the thread did not catch"),
        (report(NutStatus.ON_BOLT, "bolt", 3.5), ON, "the nut came off"),
    ],
)
def test_first_difference_from_the_expected_nut_is_the_fault(expected, truth, what):
    assert deviation(expected, truth) == what


@pytest.mark.thorough  # plans in each process
@pytest.mark.skipif(not has_mujoco(), reason="there is no MuJoCo for this Python or machine")
def test_equal_seeds_have_equal_trials_on_any_number_of_processes():
    jobs = [TransferJob("nut_transfer", HOBBY, s, contact=True, steps=6) for s in (1, 2, 1)]
    found = []
    for workers in (1, 2):
        with dexterity_jobs.executor(workers) as pool:
            found.append(dexterity_jobs.run_jobs(pool, run_job, jobs, "trials"))
    assert found[0] == found[1]
    first, other, again = found[0]
    assert first == again and first.joints != other.joints
    assert len(first.joints) == 6


CHAIN = Chain.from_model(load_robot("nut_arm"))
paths = st.lists(st.lists(st.floats(-1.5, 1.5), min_size=4, max_size=4), min_size=1, max_size=8)


def arm(noise, seed=0, **more):
    return NoisyArm(CHAIN, noise, np.random.default_rng(seed), **more)


@given(path=paths)
def test_arm_without_noise_follows_exactly(path):
    exact = arm(Noise())
    for q in np.array(path):
        assert np.array_equal(exact.joints(q), q)
        assert np.allclose(exact.tool(q), CHAIN.fk(q), atol=1e-15)
    assert exact.width(0.0105) == 0.0105


@settings(max_examples=50)
@given(path=paths, seed=st.integers(0, 99))
def test_errors_stay_within_the_bounds(path, seed):
    noisy = arm(HOBBY, seed)
    bound = HOBBY.zero + 0.5 * (HOBBY.dead_band + HOBBY.backlash + HOBBY.tick)
    for q in np.array(path):
        assert np.abs(noisy.joints(q) - q).max() <= bound + 1e-12
    assert abs(noisy.width(0.01) - 0.01) <= HOBBY.width


def test_play_absorbs_a_reversal_and_then_lags_by_half():
    play = math.radians(1.2)
    loose = arm(Noise(dead_band=math.radians(1.0), backlash=math.radians(0.2)))
    loose.joints(np.zeros(4))
    for target, q in ((0.5, 0.5 - play / 2), (0.49, 0.5 - play / 2), (0.4, 0.4 + play / 2)):
        assert loose.joints(np.full(4, target)) == pytest.approx(np.full(4, q))


def test_commands_are_rounded_to_whole_ticks():
    stepped = arm(Noise(tick=ONE_TICK))
    counts = stepped.joints(np.array([0.1, -0.2, 0.3, 1.0])) / ONE_TICK
    assert counts == pytest.approx(np.round(counts), abs=1e-9)
    assert math.degrees(ONE_TICK) == pytest.approx(0.44, abs=0.001)


def test_given_zeros_are_used_unchanged():
    zeros = np.array([0.01, -0.02, 0.03, 0.0])
    off = arm(replace(HOBBY, dead_band=0, backlash=0, tick=0), zeros=zeros)
    assert off.joints(np.zeros(4)) == pytest.approx(zeros)


def test_bolt_errors_are_bounded_and_repeatable(scene):
    first, again, other = (displaced(scene, HOBBY, np.random.default_rng(s)) for s in (1, 1, 2))
    for name, bolt in scene.bolts.items():
        moved = np.linalg.inv(bolt.pose) @ first.bolt(name).pose
        assert np.abs(moved[:3, 3]).max() <= HOBBY.bolt
        assert math.acos(moved[2, 2]) <= math.sqrt(2.0) * HOBBY.bolt_tilt
        assert np.array_equal(first.bolt(name).pose, again.bolt(name).pose)
        assert not np.array_equal(first.bolt(name).pose, other.bolt(name).pose)


def test_trial_succeeds_without_noise_and_names_the_fault_otherwise(scene, chain, nut_plan):
    expected = load_task("nut_transfer").expect
    good = run_trial(nut_plan, expected, Noise(), 0)
    assert good.fault == "" and good.turns >= 4.0
    zeros = np.array([math.radians(8.0), 0.0, 0.0, 0.0])
    bad = run_trial(nut_plan, expected, Noise(), 0, zeros)
    assert bad.fault == "jaws missed the nut" and bad.turns == 0.0
    assert bad == run_trial(nut_plan, expected, Noise(), 0, zeros)


EXPECTED = load_task("nut_transfer").expect


@pytest.mark.parametrize("seed", [1, 2, 3])  # nine of ten succeed
def test_transfer_succeeds_with_hobby_servos(scene, chain, nut_plan, seed):
    trial = run_trial(nut_plan, EXPECTED, HOBBY, seed)
    assert (trial.fault, trial.turns >= 3.0) == ("", True)


def test_transfer_fails_without_search_and_play_compensation(plan_of):
    task = load_task("nut_transfer")
    exact = {"press": 0.3e-3, "search": 0.0, "play": 0.0}
    screwing = ("unscrew", "screw_on")
    steps = [replace(s, **exact) if s.kind in screwing else s for s in task.steps]
    plan = plan_of(replace(task, steps=tuple(steps)))
    noise = Noise(tick=ONE_TICK, dead_band=math.radians(1.0))
    assert run_trial(plan, EXPECTED, noise, 0).fault


@pytest.mark.parametrize("play_deg", [0.2, 0.65, 1.2, 1.7])
def test_joints_stop_in_the_middle_of_any_play_in_front_of_the_bolt(nut_plan, chain, play_deg):
    names = [step.name for step in nut_plan.steps]
    front = names.index("screw it on: move in front of the bolt")
    play = math.radians(play_deg)
    arm = NoisyArm(chain, Noise(dead_band=play), np.random.default_rng(0))
    for step in nut_plan.steps[front : front + 2]:
        for q in step.trajectory.positions:
            joints = arm.joints(q)
    assert np.abs(joints - q).max() < math.radians(0.1)
    arm.joints(step.trajectory.positions[0] - play)
    assert np.abs(arm.joints(q) - q).max() == pytest.approx(play / 2.0)  # without the swings
