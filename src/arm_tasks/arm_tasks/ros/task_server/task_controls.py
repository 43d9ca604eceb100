# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What anybody may ask of the task that runs, and what everybody is told of it."""

from __future__ import annotations

from collections.abc import Callable

from arm_common.ros.qos import LATCHED
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from arm_interfaces.msg import TaskState
from arm_tasks.execution.engine import Engine
from arm_tasks.execution.outcome import EngineState, Feedback

STATES = {
    EngineState.RUNNING: TaskState.RUNNING,
    EngineState.PAUSING: TaskState.PAUSING,
    EngineState.PAUSED: TaskState.PAUSED,
    EngineState.STOPPING: TaskState.STOPPING,
}
NOTHING = "no task runs"


class TaskControls:
    """The services and the topics beside the action run_task.

    Services:
        run_task/pause: the arm stops where it is, on its way, until one of the next two.
        run_task/resume: it goes on.
        run_task/step: it does one step, or what is left of it, and pauses.
        run_task/stop: the task is canceled, by whomever it was begun.

    Publishers:
        run_task/state: latched; when something changed, and some times a second on the way.
        task_text: the message of it alone, latched.

    Args:
        node: The node.

    Attributes:
        engine: Of the task that runs, or None.
        stop_wanted: Whether stop was asked for since begin().
    """

    def __init__(self, node: Node) -> None:
        self.engine: Engine | None = None
        self.stop_wanted = False
        self._state = TaskState()
        self._publisher = node.create_publisher(TaskState, "run_task/state", LATCHED)
        self._text = node.create_publisher(String, "task_text", LATCHED)
        asks = {"pause": self._pause, "resume": self._resume, "step": self._step}
        for name, ask in {**asks, "stop": self._stop}.items():
            node.create_service(Trigger, f"run_task/{name}", _trigger(ask))
        self._publisher.publish(self._state)

    def begin(self, task: str) -> None:
        """Tell that a task is taken up."""
        self.stop_wanted = False
        self._state = TaskState(state=TaskState.CHECKING, task=task)
        self.say(f"checking {task}")

    def say(self, text: str) -> None:
        """Tell what is going on, one line."""
        self._state.message = text
        self._publisher.publish(self._state)
        self._text.publish(String(data=text))

    def tell(self, told: Feedback) -> None:
        """Tell how far the task is."""
        now = self._state
        line = f"{told.step + 1} of {told.steps_total}: {told.message}"
        if told.state is EngineState.PAUSED:
            line = f"paused before or in {told.step + 1} of {told.steps_total}: {told.message}"
        now.state, now.step = STATES[told.state], told.step
        now.steps_total, now.name, now.progress = told.steps_total, told.name, told.progress
        if line != now.message:
            self.say(line)
        else:
            self._publisher.publish(now)

    def end(self, text: str) -> None:
        """Tell that nothing runs any more, and how it ended."""
        self.engine, self._state.state = None, TaskState.IDLE
        self.say(text)

    def _pause(self) -> str:
        return NOTHING if self.engine is None else self.engine.pause()

    def _resume(self) -> str:
        return NOTHING if self.engine is None else self.engine.resume()

    def _step(self) -> str:
        return NOTHING if self.engine is None else self.engine.single_step()

    def _stop(self) -> str:
        if self._state.state == TaskState.IDLE:
            return NOTHING
        self.stop_wanted = True
        if self.engine is not None:
            self.engine.cancel()
        return ""


Callback = Callable[[Trigger.Request, Trigger.Response], Trigger.Response]


def _trigger(ask: Callable[[], str]) -> Callback:
    def callback(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        why_not = ask()
        response.success, response.message = not why_not, why_not or "done"
        return response

    return callback
