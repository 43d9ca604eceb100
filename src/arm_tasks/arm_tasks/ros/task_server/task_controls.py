# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Services that control the running task, and topics that publish its state."""

from __future__ import annotations

from collections.abc import Callable

from arm_common.errors import one_line
from arm_common.ros.qos import CALLS, LATCHED, STEADY_CLOCK
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from arm_interfaces.msg import TaskState
from arm_tasks.execution.engine import Engine, EngineState, Feedback
from arm_tasks.planning.plan import PlannedStep

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
