# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The task server's panels: "Task" checks, runs, pauses and stops a task; "Teach" records."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from arm_common.ros.actions import GoalClient
from arm_common.ros.executor import QUIET
from arm_common.ros.qos import LATCHED, service_qos
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from arm_interfaces.action import RunTask
from arm_interfaces.msg import StepReport, TaskState
from arm_interfaces.srv import CheckTask, ListTasks, RecordPath, TeachPose, TouchBolt
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.texts import BREAKS
from arm_viewer.ros.service_client import ServiceClient

DEFAULT_TASK = "nut_transfer"
PUT_BACK = "Put nut and payloads back"
CONTINUE = "Continue at step {}"
# Service below task_server/ -> the label of its button.
TRIGGERS = {"pause": "Pause", "resume": "Resume", "step": "Step", "stop": "Stop task"}
_STATES = {
    TaskState.IDLE: "idle",
    TaskState.CHECKING: "checking",
    TaskState.RUNNING: "running",
    TaskState.PAUSING: "pausing",
    TaskState.PAUSED: "paused",
    TaskState.STOPPING: "stopping",
}
_LIST_PERIOD = 1.0  # [s] at least between two calls of list_tasks
_STYLE = f"padding:.25em .8em;font-size:.8125em;{BREAKS}"


class TaskPanel:
    """The user interface of the task server, shown as soon as there is one.

    Subscribes task_server/state, task_server/resume_step; calls check_task, list_tasks, run_task
    (action), task_server/pause, resume, step, stop, and nut_world/reset, whose button is there if
    the world is simulated. Calls `on_server` when the first state arrives.
    """

    def __init__(
        self,
        node: Node,
        gui: PageGui,
        on_server: Callable[[], None],
    ) -> None:
        self._on_server = on_server
        self._list = ServiceClient(node, ListTasks, "list_tasks")
        self._listed: str | None = None  # task of the state after which it was called last
        self._list_due = 0.0  # earliest time of the next call [s]
        self._check = ServiceClient(node, CheckTask, "check_task", self._answer)
        self._run = GoalClient(node, RunTask, "run_task")
        self._triggers = {
            name: ServiceClient(
                node, Trigger, f"task_server/{name}", self._answer, service_qos(name)
            )
            for name in TRIGGERS
        }
        self._reset = ServiceClient(node, Trigger, "nut_world/reset", self._answer)
        self._latest = ""  # the task of the latest state
        self._resume_step = ""  # at which the last run can be continued; empty if it cannot
        self._folder = gui.elements.add_folder("Task", order=1.4, visible=False)
        with self._folder:
            self._add_elements(gui)
        node.create_subscription(
            TaskState, "task_server/state", self._on_state, LATCHED, event_callbacks=QUIET
        )
        node.create_subscription(
            String,
            "task_server/resume_step",
            self._on_resume_step,
            LATCHED,
            event_callbacks=QUIET,
        )

    def stop(self) -> None:
        """Stop the task, if a task server is there."""
        if self._triggers["stop"].ready:
            self._triggers["stop"].call(Trigger.Request())

    def _add_elements(self, gui: PageGui) -> None:
        self._state = gui.elements.add_html("")
        self._task = gui.elements.add_dropdown("Task", (DEFAULT_TASK,))
        gui.on_change(self._task, lambda name: self._show_result(_line_html("")))
        self._single_step = gui.elements.add_checkbox("Pause before each step", False)
        gui.button("Check", self._check_task, color=None)
        gui.button("Run", self._run_task, color=None)
        self._continue = gui.button(CONTINUE.format("..."), self._continue_task, disabled=True)
        for name, label in TRIGGERS.items():
            button = gui.button(label, partial(self._trigger, name))
            if name in ("pause", "stop"):
                gui.never_too_late(button)
        self._put_back = gui.button(PUT_BACK, self._reset_world, visible=False)
        self._result = gui.elements.add_html(_line_html(""))

    def _answer(self, text: str) -> None:
        self._result.content = _line_html(text)

    def _show_result(self, html: str) -> None:
        self._result.content = html

    def _on_resume_step(self, message: String) -> None:
        """Offer to continue the last run, of whichever client, at a step; none if empty."""
        self._resume_step = str(message.data)
        self._continue.disabled = not self._resume_step
        self._continue.label = CONTINUE.format(self._resume_step or "...")

    def _on_state(self, state: TaskState) -> None:
        self._state.content = state_html(state)
        self._put_back.visible = self._reset.ready
        if not self._folder.visible:
            self._folder.visible = True
            self._on_server()
        self._latest, now = state.task, time.monotonic()
        # A server keeps few requests: those of another client would never be answered.
        if self._listed != state.task and now > self._list_due:
            self._listed, self._list_due = state.task, now + _LIST_PERIOD
            self._list.call(ListTasks.Request(), self._on_tasks)

    def _on_tasks(self, response: ListTasks.Response) -> None:
        names = fitting_tasks(response, self._latest)
        if names:
            wanted = self._latest or self._task.value
            self._task.options = names
            self._task.value = wanted if wanted in names else names[0]

    def _check_task(self) -> None:
        if self._check.call(CheckTask.Request(task=self._task.value), self._on_checked):
            self._answer("Checking ...")

    def _on_checked(self, response: CheckTask.Response) -> None:
        self._result.content = report_html(response.message, response.steps)

    def _run_task(self) -> None:
        self._start(self._task.value, "")

    def _continue_task(self) -> None:
        if self._resume_step:
            self._start(self._latest, self._resume_step)

    def _start(self, task: str, step: str) -> None:
        """Run a task from a step on."""
        if not self._run.server_is_ready():
            self._answer("Nothing runs tasks yet; is the arm running?")
            return
        self._show_result(_line_html(""))
        goal = RunTask.Goal(task=task, start_step=step)
        goal.single_step = self._single_step.value
        self._run.send_goal_async(goal).add_done_callback(self._on_goal_response)

    def _on_goal_response(self, future: Any) -> None:
        handle = future.result()
        if not handle.accepted:
            self._answer("The task was not started: another one is running.")
            return
        handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, future: Any) -> None:
        result = future.result().result
        self._show_result(report_html(result.message, result.report))

    def _reset_world(self) -> None:
        self._reset.call(Trigger.Request(), self._on_reset)

    def _on_reset(self, response: Trigger.Response) -> None:
        self._show_result(_line_html(f"{response.message[:1].upper()}{response.message[1:]}."))

    def _trigger(self, name: str) -> None:
        self._triggers[name].call(Trigger.Request(), self._on_triggered)

    def _on_triggered(self, response: Trigger.Response) -> None:
        self._answer("" if response.success else response.message)


# Service below teach/ -> the label of its button.
POSES = {"save_pose": "Save pose", "forget_pose": "Delete pose"}
PATHS = {"record": "Record path", "end_recording": "End recording", "replay": "Replay"}
SURFACES = {
    "Rim": TouchBolt.Request.RIM,
    "End": TouchBolt.Request.END,
    "Flank": TouchBolt.Request.FLANK,
}
TOUCHES = {
    "Add touch point": TouchBolt.Request.ADD,
    "Locate bolt": TouchBolt.Request.LOCATE,
    "Write bolt to scene": TouchBolt.Request.WRITE,
    "Clear touch points": TouchBolt.Request.CLEAR,
    "Nut clicks now": TouchBolt.Request.CLICK,
    "Write thread to scene": TouchBolt.Request.WRITE_THREAD,
}


class TeachPanel:
    """The user interface of the task server's services teach/..."""

    def __init__(self, node: Node, gui: PageGui) -> None:
        kinds: dict[str, Any] = dict.fromkeys(POSES, TeachPose) | dict.fromkeys(PATHS, RecordPath)
        self._clients = {
            name: ServiceClient(node, kind, f"teach/{name}", partial(self._report, name))
            for name, kind in (kinds | {"touch_bolt": TouchBolt}).items()
        }
        self._answers = dict[str, Any]()  # service -> the line below its buttons
        self._folder = gui.elements.add_folder(
            "Teach", order=1.5, visible=False, expand_by_default=False
        )
        with self._folder:
            self._add_elements(gui)

    def show(self) -> None:
        """Show the folder, because a task server is there."""
        self._folder.visible = True

    def _add_elements(self, gui: PageGui) -> None:
        add = gui.elements
        self._name = add.add_text("Name", initial_value="here")
        self._replace = add.add_checkbox("Replace", initial_value=False)
        for service, label in POSES.items():
            gui.button(label, partial(self._pose, service))
        self._answers |= dict.fromkeys(POSES, add.add_html(_line_html("")))
        self._reverse = add.add_checkbox("Reverse", initial_value=False)
        for service, label in PATHS.items():
            gui.button(label, partial(self._path, service))
        self._answers |= dict.fromkeys(PATHS, add.add_html(_line_html("")))
        self._bolt = add.add_text("Bolt", initial_value="upper_bolt")
        self._surface = add.add_dropdown("Touched surface", tuple(SURFACES))
        for label, action in TOUCHES.items():
            gui.button(label, partial(self._touch, action))
        self._answers["touch_bolt"] = add.add_html(_line_html(""))

    def _pose(self, service: str) -> None:
        request = TeachPose.Request(name=self._name.value, replace=self._replace.value)
        self._call(service, request)

    def _path(self, service: str) -> None:
        request = RecordPath.Request(
            name="" if service == "end_recording" else self._name.value,
            replace=self._replace.value,
            reverse=self._reverse.value,
        )
        self._call(service, request)

    def _touch(self, action: int) -> None:
        surface = SURFACES[self._surface.value]
        request = TouchBolt.Request(bolt=self._bolt.value, action=action, surface=surface)
        self._call("touch_bolt", request)

    def _call(self, service: str, request: Any) -> None:
        self._clients[service].call(
            request, lambda response: self._report(service, response.message)
        )

    def _report(self, service: str, text: str) -> None:
        """Show an answer below the pressed button, and no older one."""
        for line in self._answers.values():
            line.content = _line_html("")
        self._answers[service].content = _line_html(text)


def fitting_tasks(listed: ListTasks.Response, latest: str) -> tuple[str, ...]:
    """Return the tasks that were written for the current scene or for any, and the latest one."""
    current = {"", listed.scene, Path(listed.scene).stem}
    scenes = listed.task_scenes or [""] * len(listed.tasks)
    names = [n for n, scene in zip(listed.tasks, scenes, strict=True) if scene in current]
    own = [latest] if latest and latest not in names else []
    return (*own, *(names or listed.tasks))


def _line_html(text: str) -> str:
    """Return one line of text."""
    marked = f'<span data-arm="report">{escape(text)}</span>' if text else ""
    return f'<div style="{_STYLE};min-height:2em">{marked}</div>'


def state_html(message: TaskState) -> str:
    """Return a TaskState as a line and a progress bar."""
    name = _STATES.get(message.state, str(message.state))
    share = 0.0
    if message.steps_total:
        share = min(1.0, (message.step + message.progress) / message.steps_total)
    bar = (
        '<div style="background:#8883;height:.4em;border-radius:.2em">'
        f'<div style="background:#d97706;height:100%;width:{100.0 * share:.1f}%"></div></div>'
    )
    title = f"{message.task}: {name}" if message.task else name
    return (
        f'<div data-arm="task-state" style="{_STYLE}"><b>{escape(title)}</b><br>'
        f"{escape(message.message)}{bar}</div>"
    )


def _torque_cell(step: StepReport) -> str:
    """Return the share of a servo's torque that a step needs, empty if it is not known."""
    joint, share = escape(step.torque_joint), step.torque_share
    text = f"{100.0 * share:.0f} %" if share else ""
    return (
        f'<td title="of the torque of the servo of {joint}" style="text-align:right">{text}</td>'
    )


def report_html(message: str, steps: Sequence[StepReport]) -> str:
    """Return a report: one sentence, and a row for each step."""
    rows = "".join(
        f'<tr title="{escape(step.message)}"><td>{"✓" if step.feasible else "✗"}</td>'
        f"<td>{escape(step.name)}</td>"
        f'<td style="text-align:right">{step.duration:.1f} s</td>{_torque_cell(step)}</tr>'
        for step in steps
    )
    return (
        f'<div data-arm="report" style="{_STYLE};max-height:14em;overflow:auto">'
        f'{escape(message)}<table style="width:100%">{rows}</table></div>'
    )
