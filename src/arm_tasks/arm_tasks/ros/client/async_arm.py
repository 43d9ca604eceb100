# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The arm's verbs, each of which returns at once with a handle of its end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from arm_common.ros.qos import GOAL, of_service
from arm_common.transforms import Array, rpy_matrix
from arm_kinematics.ros.client import KinematicsClient
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from std_srvs.srv import Trigger

from arm_interfaces.action import RunTask
from arm_interfaces.msg import TaskState
from arm_interfaces.srv import CheckTask, SolveFK, SolveIK
from arm_tasks.ros.client.results import (
    XYZ,
    ArmError,
    IkAnswer,
    Orientation,
    Progress,
    joints_text,
    pose_text,
    task_text,
)
from arm_tasks.ros.client.worker import ArmFuture, ExecutorThread
from arm_tasks.ros.messages import pose_matrix, pose_message

_LOGGER = logging.getLogger(__name__)
PATIENCE = 10.0  # s, for a server to be there
HEARS_WITHIN = 5.0  # s, for a kinematics node that just came to hear of the robot
ASKED_AGAIN = 0.1  # s, until it is asked again
FEEDBACK = QoSProfile(depth=1000)
TRIGGERS = {
    "stop": "arm_hardware/stop",
    "reset": "arm_hardware/reset",
    "pause": "run_task/pause",
    "resume": "run_task/resume",
    "step": "run_task/step",
}
OnProgress = Callable[[Progress], None]


class AsyncArm:
    """The verbs of Arm without the waiting; their arguments are explained there.

    Args:
        spinner: Where they run.
    """

    def __init__(self, spinner: ExecutorThread) -> None:
        node = spinner.node
        self._spinner = spinner
        self._action = ActionClient(
            node,
            RunTask,
            "run_task",
            goal_service_qos_profile=GOAL,
            feedback_sub_qos_profile=FEEDBACK,
        )
        self._check = node.create_client(CheckTask, "check_task")
        self._kinematics = KinematicsClient(node)
        self._triggers = {
            name: node.create_client(Trigger, server, qos_profile=of_service(name))
            for name, server in TRIGGERS.items()
        }

    # -- motions ------------------------------------------------------------------------------

    def move_joints(
        self, joints: Mapping[str, float], speed: float | None = None
    ) -> ArmFuture[RunTask.Result]:
        """Move some joints."""
        return self._run("move_joints", text=joints_text(joints, speed))

    def move_posture(self, posture: str, speed: float | None = None) -> ArmFuture[RunTask.Result]:
        """Move to a posture."""
        return self._run(
            "move_posture", text=task_text("move_posture", posture=posture, speed=speed)
        )

    def move_pose(
        self,
        xyz: XYZ,
        rpy: XYZ | None = None,
        frame: str = "base_link",
        orientation: Orientation | None = None,
        speed: float | None = None,
    ) -> ArmFuture[RunTask.Result]:
        """Move the tool to a place."""
        text = pose_text("move_pose", xyz, rpy, frame, orientation, speed)
        return self._run("move_pose", text=text)

    def move_linear(
        self,
        xyz: XYZ,
        rpy: XYZ | None = None,
        frame: str = "base_link",
        orientation: Orientation | None = None,
        speed: float | None = None,
    ) -> ArmFuture[RunTask.Result]:
        """Move the tool to a place along a straight line."""
        text = pose_text("move_linear", xyz, rpy, frame, orientation, speed)
        return self._run("move_linear", text=text)

    def grip(self, width: float) -> ArmFuture[RunTask.Result]:
        """Bring the jaws to a width."""
        return self._run("grip", text=task_text("grip", width=float(width)))

    def run_task(
        self,
        task: str,
        scene: str = "",
        *,
        dry_run: bool = False,
        start_step: int = 0,
        on_progress: OnProgress | None = None,
    ) -> ArmFuture[RunTask.Result]:
        """Run a task."""
        goal = {"scene": scene, "dry_run": dry_run, "start_step": start_step}
        return self._run(task, on_progress, **goal)

    # -- questions ----------------------------------------------------------------------------

    def check_task(self, task: str, scene: str = "") -> ArmFuture[CheckTask.Response]:
        """Check a task."""
        request = CheckTask.Request(task=task, scene=scene)
        return self._spinner.start(f"check_task {task}", self._call, self._check, request)

    def ik(
        self,
        xyz: XYZ,
        rpy: XYZ | None = None,
        frame: str = "",
        seed: Mapping[str, float] | None = None,
    ) -> ArmFuture[IkAnswer]:
        """Solve inverse kinematics."""
        kinds = SolveIK.Request
        request = kinds(mode=kinds.POSITION if rpy is None else kinds.POSE)
        request.target.header.frame_id = frame
        request.target.pose = pose_message(rpy_matrix(xyz, rpy if rpy is not None else (0, 0, 0)))
        _put(request.seed, seed)
        return self._spinner.start("ik", self._ik, request)

    def fk(
        self, joints: Mapping[str, float] | None = None, link: str = "", frame: str = ""
    ) -> ArmFuture[Array]:
        """Locate a link."""
        request = SolveFK.Request(links=[link] if link else [], reference_frame=frame)
        _put(request.joint_state, joints)
        return self._spinner.start("fk", self._fk, request)

    def trigger(self, name: str) -> ArmFuture[str]:
        """Call "stop", "reset", "pause", "resume" or "step"."""
        return self._spinner.start(name, self._trigger, name)

    def ask(self, client: Any, request: Any, what: str) -> ArmFuture[Any]:
        """Call a service whose answer has success and message; it fails if that did not."""
        return self._spinner.start(what, self._ask, client, request, what)

    @property
    def missing(self) -> str:
        """What of the arm's servers is not there, or ""."""
        if not self._action.server_is_ready():
            return "the task server"
        if not self._kinematics.solve_ik.is_ready:
            return "the kinematics node"
        return "" if self._triggers["stop"].service_is_ready() else "the servo driver"

    # -- in the spinner's thread --------------------------------------------------------------

    def _run(
        self, what: str, on_progress: OnProgress | None = None, **fields: Any
    ) -> ArmFuture[RunTask.Result]:
        run = _Run(self._spinner, self._action, on_progress)
        goal = RunTask.Goal(task=what, **fields)
        return self._spinner.start(what, run.carry_out, goal, cancel=run.cancel)

    async def _call(self, client: Any, request: Any) -> Any:
        ready = client.service_is_ready
        await self._spinner.until(ready, PATIENCE, f"a server of {client.srv_name}")
        return await client.call_async(request)

    async def _trigger(self, name: str) -> str:
        answer = await self._ask(self._triggers[name], Trigger.Request(), name)
        return str(answer.message)

    async def _ask(self, client: Any, request: Any, what: str) -> Any:
        answer = await self._call(client, request)
        if not answer.success:
            raise ArmError(f"{what}: {answer.message}", answer)
        return answer

    async def _solved(self, caller: Any, request: Any) -> Any:
        """Call the kinematics; again while it is there, but has not heard of the robot yet."""
        await self._spinner.until(lambda: caller.is_ready, PATIENCE, "the kinematics node")
        end = time.monotonic() + HEARS_WITHIN
        while True:
            answer = await caller.call_async(request)
            now = time.monotonic()
            if answer.status != SolveFK.Response.NOT_READY or now > end:
                return answer
            again = now + ASKED_AGAIN
            await self._spinner.until(partial(_is_past, again), PATIENCE, "the clock")

    async def _ik(self, request: SolveIK.Request) -> IkAnswer:
        answer = await self._solved(self._kinematics.solve_ik, request)
        blame = tuple(answer.limiting_joints)
        if not answer.solutions:
            return IkAnswer(answer.status, answer.message, {}, np.inf, np.inf, blame)
        best = answer.solutions[0]
        state = best.joint_state
        joints = dict(zip(state.name, state.position, strict=True))
        errors = best.position_error, best.orientation_error
        return IkAnswer(answer.status, answer.message, joints, *errors, blame)

    async def _fk(self, request: SolveFK.Request) -> Array:
        answer = await self._solved(self._kinematics.solve_fk, request)
        if answer.status != SolveFK.Response.SUCCESS:
            raise ArmError(f"fk: {answer.message}", answer)
        return pose_matrix(answer.poses[0].pose)


class _Run:
    """One goal of run_task."""

    def __init__(
        self, spinner: ExecutorThread, action: ActionClient, on_progress: OnProgress | None
    ) -> None:
        self._spinner, self._action, self._on_progress = spinner, action, on_progress
        self._handle: Any = None
        self._canceled = False

    def cancel(self) -> None:
        """Cancel it, as soon as it was accepted."""
        self._canceled = True
        if self._handle is not None:
            self._handle.cancel_goal_async()

    async def carry_out(self, goal: RunTask.Goal) -> RunTask.Result:
        """Send the goal and await its result."""

        def there() -> bool:
            return bool(self._action.server_is_ready())

        await self._spinner.until(there, PATIENCE, "the task server")
        self._handle = await self._action.send_goal_async(goal, self._on_feedback)
        if not self._handle.accepted:
            raise ArmError(f"{goal.task}: the task server refused the goal; its log says why")
        if self._canceled:
            self._handle.cancel_goal_async()
        answer: Any = self._handle.get_result_async()
        forever = float("inf")
        await self._spinner.until(lambda: answer.done() or not there(), forever, "the end")
        if not answer.done():
            raise ArmError(f"{goal.task}: the task server is gone; its log says why")
        result: RunTask.Result = answer.result().result
        if result.status != RunTask.Result.SUCCESS:
            raise ArmError(result.message, result)
        return result

    def _on_feedback(self, message: Any) -> None:
        told = message.feedback
        paused = told.state == TaskState.PAUSED
        fields = told.step, told.steps_total, told.name, told.progress, told.message
        try:
            if self._on_progress is not None:
                self._on_progress(Progress(*fields, paused))
        except Exception:
            _LOGGER.exception("on_progress failed")


def _put(state: Any, joints: Mapping[str, float] | None) -> None:
    """Put joint positions into a message."""
    state.name = list(joints or {})
    state.position = [float(value) for value in (joints or {}).values()]


def _is_past(moment: float) -> bool:
    return time.monotonic() >= moment
