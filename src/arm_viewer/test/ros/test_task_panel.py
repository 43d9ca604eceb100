# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The page's text about a task: state, progress and report, with names escaped."""

from arm_viewer.ros.panels.task_panel import fitting_tasks, report_html, state_html

from arm_interfaces.msg import StepReport, TaskState
from arm_interfaces.srv import ListTasks


def state(**fields):
    return state_html(TaskState(state=TaskState.RUNNING, task="nut_transfer", **fields))


def test_progress_bar_shows_the_completed_share():
    assert "width:37.5%" in state(step=1, steps_total=4, progress=0.5)
    assert "width:0.0%" in state()
    assert "width:100.0%" in state(step=4, steps_total=4, progress=1.0)
    assert "nut_transfer: running" in state()
    assert "idle" in state_html(TaskState())


def test_infeasible_step_is_marked_with_its_reason():
    short = StepReport(name="<b>reach</b>", message="12 mm 'short'")
    short.torque_share, short.torque_joint = 1.24, "<elbow>"
    html = report_html("step 2 is out of reach", [StepReport(name="home", feasible=True), short])
    assert "step 2 is out of reach" in html
    assert html.index("✓") < html.index("home") < html.index("✗")
    assert "&lt;b&gt;reach" in html and "<b>reach" not in html
    assert "12 mm &#x27;short&#x27;" in html
    assert "servo of &lt;elbow&gt;" in html and ">124 %<" in html and html.count("%<") == 1


def test_tasks_of_other_scenes_are_not_offered_but_the_latest_is():
    tasks, scenes = ["wave", "transfer", "pick"], ["", "nuts", "workshop"]
    listed = ListTasks.Response(tasks=tasks, task_scenes=scenes, scene="nuts")
    assert fitting_tasks(listed, "transfer") == ("wave", "transfer")
    assert fitting_tasks(listed, "my/own.yaml") == ("my/own.yaml", "wave", "transfer")
    listed.scene = "/home/me/workshop.yaml"
    assert fitting_tasks(listed, "") == ("wave", "pick")
    unknown = ListTasks.Response(tasks=["pick"], task_scenes=["workshop"], scene="nuts")
    assert fitting_tasks(unknown, "") == ("pick",)
