# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A real browser presses the buttons of the folders Task and Teach; the server is scripted."""

import pytest
from arm_viewer.screenshot import visit

pytestmark = pytest.mark.system

BOUND = 60.0  # s


class Server:
    """Answers like a task server, and notes what it was asked."""

    def __init__(self, ros):
        from arm_common.ros.qos import LATCHED
        from std_srvs.srv import Trigger

        from arm_interfaces.msg import StepReport, TaskState
        from arm_interfaces.srv import CheckTask, ListTasks, RecordPath, TeachPose, TouchBolt

        self.ros, self.asked = ros, []
        self.state = ros.node.create_publisher(TaskState, "run_task/state", LATCHED)
        step = StepReport(name="wave", feasible=True, duration=1.5)
        for name, kind, fields in (
            ("list_tasks", ListTasks, {"tasks": ["nut_transfer", "pick_and_place"]}),
            ("check_task", CheckTask, {"message": "Fine: it can be done", "steps": [step]}),
            ("run_task/pause", Trigger, {"success": False, "message": "no task runs"}),
            ("teach/save_pose", TeachPose, {"success": True, "message": "kept as here"}),
            ("teach/replay", RecordPath, {"success": False, "message": "no path here"}),
            ("teach/touch_bolt", TouchBolt, {"success": True, "message": "1 point"}),
        ):
            ros.node.create_service(kind, name, self.answer(name, fields))
        self.state.publish(TaskState(task="nut_transfer", message="waiting for nobody"))

    def answer(self, name, fields):
        def callback(request, response):
            self.asked.append((name, request))
            for field, value in fields.items():
                setattr(response, field, value)
            return response

        return callback

    def got(self, page, button, name):
        """Press a button; return the request that comes of it."""
        count = len(self.asked)
        page.get_by_role("button", name=button, exact=True).click()
        self.ros.until(lambda: any(n == name for n, _ in self.asked[count:]), BOUND)
        return self.asked[-1][1]


@pytest.fixture(scope="module")
def server(ros_node):
    with ros_node() as node:
        yield Server(node)


@pytest.fixture(scope="module")
def page(browser_page, server, start_viewer, urdf):
    server.ros.show_robot(urdf)
    url = start_viewer("port:=0", "drive:=true")
    page = browser_page.context.new_page()
    page.set_viewport_size({"width": 800, "height": 1600})
    page.set_default_timeout(1e3 * BOUND)
    visit(page, url, timeout=240.0)
    server.ros.until(lambda: any(name == "list_tasks" for name, _ in server.asked), BOUND)
    page.get_by_text("Task", exact=True).first.wait_for()
    yield page
    page.close()


def shows(server, page, kind, text):
    """Spin until the page shows a text."""
    found = page.locator(f'[data-arm="{kind}"]:has-text("{text}")').first
    server.ros.until(found.is_visible, BOUND)


def test_a_task_is_checked_and_the_report_read(page, server):
    shows(server, page, "task-state", "waiting for nobody")
    assert server.got(page, "Check", "check_task").task == "nut_transfer"
    shows(server, page, "report", "Fine: it can be done")
    shows(server, page, "report", "wave")


def test_what_the_server_refuses_is_said(page, server):
    server.got(page, "Pause", "run_task/pause")
    shows(server, page, "ik", "no task runs")


def test_a_pose_is_kept_a_path_played_and_a_bolt_touched(page, server):
    page.get_by_text("Teach", exact=True).first.click()
    assert server.got(page, "Keep this pose", "teach/save_pose").name == "here"
    shows(server, page, "report", "kept as here")
    assert server.got(page, "Play it", "teach/replay").name == "here"
    shows(server, page, "report", "no path here")
    touched = server.got(page, "Touching now", "teach/touch_bolt")
    assert (touched.bolt, touched.action, touched.surface) == ("upper_bolt", 0, 0)
    shows(server, page, "report", "1 point")
    page.get_by_role("button", name="Record a path", exact=True).click()
    shows(server, page, "report", "No task server answers teach/record")
