# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of several tests: the scene, plans, and jaws without an arm."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from arm_common.transforms import PoseInterpolation, pose, shift_z, so3_exp, turn_z
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.planning.planner import plan_task
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.nut_state import NutReport
from arm_tasks.scene.scene import Scene
from arm_tasks.task.parser import load_task, task_from_text
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from arm_tasks.task.steps import Task
from arm_tasks.world.nut_world import NutWorld

from arm_description import RobotModel, load_robot
from arm_kinematics import Chain

OPEN = 0.020
SHUT = 0.0105


class Hand:
    """Jaws without an arm that move a NutWorld's tool in a chosen number of updates."""

    def __init__(self, world: NutWorld, updates: int = 20) -> None:
        self.world = world
        self.updates = updates
        self.width = OPEN
        self.T = pose(p=(0.1, 0.0, 0.3))
        self.seen: list[NutReport] = [world.update(self.T, self.width)]

    @property
    def nut(self) -> NutReport:
        return self.world.report

    def at(
        self, bolt: str, z: float, roll_deg: float = 0.0, tilt_deg: float = 0.0, off: float = 0.0
    ) -> np.ndarray:
        """Return the tool pose on a bolt: z past its end, roll, tilt about x, offset along y."""
        tilt = pose(so3_exp(np.array([math.radians(tilt_deg), 0.0, 0.0])), (0.0, off, 0.0))
        place = self.world.scene.bolt(bolt).pose @ shift_z(z) @ tilt
        return place @ turn_z(math.radians(roll_deg))

    def go(self, T: np.ndarray) -> NutReport:
        between = PoseInterpolation.between(self.T, T)
        for i in range(1, self.updates + 1):
            self.T = T if i == self.updates else between.at(i / self.updates)
            self.seen.append(self.world.update(self.T, self.width))
        return self.nut

    def set_width(self, width: float) -> NutReport:
        for w in np.linspace(self.width, width, 5):
            self.width = float(w)
            self.seen.append(self.world.update(self.T, self.width))
        return self.nut

    def grip(self) -> NutReport:
        return self.set_width(SHUT)

    def open(self) -> NutReport:
        return self.set_width(OPEN)

    def screw(self, bolt: str, z: float, start_deg: float, turn_deg: float) -> NutReport:
        """Turn about the bolt from a roll, advancing by its pitch, in steps up to 90 deg."""
        it = self.world.scene.bolt(bolt)
        count = max(1, math.ceil(abs(turn_deg) / 90.0))
        for i in range(1, count + 1):
            done = turn_deg * i / count
            forward = it.hand * it.pitch * done / 360.0
            self.go(self.at(bolt, z + forward, start_deg + done))
        return self.nut


@pytest.fixture(scope="session")
def scene() -> Scene:
    return load_scene("nut_transfer")


@pytest.fixture
def hand(scene: Scene) -> Hand:
    return Hand(NutWorld(scene))


@pytest.fixture
def make_hand() -> Callable[..., Hand]:
    def make(scene: Scene, updates: int = 20) -> Hand:
        return Hand(NutWorld(scene), updates)

    return make


@pytest.fixture(scope="session")
def model() -> RobotModel:
    return load_robot("nut_arm")


@pytest.fixture(scope="session")
def chain(model: RobotModel) -> Chain:
    return Chain.from_model(model)


@pytest.fixture(scope="session")
def request_for(scene: Scene, model: RobotModel, chain: Chain) -> Callable[..., TaskRequest]:
    """Return a factory of requests for a task, a task name or steps, starting at zero."""

    def make(
        task: Task | str | Sequence[str] = "nut_transfer",
        scene: Scene = scene,
        model: RobotModel = model,
        chain: Chain = chain,
        width: float = 0.0,
        **joints: float,
    ) -> TaskRequest:
        if isinstance(task, str):
            task = task_from_text(task, "t.yaml") if "\n" in task else load_task(task)
        elif not isinstance(task, Task):
            lines = "".join(f"  - {step}\n" for step in task)
            task = task_from_text(f"task: t\nsteps:\n{lines}", "t.yaml")
        start = {**dict.fromkeys(chain.joint_names, 0.0), **joints}
        return TaskRequest(task, scene, model, chain, ArmConfiguration(start, width))

    return make


@pytest.fixture(scope="session")
def nut_plan(request_for: Callable[..., TaskRequest]) -> TaskPlan:
    """Return the plan of the shipped task in the shipped scene, starting at zero."""
    return plan_task(request_for())


@pytest.fixture(scope="session")
def plan_of(request_for: Callable[..., TaskRequest]) -> Callable[..., TaskPlan]:
    """Return a function that plans as request_for and asserts that the plan is feasible or not."""

    def make(
        *task: Any, refused: bool = False, collisions: bool = False, **options: Any
    ) -> TaskPlan:
        plan = plan_task(request_for(*task, **options), collisions)
        assert plan.feasible is not refused, plan.message
        return plan

    return make


@pytest.fixture(scope="session")
def scene_with(scene: Scene) -> Callable[..., Scene]:
    """Return a factory of scenes in which one bolt has changed fields."""

    def make(name: str, scene: Scene = scene, **changes: Any) -> Scene:
        return replace(scene, bolts={**scene.bolts, name: replace(scene.bolt(name), **changes)})

    return make
