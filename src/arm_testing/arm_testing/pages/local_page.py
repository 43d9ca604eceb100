# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Uses the page of nut_arm in this process: moves a joint, drags the tool, edits the table.

`python -m arm_testing.pages.local_page` prints what it has reached as JSON. With `--core`, the
panels of other packages than arm_viewer are left out.
"""

from __future__ import annotations

import json
import math
import re
import sys
import threading
from typing import Any

from arm_viewer.local_arm import local_page
from arm_viewer.page.arm_page import PageSettings
from websockets.sync.client import ClientConnection

from arm_common import plugins
from arm_testing.pages.viewer_client import CAMERA, connected, decoded, encoded
from arm_testing.waiting import wait_for

BOUND = 60.0  # [s]
WAIST = 20.0  # [deg]
DRAGGED = (0.15, 0.05, 0.18)  # where the tool is dragged to [m]


class LocalBrowser:
    """A browser of one page: it knows the elements, and sets them as a user does."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.elements: dict[str, list[Any]] = {}  # label -> identifiers, in order
        self.removed: set[str] = set()
        self.handles: set[str] = set()
        self.grids: dict[str, str] = {}  # key of a cell -> element that takes its edits
        socket.send(encoded(CAMERA))
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self) -> None:
        for raw in self._socket:
            for message in decoded(raw) if isinstance(raw, bytes) else ():
                if message["type"] == "GuiRemoveMessage":
                    self.removed.add(message["uuid"])
                elif message["type"] == "TransformControlsMessage":
                    self.handles.add(message["name"])
                elif 'data-grid="' in (html := str(message.get("props", {}).get("content", ""))):
                    uuid = html.partition('data-grid="')[2].partition('"')[0]
                    self.grids |= dict.fromkeys(re.findall('data-cell="([^"]*)"', html), uuid)
                elif "uuid" in message and (label := message.get("props", {}).get("label")):
                    self.elements.setdefault(label, []).append(message["uuid"])

    def set(self, label: str, value: Any) -> None:
        """Set the newest element of a label."""
        found = wait_for(lambda: set(self.elements.get(label, ())) - self.removed, label, BOUND)
        uuid = next(each for each in reversed(self.elements[label]) if each in found)
        self.send(type="GuiUpdateMessage", uuid=uuid, updates={"value": value})

    def edit(self, cell: str, text: str) -> None:
        """Change a cell of a grid, as the page's script does."""
        wait_for(lambda: cell in self.grids, cell, BOUND)
        line = json.dumps({"do": "set", "cell": cell, "text": text})
        updates = {"value": f"{line} #1"}
        self.send(type="GuiUpdateMessage", uuid=self.grids[cell], updates=updates)

    def drag(self, position: tuple[float, float, float]) -> None:
        """Drag the handle to a position."""
        wait_for(lambda: "/handle" in self.handles, "handle", BOUND)
        handle = {"name": "/handle", "owner": ""}
        pose = {"wxyz": (1.0, 0.0, 0.0, 0.0), "position": position}
        self.send(type="TransformControlsDragStartMessage", **handle)
        self.send(type="TransformControlsUpdateMessage", **handle, **pose)
        self.send(type="TransformControlsDragEndMessage", **handle)

    def send(self, **message: Any) -> None:
        """Send a message of viser."""
        self._socket.send(encoded(message))


def use(page: Any, browser: LocalBrowser, is_edited: bool) -> dict[str, Any]:
    """Use the page; return what was reached."""
    port = page.port
    browser.set("waist [°]", WAIST)
    wait_for(lambda: abs(port.positions()["waist"] - math.radians(WAIST)) < 1e-6, "waist", BOUND)
    waist = port.positions()["waist"]

    def tool() -> list[float]:
        at: list[float] = port.frames(page.store.robot.root)["tool0"][:3, 3].tolist()
        return at

    browser.drag(DRAGGED)
    wait_for(lambda: math.dist(tool(), DRAGGED) < 1e-4, "tool", BOUND)
    reached: dict[str, Any] = {"waist": waist, "tool": tool()}
    if is_edited:
        before = page.postures.model
        browser.edit("0 d", "123")
        wait_for(lambda: page.postures.model is not before, "table", BOUND)
        reached["d"] = page.postures.model.rows[0].row.d
    reached["labels"] = sorted(browser.elements)
    return reached


def main() -> None:
    """Open the page, use it, and print what was reached."""
    is_edited = "--core" not in sys.argv
    if not is_edited:
        plugins.entry_points = lambda file, group: {}
    with local_page(PageSettings(robot="nut_arm")) as (page, arm):
        thread = threading.Thread(target=arm.run)
        thread.start()
        try:
            address = page.address.removeprefix("http://")
            with connected(address) as socket:
                reached = use(page, LocalBrowser(socket), is_edited)
        finally:
            arm.end()
            thread.join()
    ros = [name for name in sys.modules if name.partition(".")[0] in ("rclpy", "sensor_msgs")]
    print(json.dumps({**reached, "ros": ros}))


if __name__ == "__main__":
    main()
