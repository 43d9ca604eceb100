# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/client/test_arm.py
"""Goals of the action run_task, one-step tasks, and whether the task server still works."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml
from arm_common.errors import one_line
from arm_common.ros.actions.client import GoalClient
from arm_common.ros.executor import PolledSubscriptions
from arm_common.ros.qos import FEEDBACK, STEADY_CLOCK
from rclpy.node import Node
from rclpy.task import Future

from arm_interfaces.action import RunTask
from arm_interfaces.msg import TaskState, TextFile
from arm_tasks.ros.client.future import SERVER_TIMEOUT, ArmError, ArmTimeoutError, ClientThread

if TYPE_CHECKING:
    from arm_tasks.task.steps import Orientation

_LOGGER = logging.getLogger(__name__)
MOVE, TASK, ANSWER = 120.0, 3600.0, 15.0  # [s], default time-outs of verbs
_RESPONSE_TIMEOUT = 30.0  # [s], for an available server to accept a goal
_HEARTBEAT = "task_server/state"
_TICK = 0.5  # [s]
_SILENT_TICKS = 10  # without a heartbeat, which comes once a second
XYZ = Sequence[float]


@dataclass(frozen=True)
class Progress:
    """Progress of a task.

    Attributes:
        step: Index of the running step, from 0.
        steps_total: Number of steps, each part counted; 0 while the task is being checked.
        number: Number of the step in the task file, such as 3, or 3.2 for its second part.
        name: Name of the step.
        progress: Completed fraction of the step, 0 to 1.
        message: What the arm is doing, one sentence.
        paused: True while the task waits to be resumed.
    """

    step: int
    steps_total: int
    number: str
    name: str
    progress: float
    message: str
    paused: bool


OnProgress = Callable[[Progress], None]


class TaskServerClient:
    """The action run_task, and the heartbeat of its server, task_server/state.

    DDS notices a killed process only after 20 s, and one that hangs never.

    Attributes:
        action: The client of the action.
    """

    def __init__(self, node: Node) -> None:
        self.action = GoalClient(
            node,
            RunTask,
            "run_task",
            feedback_sub_qos_profile=FEEDBACK,
        )
        self._node = node
        self._ticks = -math.inf  # since the last heartbeat; a server may have none
        self._limit = _SILENT_TICKS
        self._servers: set[bytes] = set()  # publishers of the heartbeat when the goal was sent
        self._awaiting: list[Future] = []  # what await an answer, and whether the server is lost
        # Polled: while a task runs, ten messages a second would wake the thread for nothing.
        self._heartbeat = PolledSubscriptions()
        self._heartbeat.subscribe(node, TaskState, _HEARTBEAT, self._on_state, 1)
        # Counted, as this thread can be late: then, what has arrived meanwhile is received first.
        node.create_timer(_TICK, self._tick, clock=STEADY_CLOCK)

    def _on_state(self, _: TaskState) -> None:
        self._ticks = 0

    def _tick(self) -> None:
        if self._node.count_publishers(_HEARTBEAT):
            self._ticks = max(self._ticks, 0)
        self._ticks += 1
        self._heartbeat.take()
        self._wake()

    def _wake(self, _: Future | None = None) -> None:
        awaiting, self._awaiting = self._awaiting, []
        for future in awaiting:
            future.set_result(None)

    def begin(self) -> None:
        """Take the present server for the one that answers what is sent from now on."""
        self._servers = self._publishers()
        if self._servers:
            self._ticks = 0

    def _publishers(self) -> set[bytes]:
        """Return the identifiers of the servers; of one that was killed for 20 s."""
        publishers = self._node.get_publishers_info_by_topic(_HEARTBEAT)
        return {bytes(info.endpoint_gid) for info in publishers}

    def lost(self) -> str:
        """Return how the task server was lost, or ""."""
        if not self.action.server_is_ready():
            return "the task server is gone; see its log"
        if self._servers and self._publishers() - self._servers:
            return "the task server was restarted; see its log"
        if self._ticks < self._limit:
            return ""
        return f"the task server has been silent for {_TICK * self._limit:g} s; see its log"

    def require_news(self, ticks: int) -> None:
        """Take a server for lost, from now on, after fewer ticks without a message of it."""
        self._ticks, self._limit = 0, ticks

    def on_feedback(self) -> None:
        """Take feedback for a heartbeat, if there is one."""
        self._ticks = min(self._ticks, 0)

    async def answer(self, sent: Future, what: str, timeout: float = math.inf) -> Any:
        """Await what the server answers; raise ArmError once it is lost."""
        end = time.monotonic() + timeout
        sent.add_done_callback(self._wake)
        while not sent.done():
            if lost := self.lost():
                raise ArmError(f"{what}: {lost}")
            if time.monotonic() > end:
                raise ArmTimeoutError(f"waited {timeout:g} s for a response of the task server")
            self._awaiting.append(Future(executor=self._node.executor))
            await self._awaiting[-1]
        return sent.result()


class TaskGoal:
    """One goal of run_task."""

    def __init__(
        self, thread: ClientThread, server: TaskServerClient, on_progress: OnProgress | None
    ) -> None:
        self._thread, self._server, self._on_progress = thread, server, on_progress
        self._handle: Any = None
        self._canceled = False

    def cancel(self) -> None:
        """Cancel the goal, as soon as it has been accepted."""
        self._canceled = True
        if self._handle is not None:
            self._handle.cancel_goal_async()

    async def run(self, goal: RunTask.Goal) -> RunTask.Result:
        """Send the goal and await its result, whatever its status is."""
        action, server = self._server.action, self._server
        await self._thread.until(action.server_is_ready, SERVER_TIMEOUT, "the task server")
        if self._canceled:
            raise ArmError(f"{goal.task}: canceled before anything moved")
        server.begin()
        sent: Any = action.send_goal_async(goal, self._on_feedback)
        self._handle = await server.answer(sent, goal.task, _RESPONSE_TIMEOUT)
        if not self._handle.accepted:
            raise ArmError(f"{goal.task}: the task server rejected the goal; see its log")
        if self._canceled:
            self._handle.cancel_goal_async()
        try:
            ended = self._handle.get_result_async()
            response = await server.answer(ended, goal.task)
        except ArmError:
            self._handle.cancel_goal_async()  # if it only hangs
            raise
        result: RunTask.Result = response.result
        return result

    def _on_feedback(self, message: Any) -> None:
        self._server.on_feedback()
        if self._on_progress is None:
            return
        feedback = message.feedback
        paused = feedback.state == TaskState.PAUSED
        names = ("step", "steps_total", "number", "name", "progress", "message")
        fields = {name: getattr(feedback, name) for name in names}
        try:
            self._on_progress(Progress(**fields, paused=paused))
        except Exception:
            _LOGGER.exception("on_progress failed")


def file_messages(texts: Mapping[str, str]) -> list[TextFile]:
    """Return the messages of files, given by path, that are sent with a request."""
    return [TextFile(name=name, text=text) for name, text in texts.items()]


def goal_message(files: Mapping[str, str], **fields: Any) -> RunTask.Goal:
    """Return a goal with files, given by path, and other fields."""
    return RunTask.Goal(**fields, files=file_messages(files))


def number_of(value: Any, what: str) -> float:
    """Return a value as a float; raise ArmError, which says what it is, if it is no number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        shown = one_line(repr(value), 80)
        raise ArmError(f"{what} is {shown}, not a number") from None


def numbers_of(values: Mapping[str, Any], what: str) -> dict[str, float]:
    """Return values by name as floats; errors as of number_of()."""
    return {name: number_of(value, f"{what} of {name}") for name, value in values.items()}


def task_text(kind: str, **keys: Any) -> str:
    """Return the text of a one-step task, without keys that are None."""
    body = {key: value for key, value in keys.items() if value is not None}
    task = {"task": kind, "steps": [{kind: body}]}
    return str(yaml.safe_dump(task, sort_keys=False))


def pose_keys(
    xyz: XYZ, rpy: XYZ | None, frame: str, orientation: Orientation | None
) -> dict[str, Any]:
    """Return the pose keys of a step, xyz [m] and rpy [rad]; None allows any orientation."""
    return {
        "frame": frame,
        "xyz": [number_of(value, "a value of xyz") for value in xyz],
        "rpy": None if rpy is None else [number_of(value, "a value of rpy") for value in rpy],
        "orientation": orientation or ("any" if rpy is None else "full"),
    }
