# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of several packages: a publishing node, programs, and the page of a browser."""

import re
import subprocess
import sys

import pytest
from arm_description.library import load_robot
from arm_viewer.screenshot import PAINTED, open_page

from arm_testing.programs.processes import parameters
from arm_testing.ros.viewed import PATIENCE, ViewedNode
from arm_testing.waiting import wait_for

# Without a graphics card, a page that draws all frames that it can takes the processor from all
# other processes.
FEW_FRAMES = """(() => {
  const next = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = draw => next(() => setTimeout(() => draw(performance.now()), 80));
})()"""
NODES = {
    "publisher": "arm_description.ros.state_publisher",
    "watcher": "arm_description.ros.robot_file_watcher",
    "kinematics": "arm_kinematics.ros.node",
    "driver": "arm_hardware.commands.entry_points:hardware",
    "handle": "arm_viewer.commands.entry_points:tool_handle",
    "viewer": "arm_viewer.commands.entry_points:viewer",
    "recorder": "arm_studio.ros.recorder",
    "player": "arm_studio.ros.player",
}


@pytest.fixture(scope="session")
def model():
    return load_robot("nut_arm")


@pytest.fixture(scope="module")
def ros(ros_domain):
    node = ViewedNode(ros_domain)
    yield node
    node.close()


class Program:
    def __init__(self, log, name, *arguments, **values):
        module, _, function = NODES[name].partition(":")
        start = f"import sys; from {module} import {function or 'main'} as main; sys.exit(main())"
        command = [sys.executable, "-c", start, *arguments]
        command += parameters(**values) if values else []
        self.log = log
        with log.open("w") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output)

    def text(self):
        return self.log.read_text()

    def address(self):
        def found():
            match = re.search(r"Browser view: (http://\S+)$", self.text(), re.M)
            assert match or self.process.poll() is None, self.text()
            return match and match[1]

        return wait_for(found, "address", PATIENCE)

    def end(self, number):
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A function that starts a program of NODES: arguments, and parameters by name."""
    running = []

    def start(name, *arguments, **values):
        log = tmp_path_factory.mktemp(name) / "log.txt"
        running.append(Program(log, name, *arguments, **values))
        return running[-1]

    yield start
    for program in running:
        program.process.terminate()
    for program in running:
        try:
            program.process.wait(20.0)
        except subprocess.TimeoutExpired:
            program.process.kill()
            program.process.wait()


@pytest.fixture(scope="module")
def viewer(ros, model, start):
    """A view with sliders, and what it needs."""
    start("kinematics")
    start("publisher", robot_description=model.to_urdf())
    return start("viewer", port=0, sliders=True, robot="nut_arm")


def open_tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def reveal(page, element):
    """Open the tab that holds an element, and return the element."""
    for tab in page.get_by_role("tab").all():
        if element.is_visible():
            break
        tab.click()
        page.evaluate(PAINTED, 3)
    return element


def folder_of(page, title):
    """Return the line of a folder, which folds it, in its open tab."""
    lines = page.locator('[data-with-border="true"] > div:first-child')
    return reveal(page, lines.filter(has_text=re.compile(f"^{re.escape(title)}$")).first)


def joint_field(page, joint):
    """Return the field of the view in which a user writes the position of a joint."""
    row = page.locator(f'label:has-text("{joint} [")').locator("xpath=../../..")
    return reveal(page, row.locator('input[type="text"]'))


@pytest.fixture(scope="module")
def browser_page():
    """The page of a headless Chromium; a missing Chromium fails every test that needs it.

    Closed after the module: Playwright runs an event loop in this thread, beside which no other
    can run.
    """
    with open_page((800 + 324, 520)) as page:  # the scene, and the panel beside it
        page.context.set_default_timeout(1e3 * PATIENCE)
        page.context.add_init_script(FEW_FRAMES)
        yield page
