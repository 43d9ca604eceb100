# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The folder "Task": check a task, run it, pause, step, go on, stop; and what the check said."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from arm_common.ros.executor import QUIET
from arm_common.ros.qos import GOAL, of_service
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import Trigger

from arm_interfaces.action import RunTask
from arm_interfaces.msg import TaskState
from arm_interfaces.srv import CheckTask, ListTasks
from arm_viewer.browser.server import CallbackQueue, on_user
from arm_viewer.control import task_text

if TYPE_CHECKING:
    import viser

# mypy: disable-error-code="no-untyped-call"


LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
FIRST_TASK = "nut_transfer"
# Service below run_task/ -> the label of its button.
TRIGGERS = {"pause": "Pause", "resume": "Go on", "step": "One step", "stop": "Stop the task"}


class TaskPanel:
    """Speaks with the task server; the folder is there as soon as a server is.

    Subscribes run_task/state; calls check_task, list_tasks, run_task (action) and
    run_task/pause, resume, step, stop.

    Args:
        node: The node that speaks ROS.
        server: viser's server.
        mailbox: Takes the users' actions over to the node's thread.
        say: Shows a line about the task.
        found: Called when a task server is heard of.
    """

    def __init__(
        self,
        node: Node,
        server: viser.ViserServer,
        mailbox: CallbackQueue,
        say: Callable[[str], None],
        found: Callable[[], None],
    ) -> None:
        self._gui, self._mailbox, self._say = server.gui, mailbox, say
        self._found = found
        self._list = node.create_client(ListTasks, "list_tasks")
        self._check = node.create_client(CheckTask, "check_task")
        self._run = ActionClient(node, RunTask, "run_task", goal_service_qos_profile=GOAL)
        self._triggers = {
            name: node.create_client(Trigger, f"run_task/{name}", qos_profile=of_service(name))
            for name in TRIGGERS
        }
        self._folder = self._gui.add_folder("Task", order=1.4, visible=False)
        with self._folder:
            self._fill()
        node.create_subscription(
            TaskState, "run_task/state", self._on_state, LATCHED, event_callbacks=QUIET
        )

    def stop(self) -> None:
        """Stop the task, if one runs."""
        client = self._triggers["stop"]
        if client.service_is_ready():
            client.call_async(Trigger.Request())

    def _fill(self) -> None:
        gui = self._gui
        self._state = gui.add_html("")
        self._task: Any = gui.add_dropdown("Task", (FIRST_TASK,), initial_value=FIRST_TASK)
        self._single = gui.add_checkbox("Pause before each step", initial_value=False)
        for label, action in (("Check", self._on_check), ("Run", self._on_run)):
            on_user(self._mailbox, gui.add_button(label).on_click, action)
        for name, label in TRIGGERS.items():
            button = gui.add_button(label, color="gray")
            on_user(self._mailbox, button.on_click, partial(self._trigger, name))
        self._report = gui.add_html("")

    def _on_state(self, state: TaskState) -> None:
        self._state.content = task_text.state(state)
        if not self._folder.visible:
            self._folder.visible = True
            self._found()
            if self._list.service_is_ready():
                self._list.call_async(ListTasks.Request()).add_done_callback(self._on_tasks)

    def _on_tasks(self, future: Any) -> None:
        names = tuple(future.result().tasks)
        if names:
            chosen = self._task.value if self._task.value in names else names[0]
            self._task.options = names
            self._task.value = chosen

    def _on_check(self) -> None:
        if not self._check.service_is_ready():
            self._say("No task server answers check_task.")
            return
        self._report.content = task_text.line("Checking ...")
        request = CheckTask.Request(task=self._task.value)
        self._check.call_async(request).add_done_callback(self._on_checked)

    def _on_checked(self, future: Any) -> None:
        answer = future.result()
        self._report.content = task_text.report(answer.message, answer.steps)

    def _on_run(self) -> None:
        if not self._run.server_is_ready():
            self._say("No task server offers run_task.")
            return
        goal = RunTask.Goal(task=self._task.value, single_step=self._single.value)
        self._run.send_goal_async(goal).add_done_callback(self._on_taken)

    def _on_taken(self, future: Any) -> None:
        handle = future.result()
        if not handle.accepted:
            self._say("The task server refused the task: another one is running.")
            return
        handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, future: Any) -> None:
        result = future.result().result
        self._report.content = task_text.report(result.message, result.report)

    def _trigger(self, name: str) -> None:
        client = self._triggers[name]
        if not client.service_is_ready():
            self._say(f"No task server answers run_task/{name}.")
            return
        client.call_async(Trigger.Request()).add_done_callback(self._on_answer)

    def _on_answer(self, future: Any) -> None:
        answer = future.result()
        if not answer.success:
            self._say(answer.message)
