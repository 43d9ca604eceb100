# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Draws a number of pictures, with one client, and prints the memory in use meanwhile.

The arm swings, its path is drawn, the task's text changes once per simulated second, and the
panel's numbers five times. The server sends what browsers would get at 30 pictures a second.
"""

import gc
import os
import sys
import time
from functools import partial

import numpy as np
from arm_common.files.access import installed_share
from arm_kinematics.ros.marker_messages import marker_array
from arm_tasks.ros.scene_publisher import scene_marks, task_text_mark
from arm_tasks.scene.file import load_scene
from arm_viewer.browser.access import make_access
from arm_viewer.browser.callbacks import CallbackQueue, PageGui
from arm_viewer.browser.server import close_server, open_server
from arm_viewer.browser.sidebar import Sidebar, SidebarActions
from arm_viewer.browser.view import SceneDrawer, SceneView
from arm_viewer.scene.robot import read_robot
from arm_viewer.scene.shapes import MeshFiles
from arm_viewer.scene.store import SceneStore, ToolTrace
from bench_viewer import Client, memory

from arm_description import load_robot
from arm_kinematics import Chain

RATE = 30  # pictures a second
BURST = 20  # pictures drawn before the server's thread gets a pause
PAUSE = 0.012  # [s]
ACCESS = make_access("127.0.0.1")
SWITCHES = {"axes": True, "labels": False, "trace": True}
REPORTS = {"a tenth": 0.1, "half": 0.5, "all": 1.0}  # share of pictures when memory is read


def make_view(server: object) -> SceneView:
    """Return the scene view of a viewer."""
    drawer, nothing = SceneDrawer(server, MeshFiles(installed_share), SWITCHES), lambda *_: None
    actions = SidebarActions(nothing, nothing, nothing, nothing)
    panel = Sidebar(PageGui(server, CallbackQueue(), ACCESS), actions, SWITCHES, True)
    show = partial(panel.set_robot, values={}, postures=())
    return SceneView(SceneStore(), drawer, panel, ToolTrace(), "tool0", show, print)


def main() -> None:
    """Draw the pictures and print the memory report."""
    count = int(sys.argv[1])
    model, server = load_robot("nut_arm"), open_server("127.0.0.1", 0, ACCESS)
    chain, robot = Chain.from_urdf(model.to_urdf()), read_robot(model.to_urdf())
    view, names = make_view(server), model.joint_names
    view.store.set_robot(robot)
    scene = marker_array(scene_marks(load_scene("nut_transfer"))).markers
    view.store.markers.apply("scene_markers", scene, 0.0)
    client = Client(f"ws://127.0.0.1:{server.get_port()}")
    client.start()
    frames, read = dict(robot.zero), {}
    for number in range(count):
        seconds = number / RATE
        q = 0.5 * np.sin(seconds * np.array([0.7, 1.1, 0.9, 1.7]))
        frames = {**frames, **chain.link_poses(q)}
        if number % RATE == 0:
            view.store.set_text("task", f"step {number}")
            text = marker_array([task_text_mark(f"step {number}")]).markers
            view.store.markers.apply("scene_markers", text, seconds)
        view.draw("base_link", frames, seconds)
        if number % 6 == 0:
            values = dict(zip(names, q.tolist(), strict=True))
            view.write_numbers(values)
            view.sidebar.set_sliders(values)
        if number % BURST == 0:
            time.sleep(PAUSE)
        for name, share in REPORTS.items():
            if number + 1 == int(share * count):
                gc.collect()
                blocks = sys.getallocatedblocks() / 1e3
                read[name] = f"{memory(os.getpid()):.1f} MB ({blocks:.1f}) after {name}"
    print(
        f"{count:,} frames, {count / RATE / 60.0:.0f} minutes at {RATE} per second, drawn as fast "
        f"as possible, with one client: {', '.join(read.values())} of them."
    )
    close_server(server)
    os._exit(0)  # do not wait for the client


if __name__ == "__main__":
    main()
