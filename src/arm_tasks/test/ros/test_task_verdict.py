# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A run has succeeded only if the simulated world confirms it."""

import pytest
from arm_tasks.ros.run_task.program import ObservedRun, judge
from arm_tasks.task.parser import load_task

from arm_interfaces.action import RunTask
from arm_interfaces.msg import NutState

DONE = RunTask.Result(status=RunTask.Result.SUCCESS, message="all steps were done")


@pytest.fixture(scope="module")
def task():
    return load_task("nut_transfer")


def nut(bolt="lower_bolt", turns=4.0, grasped=False):
    state = NutState.ON_BOLT if bolt else NutState.FALLEN
    return NutState(
        state=state, bolt=bolt, turns_engaged=turns, grasped=grasped, message="it lies there"
    )


def test_a_nut_where_it_is_expected_is_a_success(task):
    verdict = judge(DONE, False, task, ObservedRun(nut()), simulated=True)
    assert verdict.good
    assert "4.00 turns on lower_bolt" in verdict.message


@pytest.mark.parametrize(
    "state", [nut("upper_bolt"), nut(turns=2.9), nut(grasped=True), nut("", 0.0)]
)
def test_a_nut_elsewhere_loose_or_held_is_a_failure(task, state):
    verdict = judge(DONE, False, task, ObservedRun(state), simulated=True)
    assert not verdict.good
    assert "not where it should be" in verdict.message


def test_a_silent_world_is_a_failure_but_real_hardware_has_none(task):
    assert not judge(DONE, False, task, ObservedRun(), simulated=True).good
    assert judge(DONE, False, task, ObservedRun(), simulated=False).good


def test_a_failed_run_is_a_failure_wherever_the_nut_is(task):
    failed = RunTask.Result(status=RunTask.Result.HARDWARE, message="the arm is gone")
    verdict = judge(failed, False, task, ObservedRun(nut()), simulated=True)
    assert (verdict.good, verdict.message) == (False, "the arm is gone")


def test_a_check_needs_no_nut(task):
    assert judge(DONE, True, task, ObservedRun(), simulated=True).good


@pytest.mark.parametrize(
    ("lies_on", "simulated", "good"),
    [("pallet", True, True), ("belt", True, False), ("", True, False), (None, True, False),
     (None, False, True)],
)  # fmt: skip
def test_a_payload_must_lie_where_it_is_expected(lies_on, simulated, good):
    task = load_task("pick_and_place")
    assert judge(DONE, False, task, ObservedRun(lies_on=lies_on), simulated).good is good


def test_lines_must_be_as_straight_as_expected():
    task = load_task("draw_square")
    assert judge(DONE, False, task, ObservedRun(off_lines=2e-3), simulated=True).good
    verdict = judge(DONE, False, task, ObservedRun(off_lines=4e-3), simulated=True)
    assert (
        not verdict.good
        and "did not stay within 3 mm of its lines; it was off by 4.00 mm" in verdict.message
    )
