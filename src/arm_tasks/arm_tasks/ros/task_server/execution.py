# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Execution of a plan: a timer and finished motions tick the engine; services control it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from arm_common.errors import one_line
from arm_common.ros.actions.server import CLIENT_LOST, GoalOwner
from arm_common.ros.executor import destroy_timer
from arm_common.ros.qos import CALLS, LATCHED, STEADY_CLOCK
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger

from arm_interfaces.action import RunTask
from arm_interfaces.msg import TaskState
from arm_tasks.execution.engine import Engine, EngineState, Feedback
from arm_tasks.execution.ports import OtherNodes
from arm_tasks.planning.plan import PlannedStep, TaskPlan
from arm_tasks.ros.driver_client import DriverClient
from arm_tasks.ros.task_server.monitors import (
    SILENCE,
    BlindWorldDetector,
    NodeLivenessMonitor,
    WorldObserver,
)

TICK = 0.05  # [s] of wall time; finished motions are handled at once
SIMULATED_TICK = 0.02  # [s] of wall time, as simulated time may run fast
FEEDBACK_PERIOD = 0.1  # [s] of wall time; feedback is also published when a step starts

STATES = {
    EngineState.RUNNING: TaskState.RUNNING,
    EngineState.PAUSING: TaskState.PAUSING,
    EngineState.PAUSED: TaskState.PAUSED,
    EngineState.STOPPING: TaskState.STOPPING,
}
HEARTBEAT_PERIOD = 1.0  # [s] of wall time
_NO_TASK = "no task is running"


class TaskControls:
    """The services and topics beside the action run_task.

    Services:
        task_server/pause: stops the arm on its path, by its speed scaling, until one of the next
            two is called.
        task_server/resume: continues.
        task_server/step: runs one step, or the rest of it, then pauses.
        task_server/stop: cancels the task of any client.

    Publishers:
        task_server/state: latched; on changes, several times a second during a step, and at least
            once a second of wall time: a server that is silent for 3 s is gone.
        task_text: only the message, latched.
        task_server/resume_step: number of the step at which the last task can be continued, by a
            goal that names only it and this start_step; empty if it cannot; latched.

    Attributes:
        stop_requested: Whether task_server/stop was called since begin().
    """

    def __init__(self, node: Node) -> None:
        self._engine: Engine | None = None
        self.stop_requested = False
        self._state = TaskState()
        self._publisher = node.create_publisher(TaskState, "task_server/state", LATCHED)
        self._text = node.create_publisher(String, "task_text", LATCHED)
        self._resume_step = node.create_publisher(String, "task_server/resume_step", LATCHED)
        requests: dict[str, Callable[[Engine], str]] = {
            "pause": Engine.pause,
            "resume": Engine.resume,
            "step": Engine.single_step,
        }
        for name, request in requests.items():
            node.create_service(
                Trigger, f"task_server/{name}", self._service(request), qos_profile=CALLS
            )
        node.create_service(Trigger, "task_server/stop", self._on_stop, qos_profile=CALLS)
        node.create_timer(HEARTBEAT_PERIOD, self._beat, clock=STEADY_CLOCK)
        self._publisher.publish(self._state)

    def _beat(self) -> None:
        self._publisher.publish(self._state)

    @property
    def running(self) -> bool:
        """True while an engine runs a task."""
        return self._engine is not None

    @property
    def step(self) -> PlannedStep | None:
        """The step that runs, or None."""
        steps = () if self._engine is None else self._engine.plan.steps
        return steps[self._state.step] if self._state.step < len(steps) else None

    def attach(self, engine: Engine) -> None:
        """Control an engine until end()."""
        self._engine = engine

    def begin(self, task: str) -> None:
        """Publish that a task is being checked."""
        self.stop_requested = False
        task = one_line(task, 200)
        self._state = TaskState(state=TaskState.CHECKING, task=task)
        self._resume_step.publish(String())
        self.publish_message(f"checking {task}")

    def publish_message(self, text: str) -> None:
        """Publish a new message, one line."""
        text = one_line(text)
        self._state.message = text
        self._publisher.publish(self._state)
        self._text.publish(String(data=text))

    def publish(self, feedback: Feedback) -> None:
        """Publish the progress of the task."""
        line = f"step {feedback.number}: {feedback.message}"
        if feedback.state is EngineState.PAUSED:
            line = f"paused before or in {line}"
        state = self._state
        state.state, state.step = STATES[feedback.state], feedback.step
        state.steps_total = feedback.steps_total
        state.number, state.name = feedback.number, feedback.name
        state.progress = feedback.progress
        if line != state.message:
            self.publish_message(line)
        else:
            self._publisher.publish(state)

    def end(self, text: str, resume_step: str = "") -> None:
        """Publish that no task is running, how the last one ended, and where it continues."""
        self._engine, self._state.state = None, TaskState.IDLE
        self._resume_step.publish(String(data=resume_step))
        self.publish_message(text)

    def _service(
        self, request: Callable[[Engine], str]
    ) -> Callable[[Trigger.Request, Trigger.Response], Trigger.Response]:
        def callback(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            return _answer(response, _NO_TASK if self._engine is None else request(self._engine))

        return callback

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._state.state == TaskState.IDLE:
            return _answer(response, _NO_TASK)
        self.stop_requested = True
        if self._engine is not None:
            self._engine.cancel()
        return _answer(response, "")


def _answer(response: Trigger.Response, refusal: str) -> Trigger.Response:
    response.success, response.message = not refusal, refusal or "done"
    return response


@dataclass(frozen=True)
class ExecutionContext:
    """The parts of the task server that a run needs."""

    node: Node
    driver: DriverClient
    observer: WorldObserver
    nodes: Callable[[TaskPlan], OtherNodes | None]  # checked, as a plan needs them
    liveness: NodeLivenessMonitor
    controls: TaskControls


class TaskExecution:
    """Runs a feasible plan after begin(); raises PlanError if it cannot start there.

    Attributes:
        finished: Future of the engine's TaskOutcome.
    """

    def __init__(
        self,
        context: ExecutionContext,
        handle: ServerGoalHandle,
        plan: TaskPlan,
        owner: GoalOwner,
    ) -> None:
        node = context.node
        self._context = context
        self._handle, self._owner = handle, owner
        self._period = SIMULATED_TICK if node.get_parameter("use_sim_time").value else TICK
        self._ticks = self._feedback_due = self._failures = 0
        self._published: tuple[EngineState, int] | None = None
        self.finished: Future = Future(executor=node.executor)
        self._has_nut = plan.request.scene.nut is not None

        def clock() -> float:
            return float(node.get_clock().now().nanoseconds) * 1e-9

        self._blind = BlindWorldDetector(context.observer, clock)
        self._engine = Engine(
            plan,
            context.driver,
            plan.index_of(handle.request.start_step),
            clock,
            self._on_feedback,
            wall=time.monotonic,
            paused=bool(handle.request.single_step),
            observe=context.observer,
            nodes=context.nodes(plan),
        )

    @property
    def plan(self) -> TaskPlan:
        """The plan; it grows when a frame is found."""
        return self._engine.plan

    def begin(self) -> None:
        """Start the run."""
        self._context.liveness.begin()
        self._context.controls.attach(self._engine)
        self._timer = self._context.node.create_timer(self._period, self._tick, clock=STEADY_CLOCK)
        self._context.driver.on_end = self._update

    def _tick(self) -> None:
        self._ticks += 1
        self._context.driver.poll()
        self._update()

    def _update(self) -> None:
        """Tick the engine; finish when it is done."""
        context, engine = self._context, self._engine
        if lost := context.driver.lost():
            engine.give_up(lost)
        if lost := context.liveness.lost():
            engine.abort(lost)
        if self._owner.is_lost():
            engine.abort(CLIENT_LOST)
        self._check_world()
        if self._handle.is_cancel_requested or context.controls.stop_requested:
            engine.cancel()
        if engine.tick().done:
            self._end()

    def _end(self) -> None:
        self._context.driver.on_end = lambda: None
        destroy_timer(self._context.node, self._timer)
        self.finished.set_result(self._engine.outcome)

    def fail(self, reason: str) -> None:
        """Stop the arm and end, because a callback raised; end at once if one raises again."""
        self._failures += 1
        if self._failures == 1:
            self._engine.abort(reason)
        elif not self.finished.done():
            self._engine.give_up(reason)
            self._end()

    def _check_world(self) -> None:
        """Hold the arm while the simulated world does not see it; abort if that lasts."""
        unseen = self._blind.update(self._context.driver.moving) if self._has_nut else 0.0
        if unseen > SILENCE:
            self._engine.abort(f"nut_world has not seen the arm for {unseen:.0f} s")
        elif unseen:
            self._engine.hold("nut_world does not see the arm")
        else:
            self._engine.release()

    def _on_feedback(self, feedback: Feedback) -> None:
        """Publish feedback on changes and periodically."""
        is_new = (feedback.state, feedback.step) != self._published
        if not is_new and self._ticks < self._feedback_due:
            return
        self._published = (feedback.state, feedback.step)
        self._feedback_due = self._ticks + round(FEEDBACK_PERIOD / self._period)
        self._context.controls.publish(feedback)
        fields = vars(feedback) | {"state": STATES[feedback.state]}
        self._owner.publish_feedback(self._handle, RunTask.Feedback(**fields))
