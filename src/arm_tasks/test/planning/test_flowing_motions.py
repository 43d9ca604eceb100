# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Motions without a stop: rounded corners, and jaws that move while the arm moves."""

from types import SimpleNamespace

import numpy as np
import pytest
from arm_tasks.errors import TaskFileError
from arm_tasks.execution.ports import MoveState, MoveStatus
from arm_tasks.execution.step_execution import Clocks, StepExecution
from arm_tasks.planning.planner import plan_task

READY = "move_posture: ready"
DOWN = "move_linear: {frame: tool0, xyz_mm: [0, 0, -20], orientation: any%s}"
ASIDE = "move_linear: {frame: tool0, xyz_mm: [0, 20, 0], orientation: any%s}"


def tools(step, chain):
    times = np.linspace(0.0, step.trajectory.duration, 400)
    return np.array([chain.fk(step.trajectory.at(t))[:3, 3] for t in times])


@pytest.mark.parametrize("radius", [2.0, 5.0, 20.0])
def test_rounded_corner_keeps_to_its_lines_outside_the_radius(plan_of, chain, radius):
    sharp = plan_of([READY, DOWN % "", ASIDE % ""])
    plan = plan_of([READY, DOWN % f", blend_mm: {radius}", ASIDE % ""])
    assert [step.kind for step in plan.steps] == ["motion", "motion"]
    corner, path = chain.fk(sharp.steps[1].end)[:3, 3], tools(plan.steps[1], chain)
    lines = np.vstack([tools(step, chain) for step in sharp.steps[1:]])
    off = np.array([np.linalg.norm(lines - point, axis=1).min() for point in path])
    away = np.linalg.norm(path - corner, axis=1)
    assert off[away > radius * 1e-3].max() < 1.5e-4  # the samples of the lines are apart
    # the corner is cut by the mean of both lines half a radius away from it
    assert away.min() == pytest.approx(radius * 1e-3 / 2.0 / np.sqrt(2.0), rel=0.02)
    assert path[-1] == pytest.approx(chain.fk(sharp.steps[2].end)[:3, 3], abs=2e-5)
    assert np.linalg.norm(plan.steps[1].trajectory.velocities[1:-1], axis=1).min() > 0.0
    assert plan.duration < sharp.duration


def test_corners_are_rounded_across_rounds_of_a_loop(plan_of):
    loop = f"repeat: {{times: 3, steps: [{DOWN % ', blend_mm: 3'}, {ASIDE % ', blend_mm: 3'}]}}"
    plan = plan_of([READY, loop.replace("20", "6"), ASIDE % ""])
    assert len(plan.steps) == 2 and "around 6 corners" in plan.steps[1].message
    assert plan.steps[1].name.startswith("move_linear and 6 more")


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        ([DOWN % ", blend_mm: 5"], "blend needs a following move_linear or move_arc"),
        ([DOWN % ", blend_mm: 5", "wait: 1", ASIDE % ""], "blend needs a following"),
        ([DOWN % ", blend_mm: 25", ASIDE % ""], "25 mm do not fit on a path of 20 mm"),
        (
            [DOWN % ", blend_mm: 12", ASIDE % ", blend_mm: 12", DOWN % ""],
            "24 mm do not fit on a path of 20 mm",
        ),
        (
            [DOWN % ", blend_mm: 5", "move_linear: {frame: tool0, xyz_mm: [0, 9, 0]}"],
            "need the same orientation",
        ),
        ([DOWN % ", blend_mm: 5", ASIDE % ", retries: 1"], "belong to the first step"),
        (
            [f"if: {{when: {{nut_held: true}}, then: [{DOWN % ', blend_mm: 5'}]}}", ASIDE % ""],
            "blend needs a following",
        ),
        (["move_posture: {posture: ready, gripper_mm: 99}"], "is not within"),
        (["unscrew: upper_bolt", "retreat: {distance_mm: 5, gripper_mm: 20}"], "hold the nut"),
    ],
)
def test_impossible_corners_and_widths_are_refused(request_for, steps, what):
    with pytest.raises(TaskFileError, match=what):
        plan_task(request_for([READY, *steps], width=0.02), collisions=False)


def test_jaws_move_with_the_first_motion_of_a_step(plan_of):
    plan = plan_of(
        [
            READY,
            "approach: {frame: tool0, xyz_mm: [0, 0, 10], distance_mm: 5, orientation: any, "
            "gripper_mm: 20}",
            "move_posture: {posture: rest, gripper_mm: 5}",
        ],
        width=0.01,
    )
    assert [step.width for step in plan.steps] == [None, 0.02, None, 0.005]
    assert [step.start_width for step in plan.steps] == [0.01, 0.01, 0.02, 0.02]


class Scripted:
    """A motion of the arm or the jaws."""

    def __init__(self, state):
        self.status, self.cancels = MoveStatus(state, state.value), 0

    def poll(self):
        return self.status

    def cancel(self):
        self.cancels += 1


@pytest.mark.parametrize("failing", ["arm", "jaws"])
def test_what_stops_the_arm_or_the_jaws_stops_the_other(plan_of, failing):
    plan = plan_of(["move_joints: {joints: {waist: 0.3}, gripper_mm: 20}"], width=0.002)
    moves = {name: Scripted(MoveState.RUNNING) for name in ("arm", "jaws")}
    other = moves["jaws" if failing == "arm" else "arm"]
    port = SimpleNamespace(
        move=lambda _: moves["arm"], set_width=lambda _: moves["jaws"], speed_scaling=1.0
    )
    run = StepExecution(plan.steps[0], port, Clocks(lambda: 0.0, lambda: 0.0))
    assert run.poll().state is MoveState.RUNNING and not other.cancels
    moves[failing].status = MoveStatus(MoveState.FAILED, "too far off")
    assert run.poll().state is run.poll().state is MoveState.RUNNING and other.cancels == 1
    other.status = MoveStatus(MoveState.CANCELED)
    assert run.poll() == MoveStatus(MoveState.FAILED, "too far off")
