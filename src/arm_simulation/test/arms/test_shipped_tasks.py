# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every shipped task on every robot that can run it, judged by the simulated worlds."""

import math

import numpy as np
import pytest
from arm_hardware.driver import Driver
from arm_hardware.motion.options import DriverOptions
from arm_simulation.arms.ideal_arm import ServoBehaviour, simulate
from arm_simulation.geometric.world import NutWorld, PayloadWorld
from arm_tasks.execution.engine import EngineState
from arm_tasks.planning.plan import off_lines
from arm_tasks.planning.planner import plan_task
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.grasp import lies_on
from arm_tasks.task.parser import load_task
from arm_tasks.task.request import ArmConfiguration, TaskRequest

from arm_description import load_robot
from arm_kinematics import Chain

ROBOTS = ("nut_arm", "five_axis", "puma560_gripper")
KITS = ("mearm", "braccio", "learm", "so101")
WITHOUT_GRIPPER = ("eezybotarm_mk1", "eezybotarm_mk2")


class CountedServos(ServoBehaviour):
    """Servos that reach the counts to which the simulated driver rounds their commands."""

    def __init__(self, model, chain):
        super().__init__(chain)
        self._maps = Driver(model, DriverOptions(hardware="sim")).output.maps

    def _rounded(self, positions, maps):
        pairs = zip(maps, positions, strict=True)
        return [servo.position_of(servo.count_of(position)) for servo, position in pairs]

    def tool(self, commanded):
        return super().tool(np.array(self._rounded(commanded.tolist(), self._maps[:-1])))

    def width(self, commanded):
        return self._rounded([commanded], self._maps[-1:])[0]


def run(task, robot, servos=None):
    model = load_robot(robot)
    chain = Chain.from_model(model)
    scene = load_scene(task.scene, model.name)
    plan = plan_task(TaskRequest(task, scene, model, chain, ArmConfiguration.of_posture(model)))
    assert plan.feasible, plan.message
    payloads = PayloadWorld(scene, model.gripper)
    seen = []

    def on_update(engine, arm):
        payloads.update(chain.fk(arm.q), arm.width)
        seen.append((payloads.held, dict(payloads.poses)))

    world = NutWorld(scene) if scene.nut else None
    servos = servos and servos(model, chain)
    done = simulate(plan, world, on_update=on_update, servos=servos)
    assert done.outcome.state is EngineState.SUCCEEDED, done.outcome.message
    return plan, chain, done, payloads, seen


@pytest.mark.parametrize(
    ("robot", "servos"), [*((robot, None) for robot in ROBOTS[1:]), (ROBOTS[-1], CountedServos)]
)
def test_other_arms_can_transfer_the_nut(robot, servos):
    """Six axes and a wrist that turns further need fewer regrasps and no tilt."""
    task = load_task("nut_transfer")
    plan, _, done, _, _ = run(task, robot, servos)
    six_axes = robot == "puma560_gripper"
    assert (len([s for s in plan.steps if s.report.turns]) < 12) == six_axes
    assert (plan.worst_orientation_error < math.radians(0.1)) == six_axes
    nut = done.nuts[-1]
    assert nut.bolt == task.expect.nut_on and not nut.grasped
    assert nut.turns_engaged >= task.expect.turns


@pytest.mark.parametrize("robot", ROBOTS + KITS)
def test_pick_and_place(robot):
    task = load_task("pick_and_place")
    plan, chain, done, payloads, seen = run(task, robot)
    assert lies_on(payloads.scene, "cell") == task.expect.lies_on == "pallet"
    held = [k for k, (name, _) in enumerate(seen) if name == "cell"]
    assert len(held) > 20 and held == list(range(held[0], held[-1] + 1))
    start, end = seen[held[0]][1]["cell"], seen[held[-1]][1]["cell"]
    assert np.linalg.norm(end[:3, 3] - start[:3, 3]) > 0.1
    for k in held[:: len(held) // 10]:  # it is fixed to the tool
        grasp = np.linalg.inv(chain.fk(done.joints[k])) @ seen[k][1]["cell"]
        first = np.linalg.inv(chain.fk(done.joints[held[0]])) @ start
        assert grasp == pytest.approx(first, abs=1e-9)
    carried = [s.report.near for s in plan.steps if s.name in ("lift it", "carry it over")]
    assert all(near is not None and not near.penetrates for near in carried)


@pytest.mark.parametrize("robot", ROBOTS)
def test_draw_square(robot):
    plan, _, done, _, _ = run(load_task("draw_square"), robot)
    track = list(zip(done.steps, done.joints, strict=True))
    assert off_lines(plan, track) < 0.1e-3
    corners = [s.line[1, :3, 3] for s in plan.steps if s.line is not None and "side" in s.name]
    sides = np.linalg.norm(np.diff([corners[-1], *corners], axis=0), axis=1)
    assert sides == pytest.approx([0.04] * 4, abs=1e-4)
    lines = [s for s in plan.steps if s.line is not None]
    aside = [(s.index, q + 0.05) for s, q in zip(lines, done.joints, strict=False)]
    assert off_lines(plan, aside) > 1e-3


@pytest.mark.parametrize("robot", ("nut_arm", "mearm", "braccio", "learm", *WITHOUT_GRIPPER))
def test_draw_line_needs_no_gripper(robot):
    plan, _, done, *_ = run(load_task("draw_line"), robot)
    assert off_lines(plan, list(zip(done.steps, done.joints, strict=True))) < 0.1e-3
    (line,) = (s.line for s in plan.steps if s.name == "draw the line")
    assert line[1, :3, 3] - line[0, :3, 3] == pytest.approx([0.0, 0.0, -0.03], abs=1e-4)


def test_task_is_rejected_for_an_arm_without_gripper():
    with pytest.raises(ValueError, match="robot puma560 has no gripper"):
        run(load_task("draw_square"), "puma560")
