# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The task server: checks a whole task, then runs it step by step through the servo driver."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from arm_description.node_main import described, run_node
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import String

from arm_description import DescriptionError, load_robot
from arm_interfaces.action import RunTask
from arm_interfaces.srv import CheckTask
from arm_kinematics import Chain
from arm_tasks.errors import TasksError
from arm_tasks.plan import Plan
from arm_tasks.planner import plan_task
from arm_tasks.preflight import Preflight, preflight
from arm_tasks.ros_arm_port import RosArmPort
from arm_tasks.ros_arm_state import ArmState
from arm_tasks.ros_conversions import LATCHED
from arm_tasks.ros_plan import fill_check, fill_plan, fill_result
from arm_tasks.ros_readiness import Readiness
from arm_tasks.scene import load_scene
from arm_tasks.scene_node import SceneNode
from arm_tasks.task_file import load_task, task_from_text
from arm_tasks.task_run import TaskRun, check_start

DEFAULT_TASK = "nut_transfer"


class TaskServer(Node):
    """Checks and runs tasks, one at a time.

    Parameters:
        robot: shipped name or path of the robot's YAML file.
        scene: shipped name or path of the scene, for goals that name none.

    Actions:
        run_task; feedback with steps_total 0 says what is waited for before anything is planned.

    Services:
        check_task.

    Publishers:
        task_text: what the task is doing, one line, latched.
    """

    def __init__(self) -> None:
        super().__init__("task_server")
        robot = self.declare_parameter("robot", "nut_arm", described("Robot, name or path."))
        scene = self.declare_parameter("scene", DEFAULT_TASK, described("Scene, name or path."))
        self.model = load_robot(str(robot.value))
        self.chain = Chain.from_model(self.model)
        self.scene_name = str(scene.value)
        self.scene = load_scene(self.scene_name)
        self.state = ArmState(self, self.model)
        self.port = RosArmPort(self, self.state)
        self._readiness = Readiness(self, self.state, self.port)
        self._busy = ""
        self._wake = self.create_guard_condition(lambda: None)
        self._text = self.create_publisher(String, "task_text", LATCHED)
        self.create_service(CheckTask, "check_task", self._on_check)
        self._server = ActionServer(
            self,
            RunTask,
            "run_task",
            self._execute,
            goal_callback=lambda _: GoalResponse.ACCEPT,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )

    def say(self, text: str) -> None:
        """Publish what the task is doing."""
        self._text.publish(String(data=text))

    # -- checking -----------------------------------------------------------------------------

    async def _on_check(
        self, request: CheckTask.Request, response: CheckTask.Response
    ) -> CheckTask.Response:
        """Answer check_task."""
        try:
            start = dict(self.state.positions)
            names, positions = request.start.name, request.start.position
            if len(names) != len(positions):
                raise TasksError(
                    f"start has {len(names)} names and {len(positions)} positions; give as many"
                )
            start.update(zip(names, positions, strict=True))
            found = await self._plan(request, start, preflight)
        except (TasksError, DescriptionError) as error:
            response.message = str(error)
            return response
        return fill_check(response, found)

    def _plan(
        self,
        request: CheckTask.Request | RunTask.Goal,
        start: dict[str, float],
        make: Callable[..., Plan | Preflight] = plan_task,
    ) -> Future:
        """Return the future plan; the work is done on a thread, so that the node goes on."""

        def work() -> Plan | Preflight:
            chosen = load_scene(request.scene) if request.scene else self.scene
            name = request.task or DEFAULT_TASK
            wanted = task_from_text(request.text, name) if request.text else load_task(name)
            return make(wanted, chosen, self.model, self.chain, start, self.state.width)

        return self._in_background(work)

    def _in_background(self, work: Callable[[], Any]) -> Future:
        """Return a future that a thread of its own completes."""
        future = Future(executor=self.executor)

        def run() -> None:
            try:
                future.set_result(work())
            except Exception as error:  # noqa: BLE001 - raised again where it is awaited
                future.set_exception(error)
            self._wake.trigger()

        threading.Thread(target=run, daemon=True).start()
        return future

    # -- running ------------------------------------------------------------------------------

    async def _execute(self, handle: Any) -> RunTask.Result:
        """Carry out one goal of run_task."""
        goal, result = handle.request, RunTask.Result()
        refusal = await self._in_background(lambda: self._wait_ready(handle))
        refusal = self._busy_with() or refusal
        if handle.is_cancel_requested:
            why = "canceled before anything moved"
            return self._refuse(handle, result, RunTask.Result.CANCELED, why)
        if refusal:
            return self._refuse(handle, result, RunTask.Result.NOT_READY, refusal)
        self._busy = goal.task or DEFAULT_TASK
        try:
            self.say(f"checking {self._busy}")
            plan = await self._plan(goal, dict(self.state.positions))
            return await self._run(handle, result, plan)
        except (TasksError, DescriptionError) as error:
            return self._refuse(handle, result, RunTask.Result.BAD_REQUEST, str(error))
        finally:
            self._busy = ""

    def _wait_ready(self, handle: Any) -> str:
        """Give the driver time to come up; return why the goal cannot be taken up, or ""."""

        def tell(why: str) -> None:
            self.say(f"waiting: {why}")
            handle.publish_feedback(RunTask.Feedback(message=f"Waiting: {why}"))

        def give_up() -> bool:
            return bool(self._busy or handle.is_cancel_requested)

        return self._readiness.wait(bool(handle.request.dry_run), give_up, tell)

    def _busy_with(self) -> str:
        """Return which task is in the way, or ""."""
        return f"busy with {self._busy}; cancel it first" if self._busy else ""

    async def _run(self, handle: Any, result: RunTask.Result, plan: Plan) -> RunTask.Result:
        """Run a plan to its end, if it may be run."""
        goal = handle.request
        fill_plan(result, plan)
        if not plan.feasible:
            return self._refuse(handle, result, RunTask.Result.NOT_FEASIBLE, plan.message)
        check_start(plan, int(goal.start_step), self.state.positions)
        if goal.scene and goal.scene != self.scene_name:
            shown = f"planned in scene {goal.scene}, while {self.scene_name} is the one shown"
            result.warnings = [*result.warnings, shown]
        if goal.dry_run:
            self.say(plan.message)
            result.status, result.message = RunTask.Result.SUCCESS, plan.message
            handle.succeed()
            return result
        run = TaskRun(self, handle, plan, int(goal.start_step))
        outcome = await run.finished
        fill_result(result, outcome)
        self.say(outcome.message)
        ends = {RunTask.Result.SUCCESS: handle.succeed, RunTask.Result.CANCELED: handle.canceled}
        ends.get(result.status, handle.abort)()
        return result

    def _refuse(
        self, handle: Any, result: RunTask.Result, status: int, why: str
    ) -> RunTask.Result:
        """End a goal before anything has moved."""
        self.get_logger().warning(why)  # type: ignore[no-untyped-call]
        if not self._busy or status != RunTask.Result.NOT_READY:
            self.say(why)
        result.status, result.message = status, why
        handle.canceled() if status == RunTask.Result.CANCELED else handle.abort()
        return result


def main() -> int:
    """Run the task server and the scene's publisher until told to end."""

    def make() -> list[Node]:
        server = TaskServer()
        return [server, SceneNode(server.scene)]

    return run_node(make, (TasksError, DescriptionError))
