# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One browser uses the whole panel of `./arm view my.yaml`, then drives a fake driver.

The tests share one view, so that its robot file is saved only after them, and the view with
sliders is replaced by one with a driver last.
"""

import contextlib
import math
import signal
from functools import partial

import numpy as np
import pytest
from arm_common.ros.qos import LATCHED
from arm_testing.pages.pinhole import pinhole
from arm_testing.ros.programs import folder_of, joint_field, open_tab, reveal
from arm_testing.ros.viewed import PATIENCE
from arm_viewer.browser.cameras import view_of
from arm_viewer.control.ik_follower import LATE
from arm_viewer.scene.robot import PostureBook, postures_of, read_robot
from arm_viewer.scene.shapes import Box, corners
from arm_viewer.screenshot import DRAWN, PAINTED, scene_box, visit

from arm_description import load_robot, parse_robot, robot_path

pytestmark = pytest.mark.system

BOUND = PATIENCE
BESIDE = (0.25, 0.0, 0.4)  # [m] out of reach, but in the picture, because a box is there
# What is in front of a button at some place of its panel; "" for nothing.
COVERS_WHILE_SCROLLED = """button => {
  const panel = button.closest(".mantine-ScrollArea-viewport");
  for (let y = 0; y < panel.scrollHeight; y += 12) {
    panel.scrollTop = y;
    const box = button.getBoundingClientRect();
    for (const share of [0.1, 0.5, 0.9]) {
      const at = [box.x + share * box.width, box.y + 0.5 * box.height];
      const front = document.elementFromPoint(...at);
      if (!button.contains(front)) return front.outerHTML;
    }
  }
  return "";
}"""
PICTURES_AT_REST = """async () => {
  const mutable = window.__viserMutable, own = mutable.requestRender;
  let count = 0;
  mutable.requestRender = () => { count += 1; return own(); };
  await new Promise(done => setTimeout(done, 1000));
  mutable.requestRender = own;
  return count;
}"""
EDIT_AT_ONCE = """([first, second, one, other]) => {
  const type = (field, text) => {
    const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
    value.set.call(field, text);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  type(first, one.slice(0, 1));
  type(first, one);
  type(second, other);
  for (const field of [first, second]) {
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  }
}"""
FILE_ERROR = '[data-arm="file"]'


class TaskServer:
    def __init__(self, ros):
        from rclpy.action import ActionServer
        from std_msgs.msg import String
        from std_srvs.srv import Trigger

        from arm_interfaces.action import RunTask
        from arm_interfaces.msg import StepReport, TaskState
        from arm_interfaces.srv import CheckTask, ListTasks, RecordPath, TeachPose, TouchBolt

        self.ros, self.requests = ros, []
        step = StepReport(name="wave", feasible=True, duration=1.5)
        listed = {"tasks": ["draw", "nut_transfer"], "task_scenes": ["", "nuts"], "scene": "nuts"}
        for name, kind, fields in (
            ("list_tasks", ListTasks, listed),
            ("nut_world/reset", Trigger, {"success": True, "message": "they are back"}),
            ("check_task", CheckTask, {"message": "Fine: it can be done", "steps": [step]}),
            ("task_server/pause", Trigger, {"success": False, "message": "no task runs"}),
            ("teach/save_pose", TeachPose, {"success": True, "message": "saved as here"}),
            ("teach/replay", RecordPath, {"success": False, "message": "no path here"}),
            ("teach/touch_bolt", TouchBolt, {"success": True, "message": "1 point"}),
        ):
            ros.node.create_service(kind, name, self.callback(name, fields))
        self.run_task = ActionServer(ros.node, RunTask, "run_task", self.run)
        self.state = ros.node.create_publisher(TaskState, "task_server/state", LATCHED)
        self.resume_step = ros.node.create_publisher(String, "task_server/resume_step", LATCHED)
        self.idle = TaskState(task="nut_transfer", message="waiting for a goal")
        self.state.publish(self.idle)

    def callback(self, name, fields):
        def respond(request, response):
            self.requests.append((name, request))
            for field, value in fields.items():
                setattr(response, field, value)
            return response

        return respond

    def run(self, goal):
        self.requests.append(("run_task", goal.request))
        goal.succeed()
        return self.run_task.action_type.Result(message="the remaining steps are done")

    def offer_to_continue(self, step):
        """Publish the number of the step at which the last run can be continued, "" for none."""
        self.resume_step.publish(self.resume_step.msg_type(data=step))

    def request_after(self, page, label, name):
        """Press a button; return the request that it sends."""
        count = len(self.requests)
        press(page, label)
        self.ros.until(lambda: any(n == name for n, _ in self.requests[count:]), BOUND)
        return self.requests[-1][1]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("robot") / "my.yaml"
    path.write_bytes(robot_path("nut_arm").read_bytes())
    return path


@pytest.fixture(scope="module")
def server(ros):
    return TaskServer(ros)


@pytest.fixture(scope="module")
def publisher(model, start):
    return start("publisher", robot_description=model.to_urdf())


@pytest.fixture(scope="module")
def viewer(file, publisher, ros, server, start):
    """`./arm view my.yaml`."""
    start("kinematics")
    start("watcher", robot=file)
    ros.show_marker(BESIDE, (0.02, 0.02, 0.02), type=1)
    return start("viewer", port=0, sliders=True, robot=file, show_axes=False)


@pytest.fixture(scope="module")
def page(browser_page, viewer, ros, server):
    browser_page.set_viewport_size({"width": 800, "height": 420})  # drawn in little time
    visit(browser_page, viewer.address(), timeout=240.0, settle=1.0)
    see_layers(browser_page)
    ros.until(lambda: any(name == "list_tasks" for name, _ in server.requests), BOUND)
    return browser_page


@pytest.fixture(scope="class")
def phone(page, viewer):
    other = page.context.new_page()
    other.set_viewport_size({"width": 390, "height": 780})
    visit(other, viewer.address(), timeout=240.0, settle=0.0)
    yield other
    other.close()


def to_rest(page, ros, model):
    """Press "rest" and return where the tool then is."""
    position = model.fk(np.zeros(4))[:3, 3]
    press_until_at(page, ros, "rest", dict.fromkeys(model.joint_names, 0.0), tolerance=1e-4)
    page.wait_for_selector(f'[data-arm="tool"]:has-text("{1e3 * position[2]:.1f} mm")')
    page.evaluate(PAINTED, 2)  # the handle is there too
    return position


@pytest.fixture
def rest(page, ros, model):
    return to_rest(page, ros, model)


def button_of(page, label):
    return page.get_by_role("button", name=label, exact=True).first


def see_layers(page):
    """Wait until the kinematics node is there, whose layers the page can switch."""
    open_tab(page, "View")
    page.get_by_text("Layers", exact=True).wait_for()
    open_tab(page, "Move")


def press(page, label):
    reveal(page, button_of(page, label)).click()


def unfold(page, ros, title, content):
    """Open a folder until its content is seen: the page may build it anew, closed, meanwhile."""
    from playwright.sync_api import Error

    def seen():
        folder = folder_of(page, title)
        if not is_unfolded(content):
            folder.click()
            with contextlib.suppress(Error):
                content.wait_for(timeout=2000)
        return is_unfolded(content)

    ros.until(seen, BOUND)


def is_unfolded(content):
    return content.is_visible() and content.evaluate("e => e.closest('[inert]') === null")


@contextlib.contextmanager
def unfolded(page, ros, title, content):
    """Open a folder, and close it afterwards, also if the test fails: the next finds it closed."""
    unfold(page, ros, title, content)
    try:
        yield
    finally:
        if is_unfolded(content):
            folder_of(page, title).click()


def row_of(page, label):
    """Return what stands beside a label, with it."""
    return page.locator(f'label:text-is("{label}")').locator("xpath=../../..")


def enter(page, joint, text):
    open_tab(page, "Move")
    joint_field(page, joint).fill(text)
    joint_field(page, joint).press("Enter")


def shows(ros, page, kind, text):
    ros.until(page.locator(f'[data-arm="{kind}"]:has-text("{text}")').first.is_visible, BOUND)


def joints(ros):
    message = ros.joint_states[-1]
    return dict(zip(message.name, message.position, strict=True))


def is_at(ros, expected, tolerance=1e-3):
    """Return whether joint_states are as expected, by default to the slider's half step."""
    values = joints(ros) if ros.joint_states else {}
    return all(abs(values.get(n, math.inf) - v) < tolerance for n, v in expected.items())


def reaches(ros, expected, tolerance=1e-3):
    ros.until(lambda: is_at(ros, expected, tolerance), BOUND)


def tip(ros, model):
    values = joints(ros)
    return model.fk([values[name] for name in model.joint_names])[:3, 3]


def is_tip_at(ros, model, point, within=1e-4):
    return bool(ros.joint_states) and np.linalg.norm(tip(ros, model) - point) < within


def settles_at(ros, model, point, within=1e-4):
    ros.until(lambda: is_tip_at(ros, model, point, within), BOUND)


def until_done(page, ros, command, done):
    """Give a command, and again if the page says that it dropped one: that moved nothing.

    A page on a busy machine may draw for longer than a command may wait, and a response of the
    kinematics can be lost.
    """
    dropped = page.locator('[data-arm="page"]:has-text("dropped")').or_(page.get_by_text(LATE))
    while True:
        command()
        ros.catch_up()
        ros.until(lambda: done() or dropped.count(), BOUND)
        ros.until(lambda: done() or not dropped.count(), BOUND)
        if done():
            return


def reset(page, ros, button_page):
    """Press "Reset" in one browser until another shows that the stop has ended."""
    stopped = page.locator('[data-arm="ik"]')
    until_done(button_page, ros, partial(press, button_page, "Reset"), lambda: not stopped.count())


def press_until_at(page, ros, label, expected, tolerance=1e-3):
    command = partial(press, page, label)
    until_done(page, ros, command, lambda: is_at(ros, expected, tolerance))


def enter_until_at(page, ros, joint, text, expected, tolerance=1e-3):
    command = partial(enter, page, joint, text)
    until_done(page, ros, command, lambda: is_at(ros, expected, tolerance))


def pixel(page, model, point):
    size = scene_box(page)
    pose = np.eye(4)
    pose[:3, 3] = BESIDE
    box = corners(Box((0.02, 0.02, 0.02)), pose)
    robot = read_robot(model.to_urdf())
    poses = [robot.poses_at(posture) for posture in PostureBook("nut_arm").postures.values()]
    view = view_of(robot, poses, box, size["width"] / size["height"], tool="tool0")
    (right,), (up,) = pinhole(view, [point])
    return 0.5 * (size["width"] + size["height"] * right), 0.5 * size["height"] * (1.0 - up)


def drag(page, model, start, distance):
    """Drag the handle's arrow for the base's z (the tool's x at rest) along it [m]."""
    arrow = np.array([0.0, 0.0, 0.2 * view_of(read_robot(model.to_urdf())).size])
    page.mouse.move(*pixel(page, model, start + arrow))
    page.mouse.down()
    page.mouse.move(*pixel(page, model, start + arrow + [0.0, 0.0, distance]), steps=6)


def drag_until(page, ros, model, distance, done):
    """Drag from rest as above and keep the button pressed, and again if that was dropped."""

    def again():
        page.mouse.up()
        drag(page, model, to_rest(page, ros, model), distance)

    until_done(page, ros, again, done)


def test_every_joint_is_published_in_the_rest_posture(page, ros, model):
    count = len(ros.joint_states)
    ros.until(lambda: len(ros.joint_states) >= count + 3)
    assert sorted(joints(ros)) == sorted([*model.joint_names, *model.gripper.joints])
    reaches(ros, dict.fromkeys(model.joint_names, 0.0))
    assert all(message.header.stamp.sec > 0 for message in ros.joint_states)


def test_typed_number_moves_the_joint(page, ros):
    for text, radians in (("45", math.pi / 4), ("-30", -math.pi / 6), ("0", 0.0)):
        enter_until_at(page, ros, "waist", text, {"waist": radians, "elbow": 0.0})


@pytest.mark.parametrize(("label", "kept"), [("waist [°]", "45"), ("y [mm]", "30")])
def test_field_acts_when_it_is_left_and_not_at_each_key(page, ros, model, rest, label, kept):
    field = row_of(page, label).locator('input[type="text"]')
    unfold(page, ros, "Pose" if "mm" in label else "Joints", field)
    before, shown = joints(ros), field.input_value()

    def type_in(text):
        field.click(click_count=3)
        page.keyboard.type(text, delay=80)  # longer than viser waits with a message
        ros.wait_for_joint_states()
        assert joints(ros) == before

    type_in(kept)
    page.keyboard.press("Escape")
    assert field.input_value() == shown
    page.wait_for_selector('[data-arm="ik"]:has-text("Stopped")')
    reset(page, ros, page)
    assert joints(ros) == before
    for end in ("Enter", "Tab"):

        def enter(end=end):
            to_rest(page, ros, model)
            ros.until(lambda: field.input_value() == shown, BOUND)
            type_in(kept)
            page.keyboard.press(end)

        until_done(page, ros, enter, lambda: joints(ros) != before)


def test_slider_dragged_to_the_end_stops_at_the_limit(page, ros, model):
    thumb = page.get_by_role("slider").nth(0)
    thumb.focus()
    page.keyboard.press("End")
    reaches(ros, {"waist": float(model.upper[0])})
    box = thumb.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 2000, box["y"], steps=3)
    page.mouse.up()
    reaches(ros, {"waist": float(model.lower[0])})
    waist = [message.position[0] for message in ros.joint_states]
    assert model.lower[0] - 1e-12 <= min(waist) and max(waist) <= model.upper[0]


def test_posture_button_moves_all_joints_and_updates_the_numbers(page, ros, model):
    expected = postures_of(model)["ready"]
    press_until_at(page, ros, "ready", expected)
    x, y, z = 1e3 * model.fk([expected[name] for name in model.joint_names])[:3, 3]
    page.wait_for_selector(f'[data-arm="tool"]:has-text("{x:.1f}, {y + 0.0:.1f}, {z:.1f} mm")')
    for name in model.joint_names:
        page.wait_for_function(
            "([input, x]) => Math.abs(parseFloat(input.value) - x) < 0.06",
            arg=[joint_field(page, name).element_handle(), math.degrees(expected[name])],
        )


def test_dragging_the_handle_moves_the_tool(page, ros, model, rest):
    goal = rest - [0.0, 0.0, 0.04]
    drag_until(page, ros, model, -0.04, lambda: is_tip_at(ros, model, goal, within=0.004))
    page.mouse.up()
    page.wait_for_selector('[data-arm="ik"]:has-text("residual 0.0")')


def test_unreachable_target_is_reported_and_the_arm_stays(page, ros, model, rest):
    answer = page.locator('[data-arm="ik"]:has-text("residual"):has-text("reach")')
    drag_until(page, ros, model, 0.13, answer.count)
    ros.wait_for_joint_states()
    held = tip(ros, model)
    page.mouse.move(*pixel(page, model, BESIDE), steps=3)
    page.mouse.up()
    ros.wait_for_joint_states()
    assert held[2] < rest[2] + 0.13
    np.testing.assert_allclose(tip(ros, model), held, atol=1e-9)


@pytest.fixture
def late_tf(publisher):
    """As on a slow computer: no tf arrives."""
    publisher.process.send_signal(signal.SIGSTOP)
    yield
    publisher.process.send_signal(signal.SIGCONT)


def test_each_listed_solution_reaches_the_same_position(page, ros, model, rest, late_tf):
    ready = postures_of(model)["ready"]
    position = model.fk([ready[name] for name in model.joint_names])[:3, 3]
    press_until_at(page, ros, "ready", ready, tolerance=1e-4)
    unfold(page, ros, "Solutions", button_of(page, "List solutions"))
    press(page, "List solutions")
    page.get_by_role("button", name="1: ").wait_for()
    for button in page.locator("button", has_text="°, ").all():
        button.click()
        words = button.inner_text().split(": ")[1].split("°, ")
        degrees = [float(word.strip("°")) for word in words]
        values = dict(zip(model.joint_names, np.radians(degrees), strict=True))
        reaches(ros, values, tolerance=math.radians(0.06))
        settles_at(ros, model, position)


def test_sliders_follow_every_jog_and_a_useless_one_is_explained(page, ros, model):
    press_until_at(page, ros, "ready", postures_of(model)["ready"])
    shown = joint_field(page, "shoulder")

    def difference():
        return abs(float(shown.input_value()) - math.degrees(joints(ros)["shoulder"]))

    with unfolded(page, ros, "Jog", button_of(page, "+x")):
        for _ in range(2):
            before = joints(ros)["shoulder"]
            jog = partial(press, page, "+x")
            until_done(page, ros, jog, lambda b=before: abs(joints(ros)["shoulder"] - b) > 0.01)
            ros.until(lambda: difference() < 0.06, BOUND)
        page.get_by_role("button", name="+z", exact=True).nth(1).click()  # of Rotate
        shows(ros, page, "answer", "Target in the panel Tool is Position")


def test_stop_stops_the_view_until_reset(page, ros, model, rest):
    press(page, "STOP")
    page.wait_for_selector('[data-arm="ik"]:has-text("Stopped")')
    press(page, "ready")
    drag(page, model, rest, -0.04)
    page.mouse.up()
    ros.wait_for_joint_states()
    np.testing.assert_allclose([joints(ros)[n] for n in model.joint_names], 0.0, atol=1e-9)
    reset(page, ros, page)
    press_until_at(page, ros, "ready", postures_of(model)["ready"])


def test_marker_layer_is_switched_on_from_the_page(page, ros):
    from visualization_msgs.msg import MarkerArray

    namespaces = set()
    subscription = ros.node.create_subscription(
        MarkerArray,
        "kinematics_markers",
        lambda message: namespaces.update(marker.ns for marker in message.markers),
        LATCHED,
    )
    switch = page.get_by_label("Joint limits")
    unfold(page, ros, "Layers", switch)
    switch.check()
    ros.until(lambda: "joint_limits" in namespaces, BOUND)
    ros.node.destroy_subscription(subscription)


def test_line_whose_enter_follows_at_once_is_run_whole(page, ros):
    line = row_of(page, "Command").locator("input")
    with unfolded(page, ros, "Commands", line):
        line.focus()
        page.keyboard.type("go waist=25", delay=5)
        page.keyboard.press("Enter")
        reaches(ros, {"waist": math.radians(25)})


def test_page_at_rest_draws_no_pictures(page, ros, rest):
    page.wait_for_function(f"async () => await ({PICTURES_AT_REST})() === 0")


def test_two_fields_that_are_edited_at_once_keep_both_edits(page, ros):
    fields = [row_of(page, f"{joint}, °").locator("input") for joint in ("waist", "elbow")]
    with unfolded(page, ros, "Motion", fields[0]):
        both = [*(f.element_handle() for f in fields), "12 +", "96 +"]
        wrong = page.locator('[data-arm="wrong"]:visible')
        page.evaluate(EDIT_AT_ONCE, both)
        ros.until(lambda: wrong.count() == 2, BOUND)  # the view has both
        page.evaluate(EDIT_AT_ONCE, [*both[:2], "", ""])
        ros.until(lambda: not wrong.count(), BOUND)


class TestPhone:
    def test_stop_is_always_visible_and_nothing_overflows_the_page(self, page, phone, ros):
        stop = phone.get_by_role("button", name="STOP", exact=True)
        box = stop.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["y"] + box["height"] <= 780
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390
        folder_of(phone, "Jog").evaluate("folder => folder.scrollIntoView()")
        assert 0 <= stop.bounding_box()["y"] <= 780 - box["height"]
        assert stop.evaluate(COVERS_WHILE_SCROLLED) == ""
        before = joints(ros)
        for key in ("Escape", "Space"):
            reveal(page, button_of(page, "ready")).focus()
            page.keyboard.press(key)
            phone.wait_for_selector('[data-arm="ik"]:has-text("Stopped")')  # in all browsers
            reset(page, ros, phone)
        assert joints(ros) == before  # the button with the focus was not pressed

    @pytest.mark.parametrize("block", ["start", "center", "end"])
    def test_open_list_does_not_cover_stop(self, phone, ros, block):
        files = row_of(phone, "Open").locator("input").first  # of all shipped robots
        if not reveal(phone, files).is_visible():
            unfold(phone, ros, "Robot file", files)
        files.evaluate("(field, block) => field.scrollIntoView({ block })", block)
        files.click()
        options = phone.locator("[role=option]:visible")
        options.first.wait_for()
        assert options.count() > 10
        stop = phone.get_by_role("button", name="STOP", exact=True).bounding_box()
        shown = phone.locator(".mantine-Select-dropdown:visible").bounding_box()
        above = shown["y"] + shown["height"] <= stop["y"]
        assert above or shown["y"] >= stop["y"] + stop["height"]
        phone.keyboard.press("Tab")

    def test_two_browsers_share_the_sliders(self, page, phone, ros):
        enter_until_at(page, ros, "waist", "12", {"waist": math.radians(12)})
        open_tab(phone, "Move")
        phone.wait_for_function(
            "x => [...document.querySelectorAll('input')].some(i => i.value == x)", arg="12"
        )

    def test_entry_that_is_typed_while_another_browser_moves_the_arm_is_kept(
        self, page, phone, ros
    ):
        page.bring_to_front()
        field, tool = joint_field(page, "waist"), page.locator('[data-arm="tool"]')
        position = tool.inner_text()
        field.press("Control+a")
        page.keyboard.type("15")
        enter_until_at(phone, ros, "waist", "30", {"waist": math.radians(30)})
        ros.until(lambda: tool.inner_text() != position, BOUND)  # the motion has reached the page
        assert field.input_value() == "15"
        page.keyboard.press("Enter")
        reaches(ros, {"waist": math.radians(15)})


def test_task_is_checked_and_its_report_shown(page, ros, server):
    open_tab(page, "Run")
    shows(ros, page, "task-state", "waiting for a goal")
    assert server.request_after(page, "Check", "check_task").task == "nut_transfer"
    shows(ros, page, "report", "Fine: it can be done")
    shows(ros, page, "report", "wave")


def test_no_line_widens_the_panel(page, ros, server):
    open_tab(page, "Run")
    panel = page.locator(".mantine-ScrollArea-viewport").first
    for line in ("a long line " * 30, "/a/long/path" * 30):
        server.state.publish(type(server.idle)(task="nut_transfer", message=line))
        shows(ros, page, "task-state", line.strip())
        assert panel.evaluate("panel => panel.scrollWidth - panel.clientWidth") <= 0
    server.state.publish(server.idle)
    save_as = row_of(page, "Save as").locator("input")
    with unfolded(page, ros, "Robot file", save_as):
        save_as.fill("/a/long/path" * 30)
        save_as.press("Enter")
        shows(ros, page, "file-answer", "is not a file name")
        assert panel.evaluate("panel => panel.scrollWidth - panel.clientWidth") <= 0


def test_new_robot_files_are_listed_while_the_arm_rests(page, ros, file):
    files = row_of(page, "Open").locator("input").first
    listed = page.locator("[role=option]:visible")

    def is_listed(name):
        """Return whether a file is listed; open the list, which a change of the page closes."""
        if not listed.first.is_visible():
            files.click()
        return listed.filter(has_text=f"{name} ·").is_visible()

    with unfolded(page, ros, "Robot file", files):
        ros.until(lambda: is_listed("puma560"))
        (file.parent / "later.yaml").write_bytes(file.read_bytes())
        ros.until(lambda: is_listed("later.yaml"))
        page.keyboard.press("Tab")


def test_rejection_by_the_task_server_is_shown(page, ros, server):
    server.request_after(page, "Pause", "task_server/pause")
    shows(ros, page, "report", "no task runs")


def test_failed_run_is_continued_at_its_step(page, ros, server):
    open_tab(page, "Run")
    button = page.get_by_role("button", name="Continue at step")
    assert button.is_disabled()
    server.offer_to_continue("3.2")
    ros.until(lambda: button.is_enabled() and button.inner_text() == "Continue at step 3.2", BOUND)
    goal = server.request_after(page, "Continue at step 3.2", "run_task")
    assert (goal.task, goal.start_step) == ("nut_transfer", "3.2")
    shows(ros, page, "report", "The remaining steps are done")
    server.offer_to_continue("")
    ros.until(button.is_disabled, BOUND)


def test_nut_and_payloads_are_put_back(page, ros, server):
    open_tab(page, "Run")
    server.state.publish(server.idle)  # the button appears with the next state
    page.get_by_role("button", name="Put nut and payloads back").wait_for()
    server.request_after(page, "Put nut and payloads back", "nut_world/reset")
    shows(ros, page, "report", "They are back.")


def test_teach_buttons_call_the_task_server(page, ros, server):
    unfold(page, ros, "Teach", button_of(page, "Save pose"))
    assert server.request_after(page, "Save pose", "teach/save_pose").name == "here"
    shows(ros, page, "report", "saved as here")
    answer = page.locator('[data-arm="report"]:has-text("saved as here")')
    below = page.get_by_role("button", name="Record path", exact=True)
    assert answer.bounding_box()["y"] < below.bounding_box()["y"]  # beside what was pressed
    assert server.request_after(page, "Replay", "teach/replay").name == "here"
    shows(ros, page, "report", "no path here")
    request = server.request_after(page, "Add touch point", "teach/touch_bolt")
    assert (request.bolt, request.action, request.surface) == ("upper_bolt", 0, 0)
    shows(ros, page, "report", "1 point")
    press(page, "Record path")
    shows(ros, page, "report", "Nothing answers 'record' yet")


def save(file, text):
    parse_robot(text, str(file))
    beside = file.with_suffix(".swp")
    beside.write_text(text)
    beside.replace(file)


def drawings(page):
    return int(page.locator('[data-arm="drawn"]').get_attribute("data-revision"))


def test_view_follows_the_file_and_keeps_the_last_valid_robot(page, file, ros):
    open_tab(page, "Move")
    good, model = file.read_text(), load_robot(file)
    first = model.joint_names[0]
    slider = f'label:has-text("{first} [")'
    page.wait_for_selector(slider)
    before = drawings(page)
    ros.until(lambda: ros.node.count_publishers("robot_file/status"))  # it watches from now on

    renamed = good.replace(first, "azimuth")
    save(file, renamed)
    page.wait_for_selector('label:has-text("azimuth [")')
    page.wait_for_selector(slider, state="detached")
    ros.until(lambda: "azimuth" in joints(ros), BOUND)
    after = before + 1
    page.wait_for_selector(f'{DRAWN}[data-revision="{after}"]', state="attached")

    file.write_text(renamed.replace("convention:", "convection:"))
    page.wait_for_selector(f"{FILE_ERROR}:has-text(\"did you mean 'convention'?\")")
    error = page.locator(FILE_ERROR).inner_text()
    assert f"{file}:" in error and "'convection'" not in error.split("did you mean")[1]
    assert page.locator('label:has-text("azimuth [")').count() == 1
    assert drawings(page) == after

    folded = ", ".join(f"{name}: 0" for name in ("azimuth", *model.joint_names[1:]))
    save(file, renamed.replace("postures:\n", f"postures:\n  folded: {{{folded}}}\n"))
    page.wait_for_selector(FILE_ERROR, state="hidden")
    page.get_by_role("button", name="folded", exact=True).wait_for()
    save(file, good)
    page.wait_for_selector(slider)


def test_robot_is_edited_undone_and_saved_in_the_page(page, file, ros, late_tf):
    good = file.read_text()
    entry = page.locator('[data-cell="0 d"]')
    shown = page.get_by_label("Show the table")
    unfold(page, ros, "Table", shown)
    shown.click()
    unfold(page, ros, "Robot file", button_of(page, "Save"))
    before, drawn = entry.input_value(), drawings(page)
    for text, wrong in (("1 +", True), ("111", False)):
        entry.fill(text)
        entry.press("Enter")
        state = "visible" if wrong else "hidden"
        page.locator('tr [data-arm="wrong"]').first.wait_for(state=state)
    page.wait_for_selector(f'{DRAWN}[data-revision="{drawn + 1}"]', state="attached")
    press(page, "Save")
    ros.until(lambda: "111" in file.read_text(), BOUND)
    assert file.read_text().count("#") == good.count("#")  # comments stay
    press(page, "Undo")
    ros.until(lambda: entry.input_value() == before, BOUND)
    press(page, "Save")
    ros.until(lambda: file.read_text() == good, BOUND)


def test_view_beside_a_driver_shows_it_and_moves_it_after_control_was_taken(page, ros, start):
    """The driver comes later and ends earlier; its arm is at rest."""
    enter_until_at(page, ros, "waist", "30", {"waist": math.radians(30.0)})
    driver = start("driver", hardware="fake", robot="nut_arm", autostart="activate")
    shows(ros, page, "beside", "A driver moves this arm")
    ros.until(lambda: joint_field(page, "waist").input_value() == "0", BOUND)
    ros.joint_states.clear()

    enter(page, "waist", "45")  # refused: the line "beside" says why, which is not repeated
    ros.until(lambda: joint_field(page, "waist").input_value() == "0", BOUND)
    assert page.locator('[data-arm="beside"]:has-text("Take control")').is_visible()
    ros.wait_for_joint_states()
    assert {m.position[list(m.name).index("waist")] for m in ros.joint_states} == {0.0}
    reveal(page, page.get_by_label("Take control")).click()
    page.locator('[data-arm="beside"]').wait_for(state="detached")

    def moved():
        enter(page, "waist", "20")
        ros.executor.spin_once(timeout_sec=0.1)
        return joints(ros)["waist"] > 0.1

    ros.until(moved, BOUND)
    assert driver.end(signal.SIGTERM) == 0
    page.get_by_label("Take control").wait_for(state="hidden")
    enter_until_at(page, ros, "waist", "-30", {"waist": math.radians(-30.0), "elbow": 0.0})


@pytest.fixture
def driven(page, ros, viewer, start):
    """The page of `./arm view --drive` with a fake driver, in place of the one with sliders."""
    assert viewer.end(signal.SIGTERM) == 0
    ros.joint_states.clear()
    driver = start("driver", hardware="fake", robot="nut_arm", autostart="activate")
    driving = start("viewer", port=0, drive=True, robot="nut_arm")
    visit(page, driving.address(), timeout=240.0, settle=0.0)
    page.wait_for_selector('[data-arm="driver"]:has-text("armed")')
    ros.until(lambda: ros.joint_states)
    see_layers(page)
    yield page
    for program in (driving, driver):
        assert program.end(signal.SIGTERM) == 0


def test_driver_is_jogged_stopped_and_reset_from_the_page(driven, ros, model):
    page = driven
    jogged = tip(ros, model) - [0.0, 0.0, 0.005]

    def is_jogged():
        return is_tip_at(ros, model, jogged, within=5e-4)

    unfold(page, ros, "Jog", button_of(page, "−z"))
    until_done(page, ros, partial(press, page, "−z"), is_jogged)
    opened = dict.fromkeys(model.gripper.joints, 0.008)
    enter_until_at(page, ros, "left_finger", "8", opened, tolerance=1e-4)
    ros.until(is_jogged, BOUND)  # the arm stayed
    press(page, "STOP")
    page.wait_for_selector('[data-arm="driver"]:has-text("stopped")')
    held = tip(ros, model)
    press(page, "ready")
    page.wait_for_selector('[data-arm="ik"]:has-text("Stopped")')
    np.testing.assert_allclose(tip(ros, model), held, atol=1e-9)
    for label, state in (("Reset", "armed"), ("Hold", "disarmed"), ("Arm", "fake, armed")):
        shown = page.locator(f'[data-arm="driver"]:has-text("{state}")')
        until_done(page, ros, partial(press, page, label), shown.is_visible)
    press_until_at(page, ros, "ready", postures_of(model)["ready"], tolerance=5e-4)
