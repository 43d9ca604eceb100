# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The folder "Teach": keep poses, record paths and play them, find bolts by touching them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from rclpy.node import Node

from arm_interfaces.srv import RecordPath, TeachPose, TouchBolt
from arm_viewer.browser.server import CallbackQueue, on_user
from arm_viewer.control.task_text import line

if TYPE_CHECKING:
    import viser

# mypy: disable-error-code="no-untyped-call"


POSES = {"save_pose": "Keep this pose", "forget_pose": "Forget it"}
PATHS = {"record": "Record a path", "end_recording": "End recording", "replay": "Play it"}
SURFACES = {"Rim": TouchBolt.Request.RIM, "End": TouchBolt.Request.END}
SURFACES["Flank"] = TouchBolt.Request.FLANK
TOUCHES = {
    "Touching now": TouchBolt.Request.ADD,
    "Where is it?": TouchBolt.Request.LOCATE,
    "Write it into the scene": TouchBolt.Request.WRITE,
    "Forget its points": TouchBolt.Request.CLEAR,
}


class TeachPanel:
    """Speaks with the services teach/... of the task server.

    Args:
        node: The node that speaks ROS.
        server: viser's server.
        mailbox: Takes the users' actions over to the node's thread.
    """

    def __init__(self, node: Node, server: viser.ViserServer, mailbox: CallbackQueue) -> None:
        self._gui, self._mailbox = server.gui, mailbox
        kinds: dict[str, Any] = dict.fromkeys(POSES, TeachPose) | dict.fromkeys(PATHS, RecordPath)
        self._clients = {
            name: node.create_client(kind, f"teach/{name}")
            for name, kind in (kinds | {"touch_bolt": TouchBolt}).items()
        }
        self._folder = self._gui.add_folder(
            "Teach", order=1.5, visible=False, expand_by_default=False
        )
        with self._folder:
            self._fill()

    def show(self) -> None:
        """Show the folder: there is a task server."""
        if not self._folder.visible:
            self._folder.visible = True

    def _fill(self) -> None:
        gui = self._gui
        self._name: Any = gui.add_text("Name", initial_value="here")
        self._replace: Any = gui.add_checkbox("Replace", initial_value=False)
        for name, label in POSES.items():
            self._button(label, partial(self._pose, name))
        self._reverse: Any = gui.add_checkbox("Backwards", initial_value=False)
        for name, label in PATHS.items():
            self._button(label, partial(self._path, name))
        self._bolt: Any = gui.add_text("Bolt", initial_value="upper_bolt")
        self._surface: Any = gui.add_dropdown("Tip on its", tuple(SURFACES), initial_value="Rim")
        for label, action in TOUCHES.items():
            self._button(label, partial(self._touch, action))
        self._said = gui.add_html("")

    def _button(self, label: str, action: Callable[[], None]) -> None:
        on_user(self._mailbox, self._gui.add_button(label, color="gray").on_click, action)

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
        request = TouchBolt.Request(bolt=self._bolt.value, action=action)
        request.surface = SURFACES[self._surface.value]
        self._call("touch_bolt", request)

    def _call(self, service: str, request: Any) -> None:
        client = self._clients[service]
        if client.service_is_ready():
            client.call_async(request).add_done_callback(self._on_answer)
        else:
            self._said.content = line(f"No task server answers teach/{service}.")

    def _on_answer(self, future: Any) -> None:
        self._said.content = line(future.result().message)
