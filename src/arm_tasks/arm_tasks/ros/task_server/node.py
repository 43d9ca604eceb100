# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The task server: checks a whole task, then runs it step by step through the servo driver."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from arm_common.errors import InputError, one_line
from arm_common.files.requests import RestrictedFiles, folders_in
from arm_common.plugins import PluginGroup
from arm_common.ros.actions.server import CLIENT_LOST, GoalOwner, GoalOwners, action_server
from arm_common.ros.executor import PolledSubscriptions
from arm_common.ros.failures import report_failure
from arm_common.ros.names import prefix_parameter
from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import CALLS, STEADY_CLOCK
from arm_description.library import DEFAULT_ROBOT, load_robot
from arm_description.trajectories.trajectory import shipped_trajectories
from arm_hardware.calibration.axes import GOAL_TOLERANCE
from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from arm_interfaces.action import RunTask
from arm_interfaces.msg import TaskState
from arm_interfaces.srv import CheckTask
from arm_kinematics import Chain
from arm_tasks.errors import SceneError, TasksError, resolve, shipped
from arm_tasks.execution.ports import OtherNodes
from arm_tasks.planning.plan import FIRST_STEP, TaskPlan
from arm_tasks.ros.driver_client import DriverClient
from arm_tasks.ros.scene_publisher import SceneFollower, SceneNode
from arm_tasks.ros.task_messages import fill_check, fill_outcome, fill_plan
from arm_tasks.ros.task_server.execution import ExecutionContext, TaskControls, TaskExecution
from arm_tasks.ros.task_server.monitors import (
    NodeLivenessMonitor,
    NutStateChecker,
    Readiness,
    WorldObserver,
)
from arm_tasks.ros.task_server.planning import Planning, prepare_planning
from arm_tasks.ros.task_server.teaching import RestingArm, Teaching, serve_touching
from arm_tasks.scene.file import DEFAULT_SCENE
from arm_tasks.scene.scene import BASE_FRAME, Scene
from arm_tasks.task.parser import DEFAULT_TASK
from arm_tasks.task.request import PREFERENCES, TorqueLimits

OTHER_NODES = PluginGroup(
    "arm_tasks.other_nodes",
    "connection to other nodes",
    {"graph": "arm_tasks.ros.task_server.other_nodes:NodeConnections"},
)
"""What watches and commands other nodes: loaded for the first plan with such a step."""

RESULT = RunTask.Result
_BATCH_DELAY = 0.02  # [s], shorter than any step
_IDLE_POLL_PERIOD = 0.5  # [s]
_CANCELED = "canceled before anything moved"
CONTACTS = "ground_truth/contacts"  # published where the world is one of contact physics


@dataclass(frozen=True)
class TaskServerParameters:
    """Parameters of the node."""

    robot: str = parameter(DEFAULT_ROBOT, "Robot, name or path.")
    prefix: str = prefix_parameter()
    scene: str = parameter(DEFAULT_SCENE, "Scene of goals that name none, name or path.")
    poses: str = parameter("taught_poses.yaml", "File of taught poses.")
    paths: str = parameter("taught_paths", "Folder of recorded paths.")
    task_path: str = parameter(
        "",
        "Folders, separated by colons, whose files a request may name by path; no others but "
        "shipped ones, scene, poses and paths. A client sends its own files with the request.",
    )
    planning_timeout: float = parameter(
        300.0, "Time that planning or checking a task may take [s].", low=1.0, high=86400.0
    )
    client_timeout: float = parameter(
        2.0,
        "Time without an acknowledgement from a task's client that ends the task in hold, 0 for "
        "never [s].",
        low=0.0,
        high=60.0,
    )
    torque_warning: float = parameter(
        0.6, "Fraction of a servo's torque above which a plan has a warning.", low=0.01, high=100.0
    )
    torque_limit: float = parameter(
        1.0, "Fraction of a servo's torque above which a step is refused.", low=0.01, high=100.0
    )
    goal_tolerance: float = parameter(
        GOAL_TOLERANCE["rad"],
        "Largest distance of a revolute joint from the end of a motion, after which the task goes "
        "on, as joint_states show it [rad]; 0: any.",
        low=0.0,
        high=10.0,
    )
    goal_tolerance_linear: float = parameter(
        GOAL_TOLERANCE["m"], "The same of a prismatic joint [m]; 0: any.", low=0.0, high=10.0
    )
    prefer: str = parameter(
        PREFERENCES[0],
        "Of several postures for a target: nearest, or torque (that which loads servos least).",
        choices=PREFERENCES,
    )


def _goal_tolerances(chain: Chain, chosen: TaskServerParameters) -> dict[str, float]:
    """Return the tolerances of the joints other than 0."""
    bounds = {
        name: chosen.goal_tolerance_linear if slides else chosen.goal_tolerance
        for name, slides in zip(chain.joint_names, chain.sliding, strict=True)
    }
    return {name: bound for name, bound in bounds.items() if bound}


class TaskServer(Node):
    """Checks and runs tasks, one at a time.

    Actions:
        run_task; feedback with steps_total 0 has the reason for waiting before there is a plan.

    Services:
        check_task; those of TaskControls and Teaching, teach/touch_bolt.

    Publishers:
        those of TaskControls.

    Attributes:
        scene_node: Publishes the scene; spin it together with this node.
    """

    def __init__(self) -> None:
        super().__init__("task_server")
        chosen = declare(self, TaskServerParameters)
        model = load_robot(chosen.robot)
        chain = Chain.from_model(model)
        polled = PolledSubscriptions()
        tolerances = _goal_tolerances(chain, chosen)
        self._driver = DriverClient(self, model, polled, chosen.prefix, tolerances)
        resting_arm = RestingArm(self._driver, chain)
        self._controls = TaskControls(self)
        poses, paths = Path(chosen.poses), Path(chosen.paths)
        teaching = Teaching(self, model, self._driver, resting_arm, poses, paths, chosen.scene)
        files, timeout = allowed_files(chosen, model.name), chosen.planning_timeout
        torques = TorqueLimits(chosen.torque_warning, chosen.torque_limit)
        self._planning = Planning(
            self,
            model,
            chosen.scene,
            teaching.poses,
            files,
            timeout,
            torques,
            chosen.prefer,
        )
        self._driver.on_model = self._planning.set_model
        self.scene_node = SceneNode(self._planning.scene, chosen.prefix)
        show = self.scene_node.show
        serve_touching(self, model, resting_arm, self._planning, self._controls, show)
        self._resting_arm = resting_arm
        file = resolve(chosen.scene, "scenes", "scene", SceneError)
        SceneFollower(self, file, model.name, self._change_scene, self._keeps_scene)
        link = self._driver.names.add(f"{model.joint_names[0]}_link")
        self._execution = ExecutionContext(
            self,
            self._driver,
            WorldObserver(self, self._driver, polled),
            self._nodes_of,
            NodeLivenessMonitor(self, link, polled),
            self._controls,
        )
        self._nut = NutStateChecker(self._execution.observer, self._planning, self._driver, chain)
        self._readiness = Readiness(self, self._driver)
        self._busy, self._client_timeout = "", chosen.client_timeout
        self._run_now: TaskExecution | None = None
        self._last = RunTask.Goal()  # that was to run
        self._failure = ""  # of a callback during this run
        self.create_timer(_IDLE_POLL_PERIOD, polled.take, clock=STEADY_CLOCK)
        self._serve()

    def on_failed_callback(self, reason: str, error: Exception) -> None:
        """End a running task as failed; the arm holds."""
        del error
        if self._run_now is not None:
            self._failure = self._failure or reason
            self._run_now.fail(reason)

    def _change_scene(self, scene: Scene) -> None:
        self._planning.replace_scene(scene)
        self.scene_node.show(scene)

    def _keeps_scene(self) -> str:
        """Return why the scene must not change now, in a clause, or ""."""
        if self.count_publishers(CONTACTS):  # type: ignore[no-untyped-call]
            return "contact physics keeps the scene that it was started with"
        if self._busy or self._controls.running:
            return "a task is running"
        try:
            self._resting_arm.pose()
        except TasksError as error:
            return str(error)
        return ""

    @cached_property
    def _connections(self) -> Any:
        names = self._driver.names
        return OTHER_NODES.load("graph")(
            self, lambda: names.add(BASE_FRAME), self._planning.extend
        )

    def _nodes_of(self, plan: TaskPlan) -> OtherNodes | None:
        """Return the other nodes for a plan that needs them; raise PlanError if it cannot work."""
        if not plan.needs_other_nodes:
            return None
        self._connections.check(plan)
        nodes: OtherNodes = self._connections
        return nodes

    def _serve(self) -> None:
        """Create the service check_task and the action run_task."""
        group = ReentrantCallbackGroup()  # to handle checks while a task runs
        self.create_service(
            CheckTask, "check_task", self._on_check, callback_group=group, qos_profile=CALLS
        )
        self._owners = GoalOwners(self, RunTask, "run_task", self._client_timeout)
        self._server = action_server(
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
        request.start.name = [self._driver.names.remove(name) for name in request.start.name]
        if unknown := await self._readiness.wait_for_limits():
            response.message = unknown
            return response
        try:
            found = await self._planning.check(request, self._driver.configuration())
            self._nodes_of(found.plan)
        except Exception as error:  # noqa: BLE001
            response.message = self._reason("check_task", error)
            return response
        return fill_check(response, found)

    async def _execute(self, handle: ServerGoalHandle) -> RunTask.Result:
        result = RESULT()
        try:
            with self._owners.watch(handle.goal_id) as owner:
                await self._wait_and_run(handle, result, owner)
        except Exception as error:  # noqa: BLE001
            reason = self._reason("run_task", error)
            if not result.status:
                is_input = isinstance(error, InputError)
                self._reject(result, RESULT.BAD_REQUEST if is_input else RESULT.FAILURE, reason)
        return self._end(handle, result)

    async def _wait_and_run(
        self, handle: ServerGoalHandle, result: RunTask.Result, owner: GoalOwner
    ) -> None:
        name = one_line(handle.request.task or DEFAULT_TASK, 200)
        if not self._busy:
            self._controls.begin(name)
        not_ready = await self._wait_ready(handle, owner)
        if handle.is_cancel_requested or (self._controls.stop_requested and not self._busy):
            self._reject(result, RESULT.CANCELED, _CANCELED)
        elif owner.is_lost():
            self._reject(result, RESULT.CANCELED, CLIENT_LOST)
        elif self._busy:
            self._reject(result, RESULT.NOT_READY, f"busy with {self._busy}; cancel it first")
        elif not_ready:
            self._reject(result, RESULT.NOT_READY, not_ready)
        else:
            self._busy = name
            try:
                await self._run(handle, result, owner)
            finally:
                self._busy = ""

    def _reason(self, what: str, error: Exception) -> str:
        """Return a sentence; report an error that is not the user's."""
        return str(error) if isinstance(error, InputError) else report_failure(self, what, error)

    async def _wait_ready(self, handle: ServerGoalHandle, owner: GoalOwner) -> str:
        """Wait until the driver is ready; return why the goal must be rejected, or ""."""
        controls = self._controls

        def notify(reason: str) -> None:
            controls.publish_message(f"waiting: {reason}")
            waiting = RunTask.Feedback(state=TaskState.CHECKING, message=f"Waiting: {reason}")
            owner.publish_feedback(handle, waiting)

        def canceled() -> bool:
            return bool(self._busy) or self._is_canceled(handle, owner)

        return await self._readiness.wait(bool(handle.request.dry_run), canceled, notify)

    def _is_canceled(self, handle: ServerGoalHandle, owner: GoalOwner) -> bool:
        requested = handle.is_cancel_requested or self._controls.stop_requested
        return bool(requested or owner.is_lost())

    async def _run(
        self, handle: ServerGoalHandle, result: RunTask.Result, owner: GoalOwner
    ) -> None:
        """Plan a goal, run the plan to its end if it is feasible, and fill the result."""
        goal, canceled = self._completed(handle.request), partial(self._is_canceled, handle, owner)
        try:
            plan = await self._planning.plan(goal, self._driver.configuration(), canceled)
        except InputError:
            if not canceled():
                raise
            self._reject(result, RESULT.CANCELED, CLIENT_LOST if owner.is_lost() else _CANCELED)
            return
        fill_plan(result, plan)
        if not plan.feasible:
            self._reject(result, RESULT.NOT_FEASIBLE, plan.message)
            return
        run = TaskExecution(self._execution, handle, plan, owner)
        if goal.start_step:
            result.warnings += await self._nut.check(plan, plan.index_of(goal.start_step))
        elif reason := self._nut.start_problem(plan):
            if not goal.dry_run:
                self._reject(result, RESULT.NOT_FEASIBLE, reason)
                return
            result.warnings += [reason]
        shown = self._planning.scene_name
        if goal.scene and goal.scene != shown:
            result.warnings += [f"planned in scene {goal.scene}, but {shown} is shown"]
        if goal.dry_run:
            result.status, result.message = RESULT.SUCCESS, plan.message
            return
        self._run_now, self._failure = run, ""
        try:
            run.begin()
            finished = await run.finished
        finally:
            self._run_now = None
        if run.plan is not plan:  # a frame was found
            plan, warnings = run.plan, list(result.warnings)
            fill_plan(result, plan)
            result.warnings = list(dict.fromkeys([*warnings, *plan.warnings]))
        outcome = self._nut.outcome(plan, finished)
        fill_outcome(result, outcome, plan)
        if self._failure:
            result.status = RESULT.FAILURE
        if result.can_resume and not self._driver.lost():
            result.safe_state = await self._nut.safe_state(plan, outcome.steps_done)

    def _completed(self, goal: RunTask.Goal) -> RunTask.Goal:
        """Return a goal that continues the last task with the scene and files of that task.

        Its client may be another one, which has neither.
        """
        last = self._last
        is_same = goal.task == last.task and (goal.task or not last.text)  # "" is the default task
        if goal.start_step in FIRST_STEP:
            goal.start_step = ""
        elif is_same and not (goal.text or goal.scene):
            goal.text, goal.scene, goal.files = last.text, last.scene, last.files
        if not goal.dry_run:  # a copy: the server clears a finished request
            self._last = RunTask.Goal(
                task=goal.task, text=goal.text, scene=goal.scene, files=goal.files
            )
        return goal

    def _reject(self, result: RunTask.Result, status: int, reason: str) -> None:
        """Set the result of a goal that ends before anything has moved."""
        self.get_logger().warning(reason)  # type: ignore[no-untyped-call]
        result.status, result.message = status, reason

    def _end(self, handle: ServerGoalHandle, result: RunTask.Result) -> RunTask.Result:
        """End a goal according to its result; another running goal continues."""
        if not self._busy:
            self._controls.end(result.message, result.resume_step)
        if result.status == RESULT.SUCCESS:
            handle.succeed()
        elif result.status == RESULT.CANCELED and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return result


def allowed_files(chosen: TaskServerParameters, robot: str) -> RestrictedFiles:
    """Return the files that requests may name; raise InputError for a folder that is missing."""
    for name in ("poses", "paths"):
        if not getattr(chosen, name):  # an empty path is the working directory
            raise InputError(f"parameter {name} is empty; give a path, or omit it for the default")
    folders = folders_in(chosen.task_path, "task_path")
    ours = [shipped("tasks"), shipped("scenes"), shipped_trajectories(robot)]
    folders += [file.parent for files in ours for file in files.values()]
    folders += [file.resolve().parent for files in ours for file in files.values()]
    given = (resolve(chosen.scene, "scenes", "scene", SceneError), Path(chosen.poses))
    return RestrictedFiles([*dict.fromkeys(folders), Path(chosen.paths)], given)


def make_nodes() -> list[Node]:
    """Create the task server and the scene's publisher, ready to plan."""
    prepare_planning()
    server = TaskServer()
    return [server, server.scene_node]


def main() -> int:
    """Run the nodes until the process is ended."""
    return run_node(make_nodes, batch_delay=_BATCH_DELAY)
