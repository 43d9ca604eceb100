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
from arm_viewer.browser.callbacks import PageGui
from arm_viewer.browser.tabs import RUN
from arm_viewer.browser.texts import BREAKS, set_choice
from arm_viewer.ros.page_services import PageService

# mypy: disable-error-code="no-untyped-call"

DEFAULT_TASK = "nut_transfer"
PUT_BACK = "Put nut and payloads back"
CONTINUE = "Continue at step {}"
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
# Service below task_server/ -> the label of its button.
TRIGGERS = {"pause": "Pause", "resume": "Resume", "step": "Step", "stop": "Stop task"}
# Service below teach/ -> the label of its button.
POSES = {"save_pose": "Save pose", "forget_pose": "Delete pose"}
PATHS = {"record": "Record path", "end_recording": "End recording", "replay": "Replay"}
# Label -> constant of the service touch_bolt.
_BOLT = TouchBolt.Request
SURFACES = {"Rim": _BOLT.RIM, "End": _BOLT.END, "Flank": _BOLT.FLANK}
TOUCHES = {
    "Add touch point": _BOLT.ADD,
    "Locate bolt": _BOLT.LOCATE,
    "Write bolt to scene": _BOLT.WRITE,
    "Clear touch points": _BOLT.CLEAR,
    "Nut clicks now": _BOLT.CLICK,
    "Write thread to scene": _BOLT.WRITE_THREAD,
}
_SERVICES: dict[str, tuple[Any, str, QoSProfile]] = {
    "list_tasks": (ListTasks, "list_tasks", CALLS),
    "check_task": (CheckTask, "check_task", CALLS),
    "reset_world": (Trigger, "nut_world/reset", CALLS),
    **{n: (Trigger, f"task_server/{n}", service_qos(n)) for n in TRIGGERS},
    **{n: (TeachPose, f"teach/{n}", CALLS) for n in POSES},
    **{n: (RecordPath, f"teach/{n}", CALLS) for n in PATHS},
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
    ) -> PageService:
        """Return a service, such as check_task; `report` takes a sentence if none provides it."""
        kind, full_name, qos = _SERVICES[name]
        return PageService(self._node, kind, full_name, report, qos)

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
        self._stop.send()


def _on_goal_response(on_end: Callable[[str, Sequence[Any]], None], future: Any) -> None:
    handle = future.result()
    if not handle.accepted:
        on_end("The task was not started: another one is running.", ())
        return

    def on_result(done: Any) -> None:
        result = done.result().result
        on_end(result.message, result.report)

    handle.get_result_async().add_done_callback(on_result)


class TaskPanel:
    """The user interface of a task server, shown as soon as there is one.

    Args:
        tasks: what the task server offers.
        gui: of the page.
        teach: adds the panel "Teach" when the first state of the server arrives.
    """

    def __init__(self, tasks: RosTasks, gui: PageGui, teach: Callable[[], None]) -> None:
        self._tasks, self._teach = tasks, teach
        self._list = tasks.service("list_tasks")
        self._listed: str | None = None  # task of the state after which it was called last
        self._list_due = 0.0  # earliest time of the next call [s]
        self._check = tasks.service("check_task", self._answer)
        self._triggers = {name: tasks.service(name, self._answer) for name in TRIGGERS}
        self._reset = tasks.service("reset_world", self._answer)
        self._gui, self._is_tried, self._is_built = gui, False, False
        self._latest = ""  # the task of the latest state
        self._resume_step = ""  # at which the last run can be continued; empty if it cannot
        tasks.listen(self._on_state, self._on_resume_step)

    def _build(self) -> None:
        """Add the elements, in the page's thread; a panel that fails is left out."""
        self._is_tried, gui = True, self._gui
        with gui.part("Task"):
            with gui.tabs.folder(RUN, "Task", order=1.4):
                self._add_elements(gui)
            self._is_built = True
            self._on_resume_step(self._resume_step)
        with gui.part("Teach"):
            self._teach()

    def _add_elements(self, gui: PageGui) -> None:
        self._state = gui.elements.add_html("")
        self._task = gui.elements.add_dropdown("Task", (DEFAULT_TASK,))
        gui.on_change(self._task, lambda name: self._answer(""))
        self._single_step = gui.elements.add_checkbox("Pause before each step", False)
        gui.row("Start", {"Check": self._check_task, "Run": self._run_task})
        self._continue = gui.button(CONTINUE.format("..."), self._continue_task, disabled=True)
        actions = {label: partial(self._trigger, name) for name, label in TRIGGERS.items()}
        late = TRIGGERS["pause"], TRIGGERS["stop"]
        gui.never_too_late(gui.row("Running", actions), lambda label: label in late)
        self._put_back = gui.button(PUT_BACK, self._reset_world, visible=False)
        self._result = gui.elements.add_html(_line_html(""))

    def _answer(self, text: str) -> None:
        self._result.content = _line_html(text)

    def _on_resume_step(self, step: str) -> None:
        """Offer to continue the last run, of whichever client, at a step; none if empty."""
        self._resume_step = step
        if not self._is_built:
            return
        self._continue.disabled = not self._resume_step
        self._continue.label = CONTINUE.format(self._resume_step or "...")

    def _on_state(self, state: TaskState) -> None:
        if not self._is_tried:
            self._build()
        if not self._is_built:
            return
        self._state.content = state_html(state)
        self._put_back.visible = self._reset.is_ready
        self._latest, now = state.task, time.monotonic()
        # A server keeps few requests: those of another client would never be answered.
        if self._listed != state.task and now > self._list_due:
            self._listed, self._list_due = state.task, now + _LIST_PERIOD
            self._list.send(self._on_tasks)

    def _on_tasks(self, response: Any) -> None:
        names = fitting_tasks(response, self._latest)
        if names:
            wanted = self._latest or self._task.value
            set_choice(self._task, names, wanted if wanted in names else names[0])

    def _check_task(self) -> None:
        if self._check.send(self._on_checked, task=self._task.value):
            self._answer("Checking ...")

    def _on_checked(self, response: Any) -> None:
        self._result.content = report_html(response.message, response.steps)

    def _run_task(self) -> None:
        self._start(self._task.value, "")

    def _continue_task(self) -> None:
        if self._resume_step:
            self._start(self._latest, self._resume_step)

    def _start(self, task: str, step: str) -> None:
        """Run a task from a step on."""
        self._answer("")
        self._tasks.run(self._on_end, task, step, self._single_step.value)

    def _on_end(self, message: str, steps: Sequence[Any]) -> None:
        self._result.content = report_html(message, steps) if steps else _line_html(message)

    def _reset_world(self) -> None:
        self._reset.send(self._on_reset)

    def _on_reset(self, response: Any) -> None:
        self._answer(f"{response.message[:1].upper()}{response.message[1:]}.")

    def _trigger(self, name: str) -> None:
        self._triggers[name].send(self._on_triggered)

    def _on_triggered(self, response: Any) -> None:
        self._answer("" if response.success else response.message)


class TeachPanel:
    """The user interface of the task server's services that teach."""

    def __init__(self, tasks: RosTasks, gui: PageGui) -> None:
        self._services = {
            name: tasks.service(name, partial(self._report, name))
            for name in (*POSES, *PATHS, "touch_bolt")
        }
        self._answers = dict[str, Any]()  # service -> the line below its buttons
        self._gui = gui

    def show(self) -> None:
        """Add the folder, because a task server is there."""
        with self._gui.tabs.folder(RUN, "Teach", order=1.5, expand_by_default=False):
            self._add_elements(self._gui)

    def _add_elements(self, gui: PageGui) -> None:
        add = gui.elements
        self._name = add.add_text("Name", initial_value="here")
        self._replace = add.add_checkbox("Replace", initial_value=False)
        gui.row("Pose", {label: partial(self._pose, name) for name, label in POSES.items()})
        self._answers |= dict.fromkeys(POSES, add.add_html(_line_html("")))
        self._reverse = add.add_checkbox("Reverse", initial_value=False)
        gui.row("Path", {label: partial(self._path, name) for name, label in PATHS.items()})
        self._answers |= dict.fromkeys(PATHS, add.add_html(_line_html("")))
        self._bolt = add.add_text("Bolt", initial_value="upper_bolt")
        self._surface = add.add_dropdown("Touched surface", tuple(SURFACES))
        gui.row("Bolt by touch", {t: partial(self._touch, a) for t, a in TOUCHES.items()})
        self._answers["touch_bolt"] = add.add_html(_line_html(""))

    def _pose(self, service: str) -> None:
        self._call(service, name=self._name.value, replace=self._replace.value)

    def _path(self, service: str) -> None:
        self._call(
            service,
            name="" if service == "end_recording" else self._name.value,
            replace=self._replace.value,
            reverse=self._reverse.value,
        )

    def _touch(self, action: int) -> None:
        surface = SURFACES[self._surface.value]
        self._call("touch_bolt", bolt=self._bolt.value, action=action, surface=surface)

    def _call(self, service: str, **fields: Any) -> None:
        self._services[service].send(
            lambda response: self._report(service, response.message), **fields
        )

    def _report(self, service: str, text: str) -> None:
        """Show an answer below the pressed button, and no older one."""
        for line in self._answers.values():
            line.content = _line_html("")
        self._answers[service].content = _line_html(text)


def fitting_tasks(listed: Any, latest: str) -> tuple[str, ...]:
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


def done_share(state: TaskState) -> float:
    """Return the share of the task that is done, 0 to 1."""
    steps = state.steps_total
    return min(1.0, (state.step + state.progress) / steps) if steps else 0.0


def state_html(state: TaskState) -> str:
    """Return what a task server does as a line and a progress bar."""
    done = 100.0 * done_share(state)
    bar = (
        '<div style="background:#8883;height:.4em;border-radius:.2em">'
        f'<div style="background:#d97706;height:100%;width:{done:.1f}%"></div>'
        "</div>"
    )
    word = _STATES.get(state.state, str(state.state))
    title = f"{state.task}: {word}" if state.task else word
    return (
        f'<div data-arm="task-state" style="{_STYLE}"><b>{escape(title)}</b><br>'
        f"{escape(state.message)}{bar}</div>"
    )


def _torque_cell(step: Any) -> str:
    """Return the share of a servo's torque that a step needs, empty if it is not known."""
    joint, share = escape(step.torque_joint), step.torque_share
    text = f"{100.0 * share:.0f} %" if share else ""
    return (
        f'<td title="of the torque of the servo of {joint}" style="text-align:right">{text}</td>'
    )


def report_html(message: str, steps: Sequence[Any]) -> str:
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
