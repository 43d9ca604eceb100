# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The verbs of an arm, each of which returns an `ArmFuture` at once."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, Literal

from arm_common.errors import InputError
from arm_common.ros.message_conversions import pose_matrix
from arm_common.ros.names import PrefixedNames
from arm_common.ros.qos import CALLS, service_qos
from arm_common.transforms import Array
from arm_kinematics.ros.client import KinematicsClient
from numpy.typing import ArrayLike
from std_srvs.srv import Trigger

from arm_interfaces.action import RunTask
from arm_interfaces.msg import TextFile
from arm_interfaces.srv import CheckTask, SolveDynamics, SolveFK, SolveIK, SolveIKBatch
from arm_tasks.ros.client.future import ArmError, ArmFuture, ClientThread
from arm_tasks.ros.client.kinematics import (
    DynamicsAnswer,
    IkAnswer,
    IkBatchAnswer,
    IkBatchCanceler,
    dynamics_answer,
    dynamics_request,
    ik_batch_answer,
    ik_batch_request,
    ik_request,
)
from arm_tasks.ros.client.task_goal import (
    SERVER_TIMEOUT,
    XYZ,
    OnProgress,
    TaskGoal,
    TaskServerClient,
    number_of,
    numbers_of,
    pose_keys,
    task_text,
)
from arm_tasks.ros.task_messages import file_messages
from arm_tasks.task.sending import files_of
from arm_tasks.task.steps import Orientation

MOVE, TASK, ANSWER = 120.0, 3600.0, 15.0  # [s], default time-outs
ROBOT_TIMEOUT = 5.0  # [s], for a kinematics node that has just started to receive the robot
_RETRY_PERIOD = 0.1  # [s]
_TRIGGERS = {
    "stop": "arm_hardware/stop",
    "reset": "arm_hardware/reset",
    "pause": "task_server/pause",
    "resume": "task_server/resume",
    "step": "task_server/step",
}


class AsyncArm:
    """The verbs of `Arm` without waiting.

    The `timeout` [s] of a verb limits `ArmFuture.wait()` and thus the verb of `Arm`.
    """

    def __init__(self, thread: ClientThread, names: PrefixedNames) -> None:
        node = thread.node
        self._names = names
        self._thread = thread
        self._server = TaskServerClient(node)
        self._check = node.create_client(CheckTask, "check_task", qos_profile=CALLS)
        self._kinematics = KinematicsClient(node)
        self._triggers = {
            name: node.create_client(Trigger, service, qos_profile=service_qos(name))
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

    def ik(
        self,
        xyz: XYZ,
        rpy: XYZ | None = None,
        frame: str = "",
        seed: Mapping[str, float] | None = None,
        timeout: float = ANSWER,
        prefer: str = "nearest",
    ) -> ArmFuture[IkAnswer]:
        """Solve inverse kinematics; an answer without a solution is falsy and has the reason.

        Args:
            xyz: Target position of the tool [m].
            rpy: Roll, pitch and yaw [rad]; None allows any orientation.
            frame: Any frame of tf; "" is the base.
            seed: Joint positions to stay close to; the current ones if None.
            timeout: Longest time to wait [s].
            prefer: "nearest" to the seed, "centred" in the joint ranges, or the least "torque".
        """
        request = ik_request(xyz, rpy, frame, prefer)
        self._set_joints(request.seed, seed)
        return self._thread.start("ik", self._ik, request, timeout=timeout)

    def ik_batch(
        self,
        targets: ArrayLike,
        frame: str = "",
        seeds: Mapping[str, ArrayLike] | None = None,
        timeout: float = MOVE,
        prefer: str = "nearest",
    ) -> ArmFuture[IkBatchAnswer]:
        """Solve inverse kinematics for many targets at once, as fast as the solver.

        Args:
            targets: Positions (m, 3) [m], with any orientation, or poses (m, 4, 4).
            frame: Frame of the targets: any frame of tf; "" is the base.
            seeds: By joint, the position to stay close to, or one for each target (m,); joints
                left out stay close to where they are now.
            timeout: Longest time to compute [s]; targets that are left have the status TIMEOUT.
            prefer: As in `ik`.

        Raises:
            ArmError: The targets, seeds or frame are not usable, or the batch was cancelled.
        """
        request = ik_batch_request(targets, frame, seeds or {}, timeout, self._names, prefer)
        canceler = IkBatchCanceler(self._thread, self._kinematics.cancel_ik_batch, request)
        return self._thread.start(
            "ik_batch",
            self._ik_batch,
            request,
            canceler,
            timeout=timeout + ANSWER,
            cancel=canceler.cancel,
        )

    def fk(
        self,
        joints: Mapping[str, float] | None = None,
        link: str = "",
        frame: str = "",
        timeout: float = ANSWER,
    ) -> ArmFuture[Array]:
        """Compute frame <- link (4, 4) [m] for joint positions, the current ones if None."""
        request = SolveFK.Request(links=[link] if link else [], reference_frame=frame)
        self._set_joints(request.joint_state, joints)
        return self._thread.start("fk", self._fk, request, timeout=timeout)

    def dynamics(
        self,
        joints: Mapping[str, float] | None = None,
        velocities: Mapping[str, float] | None = None,
        accelerations: Mapping[str, float] | None = None,
        payload: float = 0.0,
        timeout: float = ANSWER,
    ) -> ArmFuture[DynamicsAnswer]:
        """Compute the torques of a motion, or at rest; positions left out are the current ones.

        Args:
            joints: Positions by name [rad or m].
            velocities: Speeds by name [rad/s or m/s], of joints that are in `joints`.
            accelerations: Likewise [rad/s^2 or m/s^2].
            payload: Mass carried at the tool [kg].
            timeout: Longest time to wait [s].

        Raises:
            ArmError: An argument is not usable, or the robot description has no masses.
        """
        request = dynamics_request(joints or {}, velocities or {}, accelerations or {}, payload)
        self._set_joints(request.joint_state, joints)
        return self._thread.start("dynamics", self._dynamics, request, timeout=timeout)

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
        return self._thread.start(name, self._trigger, name, timeout=timeout)

    def call(self, client: Any, request: Any, what: str) -> ArmFuture[Any]:
        """Call a service whose response has `success` and `message`.

        Without success the future fails with ArmError.
        """
        return self._thread.start(what, self._checked, client, request, what, timeout=ANSWER)

    @property
    def missing(self) -> str:
        """The first of the arm's servers that is not available, or ""."""
        if not self._server.action.server_is_ready():
            return "the task server"
        if not self._kinematics.solve_ik.is_ready:
            return "the kinematics node"
        return "" if self._triggers["stop"].service_is_ready() else "the servo driver"

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

    async def _call(self, client: Any, request: Any) -> Any:
        what = f"a server of {client.srv_name}"
        await self._thread.until(client.service_is_ready, SERVER_TIMEOUT, what)
        return await client.call_async(request)

    async def _check_task(self, what: str, request: CheckTask.Request) -> Any:
        await self._thread.until(self._check.service_is_ready, SERVER_TIMEOUT, "the task server")
        return await self._server.answer(self._thread, self._check.call_async(request), what)

    async def _trigger(self, name: str) -> str:
        response = await self._checked(self._triggers[name], Trigger.Request(), name)
        return str(response.message)

    async def _checked(self, client: Any, request: Any, what: str) -> Any:
        response = await self._call(client, request)
        if not response.success:
            raise ArmError(f"{what}: {response.message}", response)
        return response

    async def _solve(self, caller: Any, request: Any) -> Any:
        """Call the kinematics node; retry while it has not received the robot yet."""
        await self._thread.until(lambda: caller.is_ready, SERVER_TIMEOUT, "the kinematics node")
        end = time.monotonic() + ROBOT_TIMEOUT
        while True:
            response = await caller.call_async(request)
            now = time.monotonic()
            if response.status != SolveFK.Response.NOT_READY or now > end:
                return response
            await self._thread.sleep(_RETRY_PERIOD)

    async def _ik(self, request: SolveIK.Request) -> IkAnswer:
        response = await self._solve(self._kinematics.solve_ik, request)
        joints, errors = {}, (math.inf, math.inf)
        if response.solutions:
            best = response.solutions[0]
            joints = self._names.own(best.joint_state.name, best.joint_state.position)
            errors = best.position_error, best.orientation_error
        limiting = tuple(map(self._names.remove, response.limiting_joints))
        return IkAnswer(response.status, response.message, joints, *errors, limiting)

    async def _ik_batch(
        self, request: SolveIKBatch.Request, canceler: IkBatchCanceler
    ) -> IkBatchAnswer:
        try:
            response = await self._solve(self._kinematics.solve_ik_batch, request)
        finally:
            canceler.is_over = True
        return ik_batch_answer(response, self._names)

    async def _fk(self, request: SolveFK.Request) -> Array:
        response = await self._solve(self._kinematics.solve_fk, request)
        if response.status != SolveFK.Response.SUCCESS:
            raise ArmError(f"fk: {response.message}", response)
        return pose_matrix(response.poses[0].pose)

    async def _dynamics(self, request: SolveDynamics.Request) -> DynamicsAnswer:
        response = await self._solve(self._kinematics.solve_dynamics, request)
        return dynamics_answer(response, self._names)

    def _set_joints(self, state: Any, joints: Mapping[str, float] | None) -> None:
        state.name = self._names.add_all(joints or {})
        state.position = list(numbers_of(joints or {}, "the position").values())


def _files(task: str, scene: str) -> list[TextFile]:
    try:
        return file_messages(files_of(task, scene))
    except InputError as error:
        raise ArmError(str(error)) from None
