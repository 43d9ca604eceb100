# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/client/test_arm.py
"""The verbs of an arm, each of which returns an `ArmFuture` at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from arm_common.errors import InputError
from arm_common.ros.names import PrefixedNames
from arm_common.ros.qos import service_qos
from arm_common.ros.service_client import ServiceClient
from std_srvs.srv import Trigger

from arm_interfaces.action import RunTask
from arm_interfaces.msg import TextFile
from arm_interfaces.srv import CheckTask
from arm_tasks.ros.client.future import SERVER_TIMEOUT, ArmError, ArmFuture, ClientThread, require
from arm_tasks.ros.client.kinematics import KinematicsVerbs
from arm_tasks.ros.client.task_goal import (
    ANSWER,
    MOVE,
    TASK,
    XYZ,
    OnProgress,
    TaskGoal,
    TaskServerClient,
    file_messages,
    number_of,
    numbers_of,
    pose_keys,
    task_text,
)
from arm_tasks.task.sending import files_of
from arm_tasks.task.steps import Orientation

_TRIGGERS = {
    "stop": "arm_hardware/stop",
    "reset": "arm_hardware/reset",
    "pause": "task_server/pause",
    "resume": "task_server/resume",
    "step": "task_server/step",
}


class AsyncArm(KinematicsVerbs):
    """The verbs of `Arm` without waiting.

    The `timeout` [s] of a verb limits `ArmFuture.wait()` and thus the verb of `Arm`.
    """

    def __init__(self, thread: ClientThread, names: PrefixedNames) -> None:
        super().__init__(thread, names)
        node = thread.node
        self._server = TaskServerClient(node)
        self._check = ServiceClient(node, CheckTask, "check_task")
        self._triggers = {
            name: ServiceClient(node, Trigger, service, service_qos(name))
            for name, service in _TRIGGERS.items()
        }

    # -- motions ------------------------------------------------------------------------------

    def move_joints(
        self, joints: Mapping[str, float], speed: float | None = None, timeout: float = MOVE
    ) -> ArmFuture[RunTask.Result]:
        """Move some joints; the others stay.

        Args:
            joints: Positions by name [rad or m].
            speed: Fraction of the speed limits, above 0 to 1; 0.5 if None.
            timeout: Longest time to wait [s].

        Raises:
            ArmError: The motion was rejected or failed; the text gives the reason.
        """
        positions = numbers_of(joints, "the position")
        return self._step("move_joints", timeout, joints=positions, speed=speed)

    def move_posture(
        self, posture: str, speed: float | None = None, timeout: float = MOVE
    ) -> ArmFuture[RunTask.Result]:
        """Move to a posture of the robot file, such as "rest"; the jaws stay as they are."""
        return self._step("move_posture", timeout, posture=posture, speed=speed)

    def move_pose(
        self,
        xyz: XYZ,
        rpy: XYZ | None = None,
        frame: str = "base_link",
        orientation: Orientation | None = None,
        speed: float | None = None,
        timeout: float = MOVE,
    ) -> ArmFuture[RunTask.Result]:
        """Move the tool to a pose by the shortest joint motion.

        Args:
            xyz: Position of the tool in the frame [m].
            rpy: Roll, pitch and yaw in the frame [rad]; None allows any orientation.
            frame: A frame of the scene, "base_link", or "tool0" for relative motions.
            orientation: "axis" leaves the roll about the tool's z free.
            speed: As for move_joints().
            timeout: As for move_joints().
        """
        target = pose_keys(xyz, rpy, frame, orientation)
        return self._step("move_pose", timeout, **target, speed=speed)

    def move_linear(
        self,
        xyz: XYZ,
        rpy: XYZ | None = None,
        frame: str = "base_link",
        orientation: Orientation | None = None,
        speed: float | None = None,
        timeout: float = MOVE,
    ) -> ArmFuture[RunTask.Result]:
        """Move the tool to a pose along a straight line; arguments as for move_pose()."""
        target = pose_keys(xyz, rpy, frame, orientation)
        return self._step("move_linear", timeout, **target, speed=speed)

    def grip(self, width: float, timeout: float = MOVE) -> ArmFuture[RunTask.Result]:
        """Bring the jaws to a width [m]."""
        return self._step("grip", timeout, width=number_of(width, "the width"))

    def run_task(
        self,
        task: str,
        scene: str = "",
        *,
        dry_run: bool = False,
        start_step: int | str = "",
        on_progress: OnProgress | None = None,
        timeout: float = TASK,
    ) -> ArmFuture[RunTask.Result]:
        """Run a task.

        Args:
            task: Shipped name, or path of a task file, which is sent with all files that it names.
            scene: Shipped name or path; "" selects the scene of the task server.
            dry_run: Only check the task.
            start_step: Number of the first step to run, as in the task file, from 1; "3.2" for
                the second part of step 3.
            on_progress: Called with each feedback in the arm's own thread; it must not wait for
                the arm.
            timeout: As for move_joints().

        Raises:
            ArmError: At once, if a file that the task names is not what the task uses it as.
        """
        goal = {"scene": scene, "dry_run": dry_run, "start_step": str(start_step)}
        files = _files(task, scene)
        return self._run(task, timeout, on_progress, files=files, **goal)

    # -- queries ------------------------------------------------------------------------------

    def check_task(
        self, task: str, scene: str = "", timeout: float = MOVE
    ) -> ArmFuture[CheckTask.Response]:
        """Check a task; the response names each problem and its remedies."""
        files = _files(task, scene)
        request = CheckTask.Request(task=task, scene=scene, files=files)
        what = f"check_task {task}"
        return self._thread.start(what, self._check_task, what, request, timeout=timeout)

    # -- stops --------------------------------------------------------------------------------

    def stop(self, timeout: float = ANSWER) -> ArmFuture[str]:
        """Stop all motion at once; the stop is latched until reset()."""
        return self.trigger("stop", timeout)

    def reset(self, timeout: float = ANSWER) -> ArmFuture[str]:
        """Allow motions again after stop(); the reset itself moves nothing."""
        return self.trigger("reset", timeout)

    def pause(self, timeout: float = ANSWER) -> ArmFuture[str]:
        """Pause the running task; the arm holds its position."""
        return self.trigger("pause", timeout)

    def resume(self, timeout: float = ANSWER) -> ArmFuture[str]:
        """Resume the task after pause()."""
        return self.trigger("resume", timeout)

    def trigger(
        self, name: Literal["stop", "reset", "pause", "resume", "step"], timeout: float = ANSWER
    ) -> ArmFuture[str]:
        """Call one of the services without arguments; the result is its message."""
        return self.call(self._triggers[name], name, timeout)

    def call(
        self, client: ServiceClient, what: str, timeout: float = ANSWER, **fields: Any
    ) -> ArmFuture[str]:
        """Call a service; return its message, or fail with ArmError if it has no success."""
        request = client.kind.Request(**fields)
        return self._thread.start(what, self._call, client, request, what, timeout=timeout)

    @property
    def missing(self) -> str:
        """The first of the arm's servers that is not available, or ""."""
        if not self._server.action.server_is_ready():
            return "the task server"
        if not self._kinematics.solve_ik.is_ready:
            return "the kinematics node"
        return "" if self._triggers["stop"].is_ready else "the servo driver"

    # -- coroutines, run by the executor thread -----------------------------------------------

    def _step(self, kind: str, timeout: float, **keys: Any) -> ArmFuture[RunTask.Result]:
        return self._run(kind, timeout, text=task_text(kind, **keys))

    def _run(
        self, task: str, timeout: float, on_progress: OnProgress | None = None, **fields: Any
    ) -> ArmFuture[RunTask.Result]:
        goal = TaskGoal(self._thread, self._server, on_progress)
        message = RunTask.Goal(task=task, **fields)
        return self._thread.start(
            task, self._done, goal, message, timeout=timeout, cancel=goal.cancel
        )

    async def _done(self, goal: TaskGoal, message: RunTask.Goal) -> RunTask.Result:
        result = await goal.run(message)
        if result.status != RunTask.Result.SUCCESS:
            raise ArmError(result.message, result)
        return result

    async def _check_task(self, what: str, request: CheckTask.Request) -> Any:
        await self._thread.until(lambda: self._check.is_ready, SERVER_TIMEOUT, "the task server")
        return await self._server.answer(self._check.call_async(request), what)

    async def _call(self, client: ServiceClient, request: Any, what: str) -> str:
        response = await self._thread.call(client, request)
        require(response.success, what, response)
        return str(response.message)


def _files(task: str, scene: str) -> list[TextFile]:
    try:
        return file_messages(files_of(task, scene))
    except InputError as error:
        raise ArmError(str(error)) from None
