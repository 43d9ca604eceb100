# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Sliders in a real browser move a shipped robot: joint_states, tf, and the panel's numbers."""

import math

import pytest
from arm_viewer.screenshot import visit

from arm_description import load_robot

pytestmark = pytest.mark.system

PUBLISH = """
import sys
from arm_description.ros.state_publisher import main
sys.argv += ["--ros-args", "-p", "robot_description:=" + sys.argv.pop()]
main()
"""


@pytest.fixture(scope="module")
def model():
    return load_robot("nut_arm")


@pytest.fixture(scope="module")
def ros(ros_node):
    with ros_node() as node:
        yield node


@pytest.fixture(scope="module")
def page(browser_page, model, ros, start_viewer, start_process):
    """The page of `./arm view nut_arm`: a state publisher, and a viewer with sliders."""
    url = start_viewer("port:=0", "sliders:=true", "robot:=nut_arm")
    start_process(PUBLISH, model.to_urdf())
    visit(browser_page, url, timeout=240.0)
    return browser_page


def field(page, joint):
    """Return the input field of a joint's slider."""
    row = page.locator(f'label:has-text("{joint} [")').locator("xpath=../../..")
    return row.locator('input[type="text"]')


def joints(ros):
    """Return the joints' values by name, as published last."""
    message = ros.joint_states[-1]
    return dict(zip(message.name, message.position, strict=True))


def reaches(ros, expected):
    """Wait until joint_states says what is expected, to the slider's half step."""
    ros.until(
        lambda: (
            ros.joint_states
            and all(math.isclose(joints(ros)[n], v, abs_tol=1e-3) for n, v in expected.items())
        )
    )


def test_every_joint_is_published_at_rest_in_the_rest_posture(page, ros, model):
    count = len(ros.joint_states)
    ros.until(lambda: len(ros.joint_states) >= count + 3)
    names = [*model.joint_names, *model.gripper.joints]
    assert sorted(joints(ros)) == sorted(names)
    reaches(ros, dict.fromkeys(model.joint_names, 0.0))
    stamps = [m.header.stamp for m in ros.joint_states]
    assert all(stamp.sec > 0 for stamp in stamps)


def test_a_number_typed_moves_the_joint(page, ros, model):
    for text, radians in (("45", math.pi / 4), ("-30", -math.pi / 6)):
        box = field(page, "waist")
        box.fill(text)
        box.press("Enter")
        reaches(ros, {"waist": radians, "elbow": 0.0})
    box.fill("0")
    box.press("Enter")
    reaches(ros, {"waist": 0.0})


def test_the_thumb_dragged_to_the_end_stops_at_the_limit(page, ros, model):
    thumb = page.get_by_role("slider").nth(0)
    thumb.focus()
    page.keyboard.press("End")
    reaches(ros, {"waist": float(model.upper[0])})
    assert joints(ros)["waist"] <= model.upper[0]
    box = thumb.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 2000, box["y"], steps=3)
    page.mouse.up()
    reaches(ros, {"waist": float(model.lower[0])})
    assert all(m.position[0] >= model.lower[0] - 1e-12 for m in ros.joint_states)


def test_a_posture_button_moves_all_and_the_numbers_follow(page, ros, model):
    posture = dict(model.postures["ready"])
    width = posture.pop("gripper", 0.0)
    page.get_by_role("button", name="ready").click()
    reaches(ros, posture | dict.fromkeys(model.gripper.joints, 0.5 * width))
    q = [posture[name] for name in model.joint_names]
    x, y, z = 1e3 * model.fk(q)[:3, 3]
    page.wait_for_selector(f'[data-arm="tool"]:has-text("{x:.1f}, {y + 0.0:.1f}, {z:.1f} mm")')
    for name, value in posture.items():
        page.wait_for_function(
            "([input, x]) => Math.abs(parseFloat(input.value) - x) < 0.06",
            arg=[field(page, name).element_handle(), math.degrees(value)],
        )


def test_two_browsers_share_the_sliders(page, ros):
    other = page.context.new_page()
    try:
        other.goto(page.url)
        box = field(page, "waist")
        box.fill("12")
        box.press("Enter")
        reaches(ros, {"waist": math.radians(12)})
        other.wait_for_function(
            "x => [...document.querySelectorAll('input')].some(i => i.value == x)", arg="12"
        )
    finally:
        other.close()
