# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The folder "Teach": save poses, record and replay paths, locate bolts by touching them."""

from __future__ import annotations

from functools import partial
from typing import Any

from rclpy.node import Node

from arm_interfaces.srv import RecordPath, TeachPose, TouchBolt
from arm_viewer.browser.callbacks import PanelGui
from arm_viewer.control.task_text import line
from arm_viewer.ros.service_client import ServiceClient

# Service below teach/ -> the label of its button.
POSES = {"save_pose": "Save pose", "forget_pose": "Delete pose"}
PATHS = {"record": "Record path", "end_recording": "End recording", "replay": "Replay"}
SURFACES = {
    "Rim": TouchBolt.Request.RIM,
    "End": TouchBolt.Request.END,
    "Flank": TouchBolt.Request.FLANK,
}
TOUCHES = {
    "Add touch point": TouchBolt.Request.ADD,
    "Locate bolt": TouchBolt.Request.LOCATE,
    "Write bolt to scene": TouchBolt.Request.WRITE,
    "Clear touch points": TouchBolt.Request.CLEAR,
}


class TeachPanel:
    """The user interface of the task server's services teach/..."""

    def __init__(self, node: Node, gui: PanelGui) -> None:
        kinds: dict[str, Any] = dict.fromkeys(POSES, TeachPose) | dict.fromkeys(PATHS, RecordPath)
        self._clients = {
            name: ServiceClient(node, kind, f"teach/{name}", self._report)
            for name, kind in (kinds | {"touch_bolt": TouchBolt}).items()
        }
        self._folder = gui.elements.add_folder(
            "Teach", order=1.5, visible=False, expand_by_default=False
        )
        with self._folder:
            self._add_elements(gui)

    def show(self) -> None:
        """Show the folder, because a task server is there."""
        self._folder.visible = True

    def _add_elements(self, gui: PanelGui) -> None:
        add = gui.elements
        self._name = add.add_text("Name", initial_value="here")
        self._replace = add.add_checkbox("Replace", initial_value=False)
        for service, label in POSES.items():
            gui.button(label, partial(self._pose, service))
        self._reverse = add.add_checkbox("Reverse", initial_value=False)
        for service, label in PATHS.items():
            gui.button(label, partial(self._path, service))
        self._bolt = add.add_text("Bolt", initial_value="upper_bolt")
        self._surface = add.add_dropdown("Touched surface", tuple(SURFACES))
        for label, action in TOUCHES.items():
            gui.button(label, partial(self._touch, action))
        self._response = add.add_html("")

    def _pose(self, service: str) -> None:
        request = TeachPose.Request(name=self._name.value, replace=self._replace.value)
        self._call(service, request)

    def _path(self, service: str) -> None:
        request = RecordPath.Request(
            name="" if service == "end_recording" else self._name.value,
            replace=self._replace.value,
            reverse=self._reverse.value,
        )
        self._call(service, request)

    def _touch(self, action: int) -> None:
        surface = SURFACES[self._surface.value]
        request = TouchBolt.Request(bolt=self._bolt.value, action=action, surface=surface)
        self._call("touch_bolt", request)

    def _call(self, service: str, request: Any) -> None:
        self._clients[service].call(request, lambda response: self._report(response.message))

    def _report(self, text: str) -> None:
        self._response.content = line(text)
