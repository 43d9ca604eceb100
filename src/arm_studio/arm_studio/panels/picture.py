# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Picture": saves what a browser shows, from where its camera is, as a file.

PNG is drawn by the browser, pixel by pixel; SVG, PDF and EPS are drawn here, as `./arm draw` does,
from lines, faces and texts.
"""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from arm_common.transforms import Array, pose_to_matrix
from arm_viewer.browser.callbacks import PageGui, element_id
from arm_viewer.browser.tabs import VIEW
from arm_viewer.browser.texts import answer_line
from arm_viewer.panels.interface import Panel, PanelContext, PanelEntry, PanelState
from arm_viewer.port import Where
from arm_viewer.scene.shapes import MeshFiles, PlacedShape
from PIL import Image

from arm_studio.pictures.canvas import Ground, camera_canvas, draw_canvas, draw_text
from arm_studio.pictures.raster import Pixels
from arm_studio.pictures.scene_primitives import primitives_of
from arm_studio.pictures.solids import PinholeProjection

KINDS = ("png", "svg", "pdf", "eps")
LONGER_SIDE = 1920  # [pixel] of a PNG, whatever the size of the window
PIXELS_PER_INCH = 96.0  # of a drawing, in which texts are then as large as in the window
LETTERS = 72.0 / 0.72  # size of letters [pt] for each inch of a capital one's height
LETTER = 9.0  # size of letters without a height [pt]
LETTER_WIDTH, LINE_HEIGHT = 0.6, 1.25  # of a letter, in its size
TIMEOUT = 30.0  # [s] for the browser to draw; one without a graphics card takes a few seconds
BUSY = "The previous picture is still being saved."
NO_WINDOW = "The window shows no scene: make it larger and try again."
NO_ANSWER = (
    f"The browser drew no picture within {TIMEOUT:g} s: keep its window in front and try again."
)


class PicturePanel(Panel):
    """Saves the picture of the browser whose user asks, and sends it to that browser as a file."""

    title = "Picture"

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._name, self._busy = "scene", False

    def build(self, gui: PageGui) -> None:
        """Add the list of formats and the button, which the key P presses, too."""
        self._gui, add = gui, gui.elements
        self._kind = add.add_dropdown("Format", KINDS, initial_value=KINDS[0])
        gui.remember("Picture", self._kind)
        button = add.add_button("Save picture", hint="Or press P")
        gui.on_browser(button.on_click, self.save)
        self._answer = add.add_html(answer_line("", "picture-answer"))
        gui.mark(f'<span data-arm="picture" data-element="{element_id(button)}" hidden></span>')

    def update(self, state: PanelState) -> None:
        """Name the files after the robot."""
        if state.robot is not None:
            self._name = re.sub(r"[^\w.-]+", "_", state.robot.name) or "scene"

    def save(self, client: Any) -> None:
        """Save what a browser (viser's handle) shows, while the view goes on."""
        size = picture_size(client.camera)
        if self._busy or size is None:
            self._say(BUSY if self._busy else NO_WINDOW)
            return
        kind = self._kind.value
        draw = partial(_pixels, client, size) if kind == "png" else self._drawing(client, kind)
        self._busy = True
        self._say("Saving ...")
        threading.Thread(
            target=self._send,
            args=(client, draw, f"{self._name}.{kind}"),
            name="picture",
            daemon=True,
        ).start()

    def _drawing(self, client: Any, kind: str) -> Callable[[], bytes]:
        """Return what draws the present scene from a browser's camera."""
        drawer, camera = self._context.view.drawer, CameraPose.of(client.camera)
        return partial(
            drawing, list(drawer.placed()), drawer.meshes, camera, Ground(*drawer.floor), kind
        )

    def _send(self, client: Any, draw: Callable[[], bytes], file: str) -> None:
        problem = ""
        try:
            client.send_file_download(file, draw(), save_immediately=True)
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


@dataclass(frozen=True, eq=False)
class CameraPose:
    """A browser's camera when its user asked for a picture."""

    projection: PinholeProjection
    field_of_view: float  # vertical [rad]
    size: Array  # width and height of the window at PIXELS_PER_INCH [inch]

    @classmethod
    def of(cls, camera: Any) -> CameraPose:
        """Return the pose of viser's camera, which looks along its z, with y downwards."""
        w, x, y, z = camera.wxyz
        R = pose_to_matrix(camera.position, (x, y, z, w))[:3, :3]
        axes = np.array((R[:, 0], -R[:, 1], -R[:, 2]))
        projection = PinholeProjection(axes, np.array(camera.position), float(camera.near))
        size = np.array((camera.image_width, camera.image_height)) / PIXELS_PER_INCH
        return cls(projection, float(camera.fov), size)


def drawing(
    placed: Sequence[PlacedShape], meshes: MeshFiles, camera: CameraPose, ground: Ground, kind: str
) -> bytes:
    """Return a file, of one of KINDS, with what a camera sees of shapes, as vector graphics."""
    below = primitives_of((one for one in placed if not one.on_top), meshes)
    above = primitives_of((one for one in placed if one.on_top), meshes)
    layers = [(part.solids, part.flat_shapes) for part in (below, above)]
    eye = camera.projection
    canvas = camera_canvas(layers, eye, ground, camera.field_of_view, camera.size)

    def annotate(axes: Any) -> None:
        texts = []
        for text, at, height in (*below.labels, *above.labels):
            near = float(eye.seen(at)[2])
            size = LETTERS * height * eye.magnification(near) * canvas.scale if height else LETTER
            if np.isfinite(near):
                texts.append(PictureText(text, canvas.project(at), size, near))
        for placed in separate(texts):
            draw_text(axes, placed.at, placed.text, size=placed.size)

    return draw_canvas(canvas, "", kind, annotate)


class PictureText(NamedTuple):
    """A text in a drawing."""

    text: str
    at: Array  # (2,), its middle [inch]
    size: float  # of its letters [pt]
    near: float  # one over its distance from the camera [1/m]

    @property
    def half(self) -> Array:
        """Half of its width and height, (2,) [inch]."""
        lines = self.text.split("\n")
        letters = np.array([LETTER_WIDTH * max(map(len, lines)), LINE_HEIGHT * len(lines)])
        return np.asarray(0.5 * self.size / 72.0 * letters)


def separate(texts: Sequence[PictureText]) -> list[PictureText]:
    """Return the texts that no nearer one covers, as the page of a browser shows them."""
    shown: list[PictureText] = []
    for text in sorted(texts, key=lambda text: -text.near):
        if all((abs(text.at - t.at) >= text.half + t.half).any() for t in shown):
            shown.append(text)
    return shown


def _pixels(client: Any, size: tuple[int, int]) -> bytes:
    """Let a browser draw its scene again, with width and height [pixel], as a PNG file.

    It knows exactly what it shows: meshes with their textures, handles, shadows.
    """
    width, height = size
    drawn = client.get_render(height, width, transport_format="png", timeout=TIMEOUT)
    content = io.BytesIO()
    Image.fromarray(on_white(drawn)).save(content, "PNG")
    return content.getvalue()


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


ENTRY = PanelEntry(PicturePanel, 6.0, Where.EVERYWHERE, tab=VIEW)
