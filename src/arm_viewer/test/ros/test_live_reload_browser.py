# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm view my.yaml` in a real browser: picture, sliders and postures follow the saved file."""

import pytest
from arm_viewer.screenshot import DRAWN

from arm_description import load_robot, parse_robot, robot_path

pytestmark = pytest.mark.system

PUBLISH = """
import sys
from arm_description.ros.state_publisher import main
sys.argv += ["--ros-args", "-p", "robot_description:=" + sys.argv.pop()]
main()
"""
WATCH = """
import sys
from arm_description.ros.robot_file_watcher import main
sys.argv += ["--ros-args", "-p", "robot:=" + sys.argv.pop()]
main()
"""
ERROR = '[data-arm="file"]'


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("robot") / "my.yaml"
    path.write_bytes(robot_path("planar2").read_bytes())
    return path


@pytest.fixture(scope="module")
def ros(ros_node):
    with ros_node() as node:
        yield node


@pytest.fixture(scope="module")
def page(browser_page, file, ros, start_viewer, start_process):
    url = start_viewer("port:=0", "sliders:=true", f"robot:={file}")
    start_process(PUBLISH, load_robot(file).to_urdf())
    start_process(WATCH, str(file))
    browser_page.set_default_timeout(120_000)
    browser_page.goto(url)
    browser_page.wait_for_selector(DRAWN, state="attached")
    return browser_page


def save(file, text):
    """Save as most editors do."""
    parse_robot(text, str(file))
    beside = file.with_suffix(".swp")
    beside.write_text(text)
    beside.replace(file)


def drawings(page):
    return int(page.locator('[data-arm="drawn"]').get_attribute("data-revision"))


def test_the_view_follows_the_file_and_keeps_the_last_good_robot(page, file, ros):
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
    ros.until(lambda: any("azimuth" in m.name for m in ros.joint_states), bound=60.0)
    after = before + 1
    page.wait_for_selector(f'{DRAWN}[data-revision="{after}"]', state="attached")

    file.write_text(renamed.replace("convention:", "convection:"))
    page.wait_for_selector(f"{ERROR}:has-text(\"did you mean 'convention'?\")")
    shown = page.locator(ERROR).inner_text()
    assert f"{file}:" in shown and "'convection'" not in shown.split("did you mean")[1]
    assert page.locator('label:has-text("azimuth [")').count() == 1
    assert drawings(page) == after

    posture = ", ".join(f"{name}: 0" for name in ("azimuth", *model.joint_names[1:]))
    save(file, renamed.replace("postures:\n", f"postures:\n  folded: {{{posture}}}\n"))
    page.wait_for_selector(ERROR, state="hidden")
    page.get_by_role("button", name="folded").wait_for()
