# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The engine on the servo driver: what a person does to the arm or the task between two ticks."""

from dataclasses import replace

import numpy as np
import pytest
from arm_hardware.motion.options import DriverOptions
from arm_simulation.arms.driver_arm import DriverArm
from arm_tasks.execution.engine import Engine, EngineState
from arm_tasks.planning.plan import PlannedTrajectory
from arm_tasks.planning.planner import plan_task
from arm_tasks.task.request import ArmConfiguration


@pytest.mark.parametrize("how", ["pause", "cancel"])
@pytest.mark.parametrize("share", [0.05, 0.4, 0.7])
def test_arm_and_jaws_stop_and_go_on_together(plan_of, model, how, share):
    step = "move_joints: {joints_deg: {waist: 60}, speed: 1, gripper_mm: 20}"
    plan = plan_of(["move_posture: ready", step], width=0.002)
    arm = DriverArm(model, DriverOptions())
    arm.arm(ArmConfiguration.of(plan.joint_names, plan.steps[1].start, 0.002))

    def run(engine, until):
        while not (until() or engine.tick().done):
            arm.step()
            assert arm.time < 60.0, "it does not end"

    engine = Engine(plan, arm, 1, clock=lambda: arm.time)
    moment = arm.time + share * plan.steps[1].duration
    run(engine, lambda: arm.time >= moment)
    if how == "pause":
        engine.pause()
        run(engine, lambda: engine.state is EngineState.PAUSED)
        before = arm.configuration()
        for _ in range(20):
            arm.step()
        assert arm.configuration() == before
        assert engine.resume() == ""
    else:
        engine.cancel()
        run(engine, lambda: False)
        assert engine.outcome.resume_step == 1 and arm.idle and arm.still
        engine = Engine(plan, arm, 1, clock=lambda: arm.time)
    run(engine, lambda: False)
    assert engine.state is EngineState.SUCCEEDED, engine.outcome.message
    now = arm.configuration()
    assert now.width == pytest.approx(0.02, abs=1e-4)
    assert now.positions["waist"] == pytest.approx(np.radians(60.0), abs=1e-3)


def preempt(arm):
    at = arm.configuration().positions
    elsewhere = np.zeros((1, len(at)))
    arm.move(PlannedTrajectory(tuple(at), np.array([1.0]), elsewhere, elsewhere))


def stop_and_reset(arm):
    arm.driver.controller.stop()
    arm.driver.controller.reset()


@pytest.mark.parametrize(
    "interrupt",
    [preempt, stop_and_reset, lambda arm: arm.driver.controller.hold("Held.")],
    ids=["preempted", "stopped", "held"],
)
def test_motion_that_the_driver_ends_for_a_person_is_not_tried_again(interrupt, request_for):
    planned = plan_task(request_for(("move_posture: ready",)), collisions=False)
    arm = DriverArm(planned.request.model)
    arm.arm(planned.request.start)
    steps = tuple(replace(each, retries=5) for each in planned.steps)
    engine = Engine(replace(planned, steps=steps), arm, clock=lambda: arm.time)
    engine.tick()
    for _ in range(5):
        arm.step()
    assert not arm.still
    interrupt(arm)
    arm.move = None  # none of the engine follows
    for _ in range(500):
        engine.tick()
        arm.step()
    assert engine.outcome.state is EngineState.FAILED
    assert "the motion was stopped: " in engine.outcome.message
