# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A browser in which a robot is opened holds the scene that a new browser is sent."""

import threading

import numpy as np
import pytest
from arm_testing.pages.viewer_client import (
    CAMERA,
    READ_ONLY,
    connected,
    decoded,
    decompressed,
    encoded,
)
from arm_testing.waiting import wait_for
from arm_viewer.local_arm import local_page
from arm_viewer.page.arm_page import PageSettings
from arm_viewer.screenshot import open_page, visit

from arm_description import shipped_robots

pytestmark = pytest.mark.system

BOUND = 120.0  # [s]
FIRST = "nut_arm"
QUICK = ("scara", "stanford_arm", "planar2", "puma560")  # slides and turns in the same places
ALL = sorted(shipped_robots().keys() - {*QUICK, FIRST})
IDENTITY = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
POSES = """() => {
  const { nodePoseData } = window.__viserMutable;
  const poses = {};
  for (const [name, record] of Object.entries(window.__viserSceneTree.getState())) {
    const { wxyz, position } = nodePoseData[name] ?? {};
    if (record?.message) {
      poses[name] = [...(wxyz ?? [1, 0, 0, 0]), ...(position ?? [0, 0, 0])];
    }
  }
  return poses;
}"""


@pytest.fixture(scope="module")
def opened():
    """A page that stays open, and the address of its view."""
    with local_page(PageSettings(robot=FIRST)) as (page, arm):
        thread = threading.Thread(target=arm.run)
        thread.start()
        try:
            with open_page((400, 200)) as browser:
                visit(browser, page.address, timeout=BOUND, settle=0.0)
                browser.get_by_role("tab", name="Run", exact=True).click()
                browser.get_by_text("Commands", exact=True).click()
                yield browser, page.address
        finally:
            arm.end()
            thread.join()


def sent(address):
    """Return the poses of all bodies that a new browser is sent, by node: wxyz and position."""
    parts = {"SetOrientationMessage": slice(0, 4), "SetPositionMessage": slice(4, 7)}
    created, poses = set(), {}
    with connected(address.removeprefix("http://").partition("?")[0]) as socket:
        socket.send(encoded(CAMERA))
        raw = b""
        while READ_ONLY not in raw:
            data = socket.recv(timeout=BOUND)
            raw = decompressed(data)
            for message in decoded(data):
                name = message.get("name", "")
                if message["type"] in parts:
                    values = message.get("wxyz", message.get("position"))
                    poses.setdefault(name, list(IDENTITY))[parts[message["type"]]] = values
                elif "props" in message and "/visual_" in name:
                    created.add(name)
    return {name: poses.get(name, IDENTITY) for name in created}


def differences(browser, expected):
    shown = browser.evaluate(POSES)
    bodies = {name: pose for name, pose in shown.items() if "/visual_" in name}
    assert expected
    return {
        name: (bodies.get(name), pose)
        for name, pose in expected.items()
        if name not in bodies or not np.allclose(bodies[name], pose, atol=1e-5)
    } | {name: (bodies[name], None) for name in bodies.keys() - expected}


def open_and_compare(opened, robot):
    browser, address = opened
    drawn = browser.locator('[data-arm="drawn"]')
    before = drawn.get_attribute("data-revision")
    line = browser.locator('label:text-is("Command")').locator("xpath=../../..").locator("input")
    line.fill(f"open {robot}")
    line.press("Enter")
    wait_for(lambda: drawn.get_attribute("data-revision") != before, f"picture of {robot}", BOUND)
    found = {}

    def same():
        found.clear()
        found.update(differences(browser, sent(address)))
        return not found

    try:
        wait_for(same, "the same scene", 10.0)
    except AssertionError:
        assert found == {}


@pytest.mark.parametrize("robot", [*QUICK, FIRST])
def test_opened_robot_looks_as_in_a_new_browser(opened, robot):
    open_and_compare(opened, robot)


@pytest.mark.thorough
@pytest.mark.parametrize("robot", ALL)
def test_every_opened_robot_looks_as_in_a_new_browser(opened, robot):
    open_and_compare(opened, robot)
