# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Trials of the transfer: repeatable on any number of processes, and what counts as a fault."""

import math
from dataclasses import replace

import numpy as np
import pytest
from arm_simulation.arms.noisy_arm import HOBBY
from arm_simulation.contact.world import NutTruth
from arm_simulation.errors import SimulationError
from arm_simulation.runs.trials import (
    TransferJob,
    deviation,
    run_job,
    wilson_interval,
    zeros_after_touching,
)
from arm_tasks.planning.collision.mujoco_library import has_mujoco
from arm_tasks.scene.nut_state import NutEvent, NutReport, NutStatus

from arm_common import cli


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (8, 10, 0.4902, 0.9433), (38, 40, 0.835, 0.986)],
)
def test_interval_is_that_of_wilson(successes, trials, low, high):
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-4)


def test_touching_finds_the_zeros(model):
    noise = HOBBY.but(zero=math.radians(2.0))
    left = zeros_after_touching(model, noise, 3)
    assert np.abs(np.degrees(left[:3])).max() < 0.4  # the wrist's roll is not seen
    assert np.array_equal(left, zeros_after_touching(model, noise, 3))


@pytest.mark.thorough  # its arm compiles the threads
def test_simulation_that_fails_is_a_fault_of_its_trial(monkeypatch):
    def diverge(*_):
        raise SimulationError("the simulation diverged")

    pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")
    monkeypatch.setattr("arm_simulation.runs.trials.run_in_contact", diverge)
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
        with cli.executor(workers) as pool:
            found.append(cli.run_jobs(pool, run_job, jobs, "trials"))
    assert found[0] == found[1]
    first, other, again = found[0]
    assert first == again and first.joints != other.joints
    assert len(first.joints) == 6
