# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The nut transfer by contact and friction: driver, emulated chip and physics in lock-step."""

import math
from dataclasses import replace

import pytest
from arm_simulation.arms.driver_arm import ContactArm, run_in_contact
from arm_simulation.contact.servos import ServoErrors
from arm_tasks.execution.engine import Engine, EngineState
from arm_tasks.planning.planner import plan_task
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.grasp import lies_on
from arm_tasks.task.parser import load_task
from arm_tasks.task.request import TaskRequest

from arm_description import load_robot
from arm_kinematics import Chain

pytest.importorskip("mujoco", reason="there is no MuJoCo for this Python or machine")
thorough = pytest.mark.thorough  # the transfer takes a minute of CPU


@pytest.fixture
def transfer(scene, model, request_for):
    """Return a function that plans the transfer for an arm with errors, and the arm."""

    def make(errors=None, task="nut_transfer", scene=scene):
        arm = ContactArm(model, scene, errors)
        request = replace(request_for(task, scene=scene), start=arm.configuration())
        return plan_task(request), arm

    return make


@pytest.mark.parametrize("robot", ["mearm", "braccio"])
def test_claw_carries_a_cell_by_friction(robot):
    """One arm has a parallelogram and is driven at the horns of its servos."""
    model, task = load_robot(robot), load_task("pick_and_place")
    scene = load_scene(task.scene, robot)
    arm = ContactArm(model, scene)
    request = TaskRequest(task, scene, model, Chain.from_model(model), arm.configuration())
    engine = Engine(plan_task(request), arm, clock=lambda: arm.time)
    while not engine.tick().done:
        arm.step()
    arm.settle()
    assert engine.outcome.state is EngineState.SUCCEEDED
    cell = scene.with_object("cell", arm.world.pose_of("cell"))
    assert lies_on(cell, "cell") == "pallet"


@thorough
def test_nut_is_transferred_by_contact_alone(transfer):
    run = run_in_contact(*transfer())
    assert run.nut.bolt == "lower_bolt", run
    assert run.nut.turns_engaged >= 3.0
    assert not run.nut.held
    assert run.outcome.state is EngineState.SUCCEEDED


@thorough
@pytest.mark.parametrize("start_deg", [0.0, 51.0])
def test_nut_gripped_anew_on_a_pin_is_transferred(transfer, scene_with, start_deg):
    """No grip of the upper bolt alone suits these starts well."""
    over = load_scene("nut_over_pin", "nut_arm")
    other = scene_with("lower_bolt", over, start=math.radians(start_deg))
    run = run_in_contact(*transfer(task="nut_over_pin", scene=other))
    assert run.nut.bolt == "lower_bolt" and run.nut.turns_engaged >= 3.0 and not run.nut.held


@thorough
def test_equal_arms_have_equal_runs_and_others_do_not(transfer):
    ends = []
    for zero in (0.0, 0.0, 1e-3):
        plan, arm = transfer({"waist": ServoErrors(zero=zero)})
        first = replace(plan, steps=plan.steps[:7])  # up to the grip
        run_in_contact(first, arm)
        ends.append(arm.world.mj_data.qpos.tobytes())
    assert ends[0] == ends[1]
    assert ends[1] != ends[2]


@thorough
def test_nut_that_is_released_too_early_falls(transfer, model, scene):
    """The judge is the physics: the transfer's plan, with jaws that open before the thread."""
    plan, arm = transfer()
    carried = next(i for i, step in enumerate(plan.steps) if step.name == "carry it over")
    opens = next(step for step in plan.steps if step.name == "open the jaws")
    steps = (*plan.steps[: carried + 1], opens, plan.steps[-1])
    run = run_in_contact(replace(plan, steps=steps), arm)
    assert run.outcome is None
    assert run.nut.fallen
