# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures about the shipped task: its scene, requests and plans; a conftest imports them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from arm_description.library import load_robot
from arm_description.robot_model import RobotModel
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.planning.planner import plan_task
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.scene import Scene
from arm_tasks.task.parser import load_task, task_from_text
from arm_tasks.task.request import ArmConfiguration, TaskRequest
from arm_tasks.task.steps import Task

from arm_kinematics import Chain

# A task that lets a person find where a thread starts.
MEASURE = """
task: measure
scene: nut_transfer
defaults: {speed: 1, tilt_deg: 8}
steps:
  - open: {width_mm: 20}
  - unscrew: upper_bolt
  - find_thread: {bolt: lower_bolt, press_mm: 1, search_mm: 1, around_deg: 0}
"""


@pytest.fixture(scope="session")
def scene() -> Scene:
    return load_scene("nut_transfer")


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
