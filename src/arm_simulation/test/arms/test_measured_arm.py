# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A task on smart servos that sag: it goes on within the goal tolerance, and not beyond."""

from dataclasses import replace

import pytest
from arm_hardware.bus.feetech import sts3215
from arm_hardware.motion.options import DriverOptions
from arm_simulation.arms.driver_arm import DriverArm
from arm_tasks.execution.engine import Engine, EngineState
from arm_tasks.planning.planner import plan_task
from arm_tasks.task.request import ArmConfiguration, load_request
from arm_testing.waiting import InstantClock

from arm_kinematics import Chain

pytest.importorskip("scservo_sdk")
LOADS = {2: -0.3, 3: -0.2, 4: -0.3}  # shares of the stall torque; the nut resists the wrist's roll
NUT = 2400  # count at which it stops the jaws


@pytest.fixture(scope="module")
def plan(model):
    chain = Chain.from_model(model)
    start = ArmConfiguration.of_posture(model)
    request = load_request("nut_transfer", model, chain, start)
    planned = plan_task(request, collisions=False)
    kinds = [step.kind for step in planned.steps]
    end = len(kinds) - kinds[::-1].index("turn") if "turn" in kinds else len(kinds)
    return replace(planned, steps=planned.steps[:end])


@pytest.fixture
def arm(model):
    clock = InstantClock()
    made = DriverArm(model, DriverOptions(hardware="sim", calibration="nut_arm_feetech"), clock)
    made.servos = made.driver.emulation.servos
    step = made.step

    def both():
        clock.time += made.period
        step()

    made.step = both
    for servo in made.servos.values():
        servo.set(sts3215.P_COEFFICIENT, 16)
    made.arm()
    yield made
    made.driver.close("release")


def run(plan, arm):
    engine = Engine(plan, arm, clock=lambda: arm.time)
    for _ in range(20_000):
        if engine.tick().done:
            return engine.outcome
        arm.step()
    raise AssertionError("the task does not end")


def test_sagging_servos_grip_and_turn_the_nut(plan, arm):
    for number, load in LOADS.items():
        arm.servos[number].load = load
    arm.servos[6].stops = (NUT, 4000)
    outcome = run(plan, arm)
    assert outcome.state is EngineState.SUCCEEDED, outcome.message


def test_joint_without_torque_stops_the_task_with_its_distance(plan, arm):
    arm.servos[2].set(sts3215.TORQUE_LIMIT, 20)
    arm.servos[2].load = -0.3
    outcome = run(plan, arm)
    assert outcome.state is EngineState.FAILED and "shoulder: " in outcome.message
    assert "rad from the goal" in outcome.message
