# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An ideal arm runs a plan as it is."""

from arm_simulation.arms.ideal_arm import simulate
from arm_tasks.execution.engine import EngineState


def test_jaws_move_during_the_first_motion_of_a_step(plan_of):
    there = "approach: {frame: tool0, xyz_mm: [0, 0, 10], distance_mm: 5, orientation: any, "
    steps = ["move_posture: ready", there + "gripper_mm: 20}"]
    plan = plan_of([*steps, "move_posture: {posture: rest, gripper_mm: 5}"], width=0.01)
    run = simulate(plan, None)
    assert run.outcome.state is EngineState.SUCCEEDED and run.widths[-1] == 0.005
    moving = [i for i, k in enumerate(run.steps) if k == 3]
    assert any(
        run.widths[i] != run.widths[i - 1] and (run.joints[i] != run.joints[i - 1]).any()
        for i in moving[1:]
    )
