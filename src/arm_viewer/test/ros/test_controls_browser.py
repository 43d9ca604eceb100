# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A real browser drags, jogs, chooses and stops: the view's own joints, and a driver's."""

import math

import numpy as np
import pytest
from arm_testing import domains
from arm_viewer.browser.cameras import FIELD_OF_VIEW, view_of
from arm_viewer.scene.robot import PostureBook, read_robot
from arm_viewer.scene.shapes import Box, corners
from arm_viewer.screenshot import scene_box, visit

from arm_description import load_robot

pytestmark = pytest.mark.system

BOUND = 60.0  # s
BESIDE = (0.25, 0.0, 0.4)  # m; out of reach, and yet in the picture, for a box is there
PUBLISH = """
import sys
from arm_description.ros.state_publisher import main
sys.argv += ["--ros-args", "-p", "robot_description:=" + sys.argv.pop()]
main()
"""
KINEMATICS = "from arm_kinematics.ros.node import main; main()"
DRIVER = "from arm_hardware.ros.process import main; main()"


@pytest.fixture(scope="module")
def model():
    return load_robot("nut_arm")


@pytest.fixture(scope="module")
def shown(ros_node):
    with ros_node() as node:
        yield node


@pytest.fixture(scope="module")
def page(browser_page, model, shown, start_viewer, start_process):
    """The page of `./arm view nut_arm`."""
    start_process(KINEMATICS)
    url = start_viewer("port:=0", "sliders:=true", "robot:=nut_arm", "show_axes:=false")
    start_process(PUBLISH, model.to_urdf())
    shown.show_marker(BESIDE, (0.02, 0.02, 0.02), type=1)
    page = browser_page.context.new_page()
    page.set_viewport_size({"width": 1100, "height": 600})
    page.set_default_timeout(1e3 * BOUND)
    visit(page, url, timeout=240.0)
    page.get_by_text("Kinematics", exact=True).wait_for()  # that node is there
    yield page
    page.close()


def joints(ros, model):
    message = ros.joint_states[-1]
    values = dict(zip(message.name, message.position, strict=True))
    return [values[name] for name in model.joint_names]


def tip(ros, model):
    return model.fk(joints(ros, model))[:3, 3]


def fingers(ros):
    message = ros.joint_states[-1]
    values = dict(zip(message.name, message.position, strict=True))
    return values["left_finger"], values["right_finger"]


def settles_at(ros, model, point, within=1e-4):
    ros.until(lambda: ros.joint_states and np.linalg.norm(tip(ros, model) - point) < within, BOUND)


def hear_more(ros):
    """Wait for joint_states that come after all that a page has shown."""
    count = len(ros.joint_states)
    ros.until(lambda: len(ros.joint_states) > count + 10, BOUND)


def box_at(place):
    """Return the corners of a box of 2 cm, (8, 3)."""
    pose = np.eye(4)
    pose[:3, 3] = place
    return corners(Box((0.02, 0.02, 0.02)), pose)


def pixel(page, model, point):
    """Return x and y where the camera shows a point, by the pinhole model."""
    size = scene_box(page)
    robot, poses = read_robot(model.to_urdf()), PostureBook("nut_arm").poses
    view = view_of(robot, poses, box_at(BESIDE), aspect=size["width"] / size["height"])
    ahead = view.look_at - view.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, [0, 0, 1])
    right /= np.linalg.norm(right)
    ray = np.asarray(point) - view.position
    scale = 0.5 * size["height"] / math.tan(0.5 * FIELD_OF_VIEW) / (ray @ ahead)
    down = np.cross(ahead, right)
    return 0.5 * size["width"] + scale * (ray @ right), 0.5 * size["height"] + scale * (ray @ down)


def drag(page, model, start, way):
    """Drag the handle's arrow for the base's z (the tool's x at rest) along it, by metres."""
    size = view_of(read_robot(model.to_urdf())).size
    arrow = np.array([0.0, 0.0, 0.2 * size])
    x0, y0 = pixel(page, model, start + arrow)
    x1, y1 = pixel(page, model, start + arrow + [0.0, 0.0, way])
    page.mouse.move(x0, y0)
    page.mouse.down()
    page.mouse.move(x1, y1, steps=6)


def test_dragging_the_handle_moves_the_tool_there_through_ik(page, shown, model):
    start = model.fk(np.zeros(4))[:3, 3]
    settles_at(shown, model, start)
    drag(page, model, start, -0.04)
    settles_at(shown, model, start - [0.0, 0.0, 0.04], within=0.004)
    page.mouse.up()
    page.wait_for_selector('[data-arm="ik"]:has-text("residual 0.0")')


def test_out_of_reach_is_said_and_the_arm_stays(page, shown, model):
    page.get_by_role("button", name="rest").click()
    start = model.fk(np.zeros(4))[:3, 3]
    settles_at(shown, model, start)
    drag(page, model, start, 0.13)
    page.wait_for_selector('[data-arm="ik"]:has-text("residual")')
    page.wait_for_selector('[data-arm="ik"]:has-text("reach")')
    hear_more(shown)
    held = tip(shown, model)
    page.mouse.move(*pixel(page, model, BESIDE), steps=3)
    page.mouse.up()
    hear_more(shown)
    assert held[2] < start[2] + 0.13
    np.testing.assert_allclose(tip(shown, model), held, atol=1e-9)
    page.get_by_role("button", name="rest").click()
    settles_at(shown, model, start)


def test_each_solution_offered_reaches_the_same_place(page, shown, model):
    page.get_by_role("button", name="ready").click()
    ready = [model.postures["ready"][name] for name in model.joint_names]
    place = model.fk(ready)[:3, 3]
    settles_at(shown, model, place)
    page.get_by_role("button", name="Solutions").click()
    page.get_by_role("button", name="1: ").wait_for()
    offered = page.locator("button", has_text="°, ")
    for i in range(offered.count()):
        before = len(shown.joint_states)
        offered.nth(i).click()
        shown.until(lambda before=before: len(shown.joint_states) > before)
        settles_at(shown, model, place)
        words = offered.nth(i).inner_text().split(": ")[1].split("°, ")
        degrees = [float(word.strip("°")) for word in words]
        shown.until(
            lambda degrees=degrees: np.allclose(
                np.degrees(joints(shown, model)), degrees, atol=0.06
            )
        )


def test_stop_stops_the_view_until_reset(page, shown, model):
    page.get_by_role("button", name="rest").click()
    start = model.fk(np.zeros(4))[:3, 3]
    settles_at(shown, model, start)
    page.get_by_role("button", name="STOP").click()
    page.wait_for_selector('[data-arm="ik"]:has-text("Stopped")')
    page.get_by_role("button", name="ready").click()
    drag(page, model, start, -0.04)
    page.mouse.up()
    hear_more(shown)
    np.testing.assert_allclose(joints(shown, model), 0.0, atol=1e-9)
    page.get_by_role("button", name="Reset").click()
    page.wait_for_selector('[data-arm="ik"]', state="detached")
    page.get_by_role("button", name="ready").click()
    ready = [model.postures["ready"][name] for name in model.joint_names]
    settles_at(shown, model, model.fk(ready)[:3, 3])


def test_a_layer_of_the_kinematics_is_switched_on_from_the_page(page, shown):
    from arm_common.ros.qos import LATCHED
    from visualization_msgs.msg import MarkerArray

    seen = set()
    subscription = shown.node.create_subscription(
        MarkerArray, "kinematics_markers", lambda m: seen.update(k.ns for k in m.markers), LATCHED
    )
    page.get_by_text("Kinematics", exact=True).click()
    page.get_by_label("Joint limits").check()
    shown.until(lambda: "joint_limits" in seen)
    shown.node.destroy_subscription(subscription)


def test_on_a_phone_stop_is_in_reach_and_nothing_is_wider_than_the_page(page):
    other = page.context.new_page()
    try:
        other.set_viewport_size({"width": 390, "height": 780})
        visit(other, page.url, timeout=240.0)
        box = other.get_by_role("button", name="STOP").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert box["y"] + box["height"] <= 780
        assert other.evaluate("document.documentElement.scrollWidth") <= 390
        other.get_by_text("Clear tool path", exact=True).scroll_into_view_if_needed()
        box = other.get_by_role("button", name="STOP").bounding_box()  # stays in reach
        assert 0 <= box["y"] <= 780 - box["height"]
        other.keyboard.press("s")
        page.wait_for_selector('[data-arm="ik"]:has-text("Stopped")')  # and all others see it
        other.get_by_role("button", name="Reset").click()
        page.wait_for_selector('[data-arm="ik"]', state="detached")
    finally:
        other.close()


@pytest.fixture(scope="module")
def driven(ros_node):
    with domains.leased() as domain, ros_node(domain) as node:
        node.domain = domain
        yield node


def test_a_driver_is_jogged_stopped_and_reset_from_the_page(
    browser_page, model, driven, start_viewer, start_process
):
    domain = driven.domain
    start_process(KINEMATICS, domain=domain)
    words = ("hardware:=fake", "robot:=nut_arm", "autostart:=activate")
    parameters = (w for word in words for w in ("-p", word))
    start_process(DRIVER, "--ros-args", *parameters, domain=domain)
    start_process(PUBLISH, model.to_urdf(), domain=domain)
    url = start_viewer("port:=0", "drive:=true", "robot:=nut_arm", domain=domain)
    page = browser_page.context.new_page()
    try:
        page.set_default_timeout(240e3)
        visit(page, url, timeout=240.0)
        page.wait_for_selector('[data-arm="driver"]:has-text("armed")')
        driven.until(lambda: driven.joint_states)
        start = tip(driven, model)
        page.get_by_text("Kinematics", exact=True).wait_for()
        page.get_by_text("Jog", exact=True).click()
        page.get_by_role("button", name="−z", exact=True).first.click()
        settles_at(driven, model, start - [0.0, 0.0, 0.005], within=5e-4)
        row = page.locator('label:has-text("left_finger [")').locator("xpath=../../..")
        row.locator('input[type="text"]').fill("8")
        row.locator('input[type="text"]').press("Enter")
        driven.until(lambda: fingers(driven) == pytest.approx((0.008, 0.008), abs=1e-4), BOUND)
        settles_at(driven, model, start - [0.0, 0.0, 0.005], within=5e-4)  # the arm stayed
        page.get_by_role("button", name="STOP").click()
        page.wait_for_selector('[data-arm="driver"]:has-text("stopped")')
        held = tip(driven, model)
        page.get_by_role("button", name="ready").click()
        page.wait_for_selector('[data-arm="ik"]:has-text("Stopped")')
        np.testing.assert_allclose(tip(driven, model), held, atol=1e-9)
        page.get_by_role("button", name="Reset").click()
        page.wait_for_selector('[data-arm="driver"]:has-text("armed")')
        page.get_by_role("button", name="ready").click()
        ready = [model.postures["ready"][name] for name in model.joint_names]
        settles_at(driven, model, model.fk(ready)[:3, 3])
        half = 0.5 * model.postures["ready"]["gripper"]
        driven.until(lambda: fingers(driven) == pytest.approx((half, half), abs=1e-4), BOUND)
    finally:
        page.close()
