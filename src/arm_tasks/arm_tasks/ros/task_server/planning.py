# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/task_server/test_monitors.py
"""Resolves goals to tasks, scenes and starts, and plans them in processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TypeAlias

from arm_common.files.access import FileAccess
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_kinematics.ros.worker_thread import WorkerThread
from rclpy.node import Node

from arm_interfaces.action import RunTask
from arm_interfaces.srv import CheckTask
from arm_kinematics import Chain
from arm_tasks.errors import TasksError
from arm_tasks.execution.ports import REFERENCE_RUNS, NutPrediction
from arm_tasks.planning.collision.mujoco_library import has_mujoco
from arm_tasks.planning.feasibility import FeasibilityReport, check_feasibility
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.planning.planner import plan_task
from arm_tasks.ros.task_messages import sent_texts
from arm_tasks.ros.task_server.forked import run_in_child
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.poses import TaughtPose
from arm_tasks.scene.scene import Scene
from arm_tasks.task.request import (
    ArmConfiguration,
    SentFiles,
    TaskRequest,
    TorqueLimits,
    load_request,
)

PoseSource: TypeAlias = Callable[[], Mapping[str, TaughtPose]]


_MAX_STARTS = 20  # tasks whose last start is kept


def prepare_planning() -> None:
    """Import now what each child process would otherwise import again."""
    for module in (
        "arm_description.urdf.writer",
        "numpy.ma",
        *(["mujoco"] if has_mujoco() else []),
    ):
        import_module(module)


class Planning:
    """Plans goals and checks; neither waits for the other, and other nodes wait for neither.

    All methods raise TasksError if the request, its task or its scene is invalid, and InputError
    if the child process fails or takes longer than the timeout.

    Args:
        node: Its executor awaits the plans.
        model: The robot.
        scene: Shipped name or path of the scene for requests that name none.
        poses: Returns the taught poses, for tasks given as text.
        files: The files that a request may name, beside those sent with it.
        timeout: Time that a plan or a check may take [s].
        torques: Shares of the torques for warnings and refusals.
        prefer: Which of several postures for a target is tried first, of PREFERENCES.

    Attributes:
        scene_name, scene: The scene for requests that name none.
    """

    def __init__(
        self,
        node: Node,
        model: RobotModel,
        scene: str,
        poses: PoseSource,
        files: FileAccess,
        timeout: float,
        torques: TorqueLimits,
        prefer: str,
    ) -> None:
        self.scene_name = scene
        self.scene = load_scene(scene, model.name)
        self._poses, self._files = poses, files
        self._timeout, self._torques, self._prefer = timeout, torques, prefer
        self.set_model(model)
        self._goals, self._checks = WorkerThread(node), WorkerThread(node)
        self._starts: dict[int, ArmConfiguration] = {}
        self._found: dict[int, Mapping[int, Array]] = {}  # frames found since these starts
        self._goal: tuple[int, FileAccess, TaskRequest] | None = None  # the last that was planned

    async def plan(
        self, goal: RunTask.Goal, current: ArmConfiguration, canceled: Callable[[], bool]
    ) -> TaskPlan:
        """Plan a goal; the plan contains the resolved request.

        Raises:
            InputError: It was canceled: `canceled`, called by another thread, returned True.
        """
        key, start = self._start(goal, current)
        files, found = self._files_of(goal), self._found.get(key, {})

        def work() -> TaskPlan:
            request = self._resolve(goal, start, files)
            return plan_task(replace(request, found=found) if found else request, files=files)

        plan = await self._goals.run(lambda: run_in_child(work, canceled, self._timeout))
        self._goal = key, files, plan.request
        return plan

    def extend(self, step: int, T: Array, canceled: Callable[[], bool]) -> TaskPlan:
        """Plan the last goal with base_link <- frame (4, 4) that a step has found [m].

        Up to that step, the plan is the same. Call it in a thread. The raised errors are those of
        plan().
        """
        assert self._goal is not None
        key, files, request = self._goal
        request = replace(request, found={**request.found, step: T})
        work = partial(plan_task, request, files=files)
        plan = run_in_child(work, canceled, self._timeout)
        if plan.feasible:
            self._goal, self._found[key] = (key, files, request), request.found
        return plan

    async def check(
        self, request: CheckTask.Request, current: ArmConfiguration
    ) -> FeasibilityReport:
        """Check a task from the current configuration, overridden by the request's joints."""
        names, positions = request.start.name, request.start.position
        if (count := len(names)) != len(positions):
            raise TasksError(
                f"start has {count} names and {len(positions)} positions; give one for each name"
            )
        given = dict(zip(names, positions, strict=True))
        start = ArmConfiguration({**current.positions, **given}, current.width)
        files = self._files_of(request)

        def work() -> FeasibilityReport:
            return check_feasibility(self._resolve(request, start, files), files)

        return await self._checks.run(lambda: run_in_child(work, timeout=self._timeout))

    def set_model(self, model: RobotModel) -> None:
        """Use a robot with other limits from now on."""
        self._model, self._chain = model, Chain.from_model(model)
        _ = self._chain.bodies  # once, not in each child process

    def replace_scene(self, scene: Scene) -> None:
        """Use another scene for requests that name none."""
        self.scene = scene

    async def reference_run(self, plan: TaskPlan) -> NutPrediction | None:
        """Simulate a plan, for the expected state of the nut at each step.

        Return None if no package that simulates is installed.
        """
        if not REFERENCE_RUNS.names:
            return None
        work = partial(REFERENCE_RUNS.load(REFERENCE_RUNS.names[0]), plan)
        return await self._goals.run(lambda: run_in_child(work, timeout=self._timeout))

    def _files_of(self, request: CheckTask.Request | RunTask.Goal) -> FileAccess:
        return SentFiles(sent_texts(request.files), self._files)

    def _resolve(
        self,
        request: CheckTask.Request | RunTask.Goal,
        start: ArmConfiguration,
        files: FileAccess,
    ) -> TaskRequest:
        sent = any(file.name == request.scene for file in request.files)
        is_shown = request.scene in ("", self.scene_name) and not sent
        scene = self.scene if is_shown else request.scene
        poses = self._poses() if request.text else None
        loaded = load_request(
            request.task, self._model, self._chain, start, scene, request.text, poses, files
        )
        return replace(loaded, torques=self._torques, prefer=self._prefer)

    def _start(
        self, goal: RunTask.Goal, current: ArmConfiguration
    ) -> tuple[int, ArmConfiguration]:
        """Return the key of a goal's task, and the start of its plan.

        A run that resumes at a step needs the plan of the interrupted run, which started where
        that task was last started; if that is unknown or long ago, at rest.
        """
        sent = tuple((file.name, file.text) for file in goal.files)
        key = hash((goal.task, goal.scene, goal.text, sent))
        if not goal.start_step:
            self._starts.pop(key, None)
            self._found.pop(key, None)
            self._starts[key] = ArmConfiguration(dict(current.positions), current.width)
            if len(self._starts) > _MAX_STARTS:
                oldest = next(iter(self._starts))
                del self._starts[oldest]
                self._found.pop(oldest, None)
            return key, current
        return key, self._starts.get(key) or ArmConfiguration.of_posture(self._model)
