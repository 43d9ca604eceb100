# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The folder "Picture": saves what a browser shows, from where its camera is, as a file."""

from __future__ import annotations

import re
import threading
from typing import Any

import numpy as np
from arm_description.exporters.figure import file_of_pixels
from arm_description.exporters.raster import Pixels

from arm_viewer.browser.callbacks import PanelGui
from arm_viewer.browser.panel import answer_line
from arm_viewer.panels.interface import PanelContext, PanelState

KINDS = ("png", "svg", "pdf", "eps")
LONGER_SIDE = 1920  # [pixel], whatever the size of the window
TIMEOUT = 30.0  # [s] for the browser to draw; one without a graphics card takes a few seconds
BUSY = "The previous picture is still being saved."
NO_WINDOW = "The window shows no scene: make it larger and try again."
NO_ANSWER = (
    f"The browser drew no picture within {TIMEOUT:g} s: keep its window in front and try again."
)


class PicturePanel:
    """Lets the browser whose user asks draw its scene again, and sends it that picture as a file.

    The browser draws it, because only it knows exactly what it shows: the look of the bodies,
    meshes, layers, and its own camera.
    """

    title = "Picture"

    def __init__(self, context: PanelContext) -> None:
        del context  # all it needs is known to the browser
        self._name, self._busy = "scene", False

    def build(self, gui: PanelGui) -> None:
        """Add the list of formats and the button, which the key P presses, too."""
        self._gui, add = gui, gui.elements
        self._kind = add.add_dropdown("Format", KINDS, initial_value=KINDS[0])
        gui.remember("Picture", self._kind)
        button = add.add_button("Save picture", color="gray", hint="Or press P")
        gui.on_browser(button.on_click, self.save)
        self._answer = add.add_html(answer_line("", "picture-answer"))
        mark = f'<span data-arm="picture" data-element="{button._impl.uuid}" hidden></span>'
        add.add_html(mark)

    def update(self, state: PanelState) -> None:
        """Name the files after the robot."""
        if state.robot is not None:
            self._name = re.sub(r"[^\w.-]+", "_", state.robot.name) or "scene"

    def close(self) -> None:
        """Nothing is left: a picture that is being saved still arrives."""

    def save(self, client: Any) -> None:
        """Save what a browser (viser's handle) shows; it draws while the view goes on."""
        size = picture_size(client.camera)
        if self._busy or size is None:
            self._say(BUSY if self._busy else NO_WINDOW)
            return
        self._busy = True
        kind = self._kind.value
        self._say("Saving ...")
        threading.Thread(
            target=self._send,
            args=(client, size, kind, f"{self._name}.{kind}"),
            name="picture",
            daemon=True,
        ).start()

    def _send(self, client: Any, size: tuple[int, int], kind: str, file: str) -> None:
        width, height = size
        problem = ""
        try:
            drawn = client.get_render(height, width, transport_format="png", timeout=TIMEOUT)
            content = file_of_pixels(on_white(drawn), kind)
            client.send_file_download(file, content, save_immediately=True)
        except TimeoutError:
            problem = NO_ANSWER
        except Exception as error:  # noqa: BLE001 - whatever it is, the button must work again
            problem = f"The picture was not saved: {error}"
        if problem:  # the folder may be folded
            client.add_notification("Picture", problem)
        self._gui.queue.post(lambda: self._finish(problem or f"Saved {file}."))

    def _finish(self, answer: str) -> None:
        self._busy = False
        self._say(answer)

    def _say(self, text: str) -> None:
        self._answer.content = answer_line(text, "picture-answer")


def picture_size(camera: Any) -> tuple[int, int] | None:
    """Return width and height [pixel] of the picture of a camera; None for an empty window."""
    width, height = int(camera.image_width), int(camera.image_height)
    if width <= 0 or height <= 0:
        return None
    scale = LONGER_SIDE / max(width, height)
    return max(round(scale * width), 1), max(round(scale * height), 1)


def on_white(pixels: Pixels) -> Pixels:
    """Return pixels (height, width, 3), 0 to 255, of such with opacity (height, width, 4)."""
    opacity = pixels[..., 3:] / 255.0
    mixed = pixels[..., :3] * opacity + 255.0 * (1.0 - opacity)
    white: Pixels = (mixed + 0.5).astype(np.uint8)
    return white
