# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a task server offers to a page, by services, an action and topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from arm_common.ros.actions.client import GoalClient
from arm_common.ros.executor import QUIET
from arm_common.ros.qos import CALLS, LATCHED, service_qos
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String
from std_srvs.srv import Trigger

from arm_interfaces.action import RunTask
from arm_interfaces.msg import TaskState
from arm_interfaces.srv import CheckTask, ListTasks, RecordPath, TeachPose, TouchBolt
from arm_viewer.ros.service_client import ServiceClient

# mypy: disable-error-code="no-untyped-call"

_TRIGGERS = ("pause", "resume", "step", "stop")  # below task_server/
_SERVICES: dict[str, tuple[Any, str, QoSProfile]] = {
    "list_tasks": (ListTasks, "list_tasks", CALLS),
    "check_task": (CheckTask, "check_task", CALLS),
    "reset_world": (Trigger, "nut_world/reset", CALLS),
    **{n: (Trigger, f"task_server/{n}", service_qos(n)) for n in _TRIGGERS},
    **{n: (TeachPose, f"teach/{n}", CALLS) for n in ("save_pose", "forget_pose")},
    **{n: (RecordPath, f"teach/{n}", CALLS) for n in ("record", "end_recording", "replay")},
    "touch_bolt": (TouchBolt, "teach/touch_bolt", CALLS),
}


class RosTasks:
    """The task server of a namespace.

    Subscribes task_server/state, task_server/resume_step; calls check_task, list_tasks, run_task
    (action), task_server/pause, resume, step, stop, teach/..., and nut_world/reset.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._run = GoalClient(node, RunTask, "run_task")
        self._stop = self.service("stop")

    def service(
        self, name: str, report: Callable[[str], None] = lambda sentence: None
    ) -> ServiceClient:
        """Return a service, such as check_task; `report` takes a sentence if none provides it."""
        kind, full_name, qos = _SERVICES[name]
        return ServiceClient(self._node, kind, full_name, report, qos)

    def listen(
        self,
        on_state: Callable[[TaskState], None],
        on_resume_step: Callable[[str], None],
    ) -> None:
        """Pass on what the server does, and the step at which the last run can go on, or ""."""
        subscribe: Any = partial(self._node.create_subscription, event_callbacks=QUIET)
        topic = "task_server/resume_step"
        subscribe(TaskState, "task_server/state", on_state, LATCHED)
        subscribe(String, topic, lambda message: on_resume_step(message.data), LATCHED)

    def run(
        self,
        on_end: Callable[[str, Sequence[Any]], None],
        task: str,
        step: str,
        single_step: bool,
    ) -> None:
        """Run a task from a step on; `on_end` takes the outcome and a report for each step."""
        if not self._run.server_is_ready():
            on_end("Nothing runs tasks yet; is the arm running?", ())
            return
        goal = RunTask.Goal(task=task, start_step=step, single_step=single_step)
        self._run.send_goal_async(goal).add_done_callback(partial(_on_goal_response, on_end))

    def stop(self) -> None:
        """Stop the task, if a task server is there."""
        if self._stop.ready:
            self._stop.call()


def _on_goal_response(on_end: Callable[[str, Sequence[Any]], None], future: Any) -> None:
    handle = future.result()
    if not handle.accepted:
        on_end("The task was not started: another one is running.", ())
        return

    def on_result(done: Any) -> None:
        result = done.result().result
        on_end(result.message, result.report)

    handle.get_result_async().add_done_callback(on_result)
