# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The page's text about a task: state, progress and report, with names escaped."""

from arm_viewer.ros.panels.task_panel import report_html, state_html

from arm_interfaces.msg import StepReport, TaskState


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
    html = report_html("step 2 is out of reach", [StepReport(name="home", feasible=True), short])
    assert "step 2 is out of reach" in html
    assert html.index("✓") < html.index("home") < html.index("✗")
    assert "&lt;b&gt;reach" in html and "<b>reach" not in html
    assert "12 mm &#x27;short&#x27;" in html
