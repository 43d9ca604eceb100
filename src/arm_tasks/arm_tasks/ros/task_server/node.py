# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The task server: checks a whole task, then runs it step by step through the servo driver.

One plan being run: a timer and the ends of motions tick the engine, and feedback is sent.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from arm_common.ros.executor import PolledSubscriptions
from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare, parameter
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

from arm_description import DescriptionError, load_robot
from arm_interfaces.action import RunTask
from arm_interfaces.msg import TaskState
from arm_interfaces.srv import CheckTask
from arm_kinematics import Chain
from arm_tasks.errors import TasksError
from arm_tasks.execution.engine import Engine
from arm_tasks.execution.outcome import EngineState, Feedback
from arm_tasks.planning.feasibility import check_feasibility
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.planning.planner import plan_task
from arm_tasks.ros.driver_client import ArmState, DriverClient, Readiness
from arm_tasks.ros.scene_publisher import SceneNode
from arm_tasks.ros.task_server.monitors import NodeLivenessMonitor, NutStateChecker, WorldObserver
from arm_tasks.ros.task_server.planning import (
    Planning,
    fill_check,
    fill_plan,
    fill_result,
    start_of_check,
)
from arm_tasks.ros.task_server.task_controls import STATES, TaskControls
from arm_tasks.ros.task_server.teaching import Teaching, Touching
from arm_tasks.task.request import DEFAULT_TASK

TICK = 0.05  # s on the wall; the end of a motion is dealt with at once
SIMULATED_TICK = 0.02  # s on the wall, where simulated time may run fast
FEEDBACK_PERIOD = 0.1  # s on the wall; feedback is sent when a step begins, too


class TaskExecution:
    """Runs a feasible plan, once begin() is called.

    Args:
        server: The node.
        handle: The goal.
        plan: What to do.

    Attributes:
        finished: Future of the engine's Outcome.

    Raises:
        PlanError: There is no step to start at as the goal wants it, or the arm stands elsewhere.
    """

    def __init__(self, server: TaskServer, handle: Any, plan: TaskPlan) -> None:
        self._server = server
        self._handle = handle
        simulated = server.get_parameter("use_sim_time").value
        self._period = SIMULATED_TICK if simulated else TICK
        self._ticks = self._feedback_due = 0
        self._told: tuple[EngineState, int] | None = None
        self.finished: Future = Future(executor=server.executor)
        self.engine = Engine(
            plan,
            server.port,
            int(handle.request.start_step),
            self._now,
            self._on_feedback,
            wall=time.monotonic,
            paused=bool(handle.request.single_step),
            observe=server.senses,
        )

    def begin(self) -> None:
        """Begin to move."""
        self._server.companions.expect()
        self._server.controls.engine = self.engine
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self._server.create_timer(self._period, self._tick, clock=steady)
        self._server.port.on_end = self._work

    def _now(self) -> float:
        """The node's time [s], which is simulated where the arm is."""
        return float(self._server.get_clock().now().nanoseconds) * 1e-9

    def _tick(self) -> None:
        """Hear what there is to hear, and work."""
        self._ticks += 1
        self._server.state.hear()
        self._work()

    def _work(self) -> None:
        """Do what is due; end when the engine has an outcome."""
        server, engine = self._server, self.engine
        if lost := server.state.lost():
            engine.give_up(lost)
        if gone := server.companions.lost():
            engine.abort(gone)
        if self._handle.is_cancel_requested or server.controls.stop_wanted:
            engine.cancel()
        if engine.tick().done:
            server.port.on_end = lambda: None
            server.destroy_timer(self._timer)
            self.finished.set_result(engine.outcome)

    def _on_feedback(self, told: Feedback) -> None:
        """Send the feedback of what is new, and now and then."""
        new = (told.state, told.step) != self._told
        if not new and self._ticks < self._feedback_due:
            return
        self._told = (told.state, told.step)
        self._feedback_due = self._ticks + round(FEEDBACK_PERIOD / self._period)
        self._server.controls.tell(told)
        message = RunTask.Feedback(
            state=STATES[told.state],
            step=told.step,
            steps_total=told.steps_total,
            name=told.name,
            progress=float(told.progress),
            message=told.message,
        )
        self._handle.publish_feedback(message)


RESULT = RunTask.Result
NAP = 0.02  # [s]: steps take longer than that
HEAR = 0.2  # [s]: so often joint_states, nut and tf are heard of at rest


@dataclass(frozen=True)
class TaskServerParameters:
    """Parameters of the node."""

    robot: str = parameter("nut_arm", "Robot, name or path.")
    scene: str = parameter(DEFAULT_TASK, "Scene of goals that name none, name or path.")


class TaskServer(Node):
    """Checks and runs tasks, one at a time.

    Actions:
        run_task; feedback with steps_total 0 says what is waited for before anything is planned.

    Services:
        check_task; those of TaskControls, Teaching, Touching.

    Publishers:
        those of TaskControls.
    """

    def __init__(self) -> None:
        super().__init__("task_server")
        given = declare(self, TaskServerParameters)
        self.model = load_robot(given.robot)
        self.chain = Chain.from_model(self.model)
        self.planning = Planning(self, self.model, self.chain, given.scene)
        waiting = PolledSubscriptions()
        self.state = ArmState(self, self.model, waiting)
        self.port = DriverClient(self, self.state)
        self.senses = WorldObserver(self, self.state, waiting)
        self.companions = NodeLivenessMonitor(self, self.model, waiting)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(HEAR, waiting.take, clock=steady)
        self._nut = NutStateChecker(self.senses, self.planning, self.port, self.chain)
        self._readiness = Readiness(self, self.state, self.port)
        self._busy = ""
        self.touching: Touching | None = None
        self.controls = TaskControls(self)
        apart = ReentrantCallbackGroup()  # a check goes on beside the task that runs
        self.create_service(CheckTask, "check_task", self._on_check, callback_group=apart)
        self._server = ActionServer(
            self,
            RunTask,
            "run_task",
            self._execute,
            goal_callback=lambda _: GoalResponse.ACCEPT,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )

    async def _on_check(
        self, request: CheckTask.Request, response: CheckTask.Response
    ) -> CheckTask.Response:
        """Answer check_task."""
        names, positions = request.start.name, request.start.position
        if len(names) != len(positions):
            what = f"start has {len(names)} names and {len(positions)} positions; give as many"
            response.message = what
            return response
        try:
            start = start_of_check(request, self.port.configuration())
            found = await self.planning.plan(request, start, check_feasibility)
        except (TasksError, DescriptionError) as error:
            response.message = str(error)
            return response
        return fill_check(response, found)

    async def _execute(self, handle: Any) -> RunTask.Result:
        """Carry out one goal of run_task."""
        goal, result = handle.request, RESULT()
        name = goal.task or DEFAULT_TASK
        if not self._busy:
            self.controls.begin(name)
        why = await self.planning.in_background(lambda: self._wait_ready(handle))
        if handle.is_cancel_requested or (self.controls.stop_wanted and not self._busy):
            return self._refuse(handle, result, RESULT.CANCELED, "canceled before anything moved")
        if self._busy or why:
            busy = f"busy with {self._busy}; cancel it first"
            return self._refuse(handle, result, RESULT.NOT_READY, busy if self._busy else why)
        self._busy = name
        try:
            start = self.planning.start_of(goal, self.port.configuration())
            plan = await self.planning.plan(goal, start, plan_task)
            return await self._run(handle, result, plan)
        except (TasksError, DescriptionError) as error:
            self._busy = ""
            return self._refuse(handle, result, RESULT.BAD_REQUEST, str(error))
        finally:
            self._busy = ""

    def _wait_ready(self, handle: Any) -> str:
        """Give the driver time to come up; return why the goal cannot be taken up, or ""."""

        def tell(why: str) -> None:
            self.controls.say(f"waiting: {why}")
            waiting = RunTask.Feedback(state=TaskState.CHECKING, message=f"Waiting: {why}")
            handle.publish_feedback(waiting)

        def give_up() -> bool:
            return bool(self._busy or handle.is_cancel_requested or self.controls.stop_wanted)

        return self._readiness.wait(bool(handle.request.dry_run), give_up, tell)

    async def _run(self, handle: Any, result: RunTask.Result, plan: TaskPlan) -> RunTask.Result:
        """Run a plan to its end, if it may be run."""
        goal = handle.request
        fill_plan(result, plan)
        if not plan.feasible:
            self._busy = ""
            return self._refuse(handle, result, RESULT.NOT_FEASIBLE, plan.message)
        run = TaskExecution(self, handle, plan)
        if goal.start_step:
            unknown = await self._nut.check(plan, int(goal.start_step))
            result.warnings = [*result.warnings, *unknown]
        shown = self.planning.scene_name
        if goal.scene and goal.scene != shown:
            what = f"planned in scene {goal.scene}, while {shown} is the one shown"
            result.warnings = [*result.warnings, what]
        if goal.dry_run:
            result.status, result.message = RESULT.SUCCESS, plan.message
        else:
            run.begin()
            outcome = await run.finished
            fill_result(result, outcome)
            if result.can_resume and not self.state.lost():
                result.safe_state = await self._nut.safe_state(plan, outcome.steps_done)
        self._busy = ""
        self._end(handle, result)
        return result

    def _end(self, handle: Any, result: RunTask.Result) -> None:
        """End a goal in the way that its result says."""
        if not self._busy:
            self.controls.end(result.message)
        if result.status == RESULT.SUCCESS:
            handle.succeed()
        elif result.status == RESULT.CANCELED and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()

    def _refuse(
        self, handle: Any, result: RunTask.Result, status: int, why: str
    ) -> RunTask.Result:
        """End a goal before anything has moved; another one, if there is, goes on."""
        self.get_logger().warning(why)  # type: ignore[no-untyped-call]
        result.status, result.message = status, why
        self._end(handle, result)
        return result


def main() -> int:
    """Run the task server and the scene's publisher until told to end."""

    def make() -> list[Node]:
        server = TaskServer()
        shown = SceneNode(server.planning.scene)
        server.planning.teaching = Teaching(server)
        server.touching = Touching(server, shown.show)
        return [server, shown]

    return run_node(make, (TasksError,), NAP)
