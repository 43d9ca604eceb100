# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A real browser shows the content of real topics: robot, motion, markers, texts, switches."""

import io
import itertools
import math
import time

import numpy as np
import pytest
from arm_common.ros.qos import LATCHED
from arm_common.transforms import turn_z
from arm_testing.pages.pinhole import pinhole
from arm_viewer.browser.cameras import view_of
from arm_viewer.scene.robot import read_robot
from arm_viewer.scene.shapes import Box, Cylinder
from arm_viewer.screenshot import PAINTED, scene_box, visit
from PIL import Image, ImageDraw
from trimesh import creation
from visualization_msgs.msg import Marker, MarkerArray

pytestmark = pytest.mark.system

SIZE = (800, 520)  # Of the scene beside the sidebar, on the page of conftest.py.
words = itertools.count()
ALIKE = 0.9  # of the pixels; edges are smoothed, and a shadow may fall beside
CLEARLY = 60  # Of 255: two pixels that differ by more show different things.


@pytest.fixture(scope="module")
def robot(urdf):
    return read_robot(urdf)


@pytest.fixture(scope="module")
def page(browser_page, ros, urdf, robot, start):
    """The page of a viewer that was sent the robot in its zero posture."""
    ros.show_robot(urdf)
    ros.show_frames(robot.zero)
    url = start("viewer", port=0, show_axes=False, show_trace=False).address()
    browser_page.requests, browser_page.address = [], url.partition("?")[0]
    browser_page.on("request", lambda request: browser_page.requests.append(request.url))
    visit(browser_page, url, timeout=240.0, settle=0.0)
    return browser_page


def picture(page):
    hidden = "[class*=mantine] { visibility: hidden !important; }"
    png = page.screenshot(style=hidden, clip=scene_box(page))
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def until(page, condition, bound=240.0):
    """Return the first picture for which the condition holds."""
    end = time.monotonic() + bound
    while not condition(seen := picture(page)):
        assert time.monotonic() < end, "the picture never met the condition"
        page.evaluate(PAINTED, 2)
    return seen


def wait_until_drawn(page, ros):
    """Wait until the page shows everything published so far.

    Each word takes the same path as all messages; the viewer draws the first one, and everything
    published before it, before it sends the second.
    """
    for _ in range(2):
        word = f"word {next(words)}."
        ros.show_nut(message=word)
        page.wait_for_selector(f'[data-arm="nut"]:has-text("{word}")')
    page.evaluate(PAINTED, 2)


def settled(page):
    """Return a picture that is the same in two consecutive screenshots."""
    former = picture(page)
    page.evaluate(PAINTED, 2)

    def same(seen):
        nonlocal former
        former, before = seen, former
        return np.array_equal(seen, before)

    return until(page, same)


def projected(robot, point):
    (right,), (up,) = pinhole(view_of(robot, aspect=SIZE[0] / SIZE[1]), [point])
    return 0.5 * SIZE[1] * (1.0 - up), 0.5 * (SIZE[0] + SIZE[1] * right)


def pixel(robot, point):
    row, column = projected(robot, point)
    return round(row), round(column)


def surface(shape):
    """Return a shape of a visual as a mesh."""
    if isinstance(shape, Box):
        return creation.box(shape.size)
    if isinstance(shape, Cylinder):
        return creation.cylinder(0.5 * shape.diameters[0], shape.length)
    return creation.icosphere(radius=0.5 * shape.diameters[0])


def reference(robot, frames):
    """Return the pixels that the robot covers, by projecting each face of its shapes."""
    image = Image.new("1", SIZE)
    pen = ImageDraw.Draw(image)
    for visual in robot.visuals:
        mesh = surface(visual.shape)
        mesh.apply_transform(frames[visual.link] @ visual.pose)
        for face in mesh.triangles:
            corners = [projected(robot, corner) for corner in face]
            pen.polygon([(column, row) for row, column in corners], fill=1)
    return np.asarray(image)


def overlap(one, other):
    return float((one & other).sum() / (one | other).sum())


def centres(robot, frames):
    return [(frames[v.link] @ v.pose)[:3, 3] for v in robot.visuals]


def differs(a, b):
    return np.abs(a - b).max(axis=2) > CLEARLY


def turned(robot, angle):
    return {
        name: T if name == "base_link" else turn_z(angle) @ T for name, T in robot.zero.items()
    }


@pytest.fixture(scope="module")
def empty(page, ros, urdf, robot):
    """The picture of the same scene with a robot that has no visuals."""
    full = picture(page)
    bare = "".join(part.split("</visual>")[-1] for part in urdf.split("<visual>"))
    ros.show_robot(bare)
    middle = pixel(robot, centres(robot, robot.zero)[1])
    until(page, lambda seen: differs(seen, full)[middle])
    wait_until_drawn(page, ros)
    seen = settled(page)
    ros.show_robot(urdf)
    until(page, lambda now: differs(now, seen)[middle])
    wait_until_drawn(page, ros)
    return seen


def test_page_loads_nothing_from_other_machines(page):
    assert page.requests
    away = [url for url in page.requests if not url.startswith((page.address, "data:", "blob:"))]
    assert away == []


def test_drawn_pixels_match_a_projected_reference(page, robot, empty):
    there = differs(settled(page), empty)
    right = overlap(there, reference(robot, robot.zero))
    assert right > ALIKE
    for wrong in (-0.18, 0.18):  # [rad] of the waist: a finger's breadth at the tool
        assert overlap(there, reference(robot, turned(robot, wrong))) < right - 0.1


def test_arm_follows_tf(page, ros, robot, empty):
    frames = turned(robot, 0.9)
    ros.show_frames(frames)
    tool = pixel(robot, centres(robot, frames)[3])
    until(page, lambda seen: differs(seen, empty)[tool])
    wait_until_drawn(page, ros)
    seen = settled(page)
    for centre in centres(robot, frames):
        assert differs(seen, empty)[pixel(robot, centre)]
    assert not differs(seen, empty)[pixel(robot, centres(robot, robot.zero)[4])]
    ros.show_frames(robot.zero)
    until(page, lambda seen: differs(seen, empty)[pixel(robot, centres(robot, robot.zero)[4])])


def test_markers_are_drawn_and_deleted(page, ros, robot, empty):
    place = np.array([0.2, -0.05, 0.02])
    spot = pixel(robot, place)
    ros.show_marker(type=2, position=place, scale=(0.05, 0.05, 0.05), color=(0.0, 0.8, 0.0))
    seen = until(page, lambda seen: differs(seen, empty)[spot])
    red, green, blue = seen[spot]
    assert green > red + CLEARLY
    assert green > blue + CLEARLY
    ros.show_marker(type=2, action=2)
    until(page, lambda seen: not differs(seen, empty)[spot])


def test_republished_text_markers_stay_visible(page, ros, robot, empty):
    place = np.array([0.22, 0.0, 0.1])
    row, column = pixel(robot, place)
    near = (slice(row - 4, row + 5), slice(column - 25, column + 26))
    for height in (0.03, 0.03, 0.04):  # Drawn, published again, drawn in another size.
        ros.show_marker(type=9, position=place, scale=(0.0, 0.0, height), text="HHHHHH")
        wait_until_drawn(page, ros)
        until(page, lambda seen: differs(seen, empty)[near].mean() > 0.1)
    ros.show_marker(type=9, action=2)
    until(page, lambda seen: not differs(seen, empty)[near].any())


def test_task_and_nut_texts_are_shown_with_html_escaped(page, ros):
    ros.show_task("Step 3 of 9: turn <img src=x onerror=\"document.title='owned'\">")
    page.wait_for_selector('[data-arm="task"]:has-text("Step 3 of 9: turn <img src=x")')
    ros.show_nut(state=2, bolt="upper_bolt", turns_engaged=2.5, message="gripped")
    page.wait_for_selector(
        '[data-arm="nut"]:has-text("on upper_bolt, held, 2.50 turns engaged: gripped")'
    )
    assert page.title() != "owned"
    ros.show_task("")
    page.wait_for_selector('[data-arm="task"]', state="detached")


def test_latest_warning_of_any_node_is_shown(page, ros):
    ros.node.get_logger().info("all is <b>well</b>")
    ros.node.get_logger().warning("a servo is <b>warm</b>")
    page.wait_for_selector('[data-arm="log"]:has-text("test: a servo is <b>warm</b>")')


def test_joints_and_tool_position_are_shown(page, ros):
    ros.show_joints({"waist": math.pi / 4, "left_finger": 0.0125})
    page.wait_for_selector('[data-arm="joints"]:has-text("45.0°")')
    page.wait_for_selector('[data-arm="joints"]:has-text("12.5 mm")')
    page.wait_for_selector('[data-arm="tool"]:has-text("190.0, 0.0, 190.0 mm")')


def test_invalid_description_is_reported_and_the_robot_stays(page, ros, urdf, robot, empty):
    ros.show_robot("<model/>")
    page.wait_for_selector('[data-arm="problem"]:has-text("it must be <robot>")')
    assert differs(picture(page), empty)[pixel(robot, centres(robot, robot.zero)[1])]
    ros.show_robot(urdf)
    page.wait_for_selector('[data-arm="problem"]', state="detached")


def test_switch_shows_the_frames(page, robot):
    before = settled(page)
    page.get_by_label("Frames", exact=True).click()
    tip = (robot.zero["tool0"] @ [0, 0, 0.015, 1])[:3]  # Half way along tool0's z axis.
    row, column = pixel(robot, tip)
    near = (slice(row - 3, row + 4), slice(column - 3, column + 4))
    seen = until(page, lambda seen: differs(seen, before)[near].any())
    blues = seen[near].reshape(-1, 3)
    assert (blues[:, 2] > blues[:, :2].max(axis=1) + CLEARLY).any()
    page.get_by_label("Frames", exact=True).click()
    until(page, lambda seen: not differs(seen, before)[near].any())


def test_contact_forces_are_received_while_they_are_switched_on(page, ros, robot, empty):
    contacts = ros.node.create_publisher(MarkerArray, "ground_truth/contacts", LATCHED)
    place = np.array([0.2, -0.05, 0.02])
    force = Marker(ns="contacts", type=Marker.SPHERE)
    force.header.frame_id, force.color.g, force.color.a = "base_link", 0.8, 1.0
    force.pose.position.x, force.pose.position.y, force.pose.position.z = place
    force.scale.x = force.scale.y = force.scale.z = 0.05
    contacts.publish(MarkerArray(markers=[force]))
    switch, spot = page.get_by_label("Contact forces", exact=True), pixel(robot, place)
    switch.wait_for()
    assert contacts.get_subscription_count() == 0
    switch.click()
    until(page, lambda seen: differs(seen, empty)[spot])
    switch.click()
    until(page, lambda seen: not differs(seen, empty)[spot])
    assert contacts.get_subscription_count() == 0
