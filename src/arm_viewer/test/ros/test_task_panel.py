# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The page's text about a task: state, progress and report, with names escaped."""

from functools import partial
from types import SimpleNamespace

import pytest
from arm_testing.pages.page import FakeGui
from arm_viewer.ros.task_panel import TaskPanel, done_share, fitting_tasks, report_html, state_html

from arm_interfaces.msg import TaskState

Listed = partial(SimpleNamespace)


BLANK = {"message": "", "duration": 0.0, "feasible": False}
BLANK |= {"torque_joint": "", "torque_share": 0.0}


def step_report(**fields):
    return SimpleNamespace(**BLANK | fields)


class Tasks:
    """A task server; `called` and `runs` are what the panel has asked for."""

    def __init__(self):
        self.called, self.runs = [], []

    def service(self, name, report=lambda sentence: None):
        return SimpleNamespace(is_ready=True, send=partial(self._send, name))

    def _send(self, name, on_response=None, **fields):
        self.called.append((name, fields))
        self.answer = on_response
        return True

    def listen(self, on_state, on_resume_step):
        self.state, self.resume_step = on_state, on_resume_step

    def run(self, on_end, *goal):
        self.runs.append(goal)
        self.end = on_end


def test_panel_appears_with_the_server_and_runs_checks_and_continues_a_task():
    tasks, gui, seen = Tasks(), FakeGui(), []
    TaskPanel(tasks, gui, lambda: seen.append("server"))
    assert not seen and not gui.labels()
    tasks.resume_step("")
    for _ in range(2):
        tasks.state(TaskState(task="wave"))
    assert seen == ["server"] and [name for name, _ in tasks.called] == ["list_tasks"]
    tasks.answer(Listed(tasks=["wave", "draw"], task_scenes=[], scene=""))
    gui.use("Pause before each step", True)
    gui.use("Run")
    tasks.end("It is done.", ())
    assert tasks.runs == [("wave", "", True)] and "It is done." in gui.marked("report")
    gui.use("Check")
    tasks.answer(SimpleNamespace(message="It fits.", steps=[]))
    assert tasks.called[-1] == ("check_task", {"task": "wave"})
    assert "It fits." in gui.marked("report")
    tasks.resume_step("3.2")
    gui.use("Continue at step 3.2")
    assert tasks.runs[-1] == ("wave", "3.2", True)


@pytest.mark.parametrize("part", ["Task", "Teach"])
def test_a_panel_that_fails_is_left_out_once_and_the_page_goes_on(part):
    tasks, gui, failed = Tasks(), FakeGui(), []
    gui.failed = lambda title, error: failed.append((title, str(error)))

    def fail(*_, **__):
        raise ValueError("no such element")

    if part == "Task":
        gui.viser.add_button_group = fail
    TaskPanel(tasks, gui, fail if part == "Teach" else lambda: None)
    for step in ("", "3.2"):
        tasks.resume_step(step)
        tasks.state(TaskState(task="wave"))
    assert failed == [(part, "no such element")]
    assert ("Continue at step 3.2" in gui.labels()) is (part == "Teach")


def running(**fields):
    return TaskState(state=TaskState.RUNNING, **fields)


def test_progress_bar_shows_the_completed_share():
    text = state_html(running(task="nut_transfer", step=1, steps_total=4, progress=0.5))
    assert "width:37.5%" in text and "nut_transfer: running" in text
    assert "idle" in state_html(TaskState())


def test_progress_is_the_completed_share():
    assert done_share(running(step=1, steps_total=4, progress=0.5)) == 0.375
    assert done_share(running()) == 0.0
    assert done_share(running(step=4, steps_total=4, progress=1.0)) == 1.0
    assert "wave: paused" in state_html(TaskState(state=TaskState.PAUSED, task="wave"))
    assert "99" in state_html(TaskState(state=99))


def test_infeasible_step_is_marked_with_its_reason():
    short = step_report(name="<b>reach</b>", message="12 mm 'short'")
    short.torque_share, short.torque_joint = 1.24, "<elbow>"
    html = report_html("step 2 is out of reach", [step_report(name="home", feasible=True), short])
    assert "step 2 is out of reach" in html
    assert html.index("✓") < html.index("home") < html.index("✗")
    assert "&lt;b&gt;reach" in html and "<b>reach" not in html
    assert "12 mm &#x27;short&#x27;" in html
    assert "servo of &lt;elbow&gt;" in html and ">124 %<" in html and html.count("%<") == 1


def test_tasks_of_other_scenes_are_not_offered_but_the_latest_is():
    tasks, scenes = ["wave", "transfer", "pick"], ["", "nuts", "workshop"]
    listed = Listed(tasks=tasks, task_scenes=scenes, scene="nuts")
    assert fitting_tasks(listed, "transfer") == ("wave", "transfer")
    assert fitting_tasks(listed, "my/own.yaml") == ("my/own.yaml", "wave", "transfer")
    listed.scene = "/home/me/workshop.yaml"
    assert fitting_tasks(listed, "") == ("wave", "pick")
    unknown = Listed(tasks=["pick"], task_scenes=["workshop"], scene="nuts")
    assert fitting_tasks(unknown, "") == ("pick",)
