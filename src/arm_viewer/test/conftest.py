# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Shared helpers: a small robot, markers without ROS, a publishing node, processes."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

PATIENCE = 240.0  # s, a bound, not a wait; a browser without a graphics card may be slow
URDF = Path(__file__).with_name("desk_arm.urdf")


def _xyz(values=(0.0, 0.0, 0.0)):
    x, y, z = (float(value) for value in values)
    return SimpleNamespace(x=x, y=y, z=z)


def _rgba(values):
    r, g, b, a = (*values, 1.0)[:4]
    return SimpleNamespace(r=r, g=g, b=b, a=a)


def make_marker(type=1, id=0, **fields):
    """Return an object with the fields of visualization_msgs/Marker; fields by plain values."""
    qx, qy, qz, qw = fields.get("orientation", (0.0, 0.0, 0.0, 1.0))
    return SimpleNamespace(
        header=SimpleNamespace(frame_id=fields.get("frame", "base_link")),
        ns=fields.get("ns", "test"),
        id=id,
        type=type,
        action=fields.get("action", 0),
        pose=SimpleNamespace(
            position=_xyz(fields.get("position", (0, 0, 0))),
            orientation=SimpleNamespace(x=qx, y=qy, z=qz, w=qw),
        ),
        scale=_xyz(fields.get("scale", (0.1, 0.1, 0.1))),
        color=_rgba(fields.get("color", (1.0, 0.0, 0.0, 1.0))),
        lifetime=SimpleNamespace(sec=fields.get("lifetime", 0), nanosec=0),
        frame_locked=fields.get("frame_locked", False),
        points=[_xyz(point) for point in fields.get("points", ())],
        colors=[_rgba(colour) for colour in fields.get("colors", ())],
        text=fields.get("text", ""),
        mesh_resource=fields.get("mesh_resource", ""),
        mesh_use_embedded_materials=False,
    )


@pytest.fixture(scope="session")
def marker():
    """A function that makes markers."""
    return make_marker


@pytest.fixture(scope="session")
def urdf():
    """The text of a small robot with every primitive shape."""
    return URDF.read_text()


@pytest.fixture(scope="session")
def ros_node():
    """A context manager that gives a publishing node, in the ROS domain of the test or another."""
    from arm_testing.ros.viewed import ViewedNode

    @contextmanager
    def node(domain=None):
        node = ViewedNode(domain)
        try:
            yield node
        finally:
            node.close()

    return node


@pytest.fixture(scope="module")
def start_process(tmp_path_factory):
    """A function that runs a Python line as a process; all end with the module."""
    running = []

    def start(line, *arguments, domain=None):
        log = tmp_path_factory.mktemp("process") / "log.txt"
        with log.open("w") as output:
            process = subprocess.Popen(
                [sys.executable, "-c", line, *arguments],
                env=os.environ if domain is None else {**os.environ, "ROS_DOMAIN_ID": str(domain)},
                stdout=output,
                stderr=output,
            )
        running.append(process)
        return process, log

    yield start
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def start_viewer(start_process):
    """A function that starts a viewer and returns its address."""

    def start(*parameters, domain=None):
        words = [word for parameter in parameters for word in ("-p", parameter)]
        line = "from arm_viewer.ros.node import main; main()"
        process, log = start_process(line, "--ros-args", *words, domain=domain)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None:
            if found := re.search(r"Browser view: (http://[\d.]+:\d+)$", log.read_text(), re.M):
                return found[1]
            time.sleep(0.02)
        raise AssertionError(f"the viewer logged no address:\n{log.read_text()}")

    return start


@pytest.fixture(scope="module")
def browser_page():
    """The page of a headless Chromium; a missing Chromium fails every test that needs it.

    Closed after the module: a view is drawn on and on, which takes a core, and Playwright runs an
    event loop in this thread, beside which no other can run.
    """
    from arm_viewer.screenshot import open_page

    with open_page((800 + 324, 520)) as page:  # the scene, and the panel beside it
        page.set_default_timeout(1e3 * PATIENCE)
        yield page
