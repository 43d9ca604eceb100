# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The panel "Picture" without a browser: what it asks for, what it sends, and what it answers."""

import io
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from arm_common.transforms import quaternion
from arm_studio.panels.picture import (
    BUSY,
    LONGER_SIDE,
    NO_ANSWER,
    NO_WINDOW,
    CameraPose,
    PicturePanel,
    PictureText,
    on_white,
    picture_size,
    separate,
)
from arm_testing.pages.page import FakeClient, FakePage
from arm_viewer.browser.view import Floor
from arm_viewer.panels.interface import PanelState
from arm_viewer.scene.shapes import Box, MeshFiles, PlacedShape, TextLabel
from PIL import Image

LOOKING_DOWN = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])  # x, y, z of it
STARTS = {"svg": b"<?xml", "pdf": b"%PDF-", "eps": b"%!PS-Adobe"}


class Browser(FakeClient):
    """A browser that draws a picture when it is let, or fails."""

    def __init__(self, width=120, height=100, error=None):
        x, y, z, w = quaternion(LOOKING_DOWN)
        super().__init__(
            image_width=width,
            image_height=height,
            position=np.array([0.0, 0.0, 2.0]),
            wxyz=np.array([w, x, y, z]),
            fov=0.6,
            near=0.01,
        )
        self.error, self.asked, self.files, self.notes = error, [], [], []
        self.drawn = threading.Event()

    def get_render(self, height, width, transport_format, timeout):
        self.asked.append((width, height))
        assert self.drawn.wait(timeout)
        if self.error is not None:
            raise self.error
        return np.full((height, width, 4), 255, dtype=np.uint8)

    def send_file_download(self, name, content, save_immediately):
        assert save_immediately
        self.files.append((name, content))

    def add_notification(self, title, body):
        self.notes.append(body)


BOX = PlacedShape(Box((0.2, 0.1, 0.1)), np.eye(4), (1.0, 0.0, 0.0, 1.0))
NAME = PlacedShape(TextLabel("tool0", 0.0), np.eye(4), (0.0, 0.0, 0.0, 1.0))
BESIDE = np.array([[1, 0, 0, 0], [0, 1, 0, 0.3], [0, 0, 1, 0.3], [0, 0, 0, 1.0]])
NAME_ON_TOP = NAME._replace(shape=TextLabel("dh_1", 0.0), pose=BESIDE, on_top=True)


class Page(FakePage):
    def __init__(self, kind="png"):
        drawer = SimpleNamespace(
            placed=lambda: iter((BOX, NAME, NAME_ON_TOP)),
            meshes=MeshFiles(lambda name: None),
            floor=Floor(-0.1, 0.1, 2.0),
        )
        super().__init__(view=SimpleNamespace(drawer=drawer))
        self.panel = self.build(PicturePanel)
        self.gui.use("Format", kind)
        self.gui.posted.clear()

    @property
    def html(self):
        return SimpleNamespace(content=self.gui.marked("picture-answer"))

    def end(self, browser):
        """Let a browser draw; return the answer beside the button once the panel has one."""
        browser.drawn.set()
        assert self.gui.posted.wait(30.0)
        self.gui.posted.clear()
        self.gui.queue.drain()
        return self.html.content


@pytest.mark.parametrize(("width", "height"), [(956, 800), (390, 844), (1, 3000), (640, 640)])
def test_picture_has_the_shape_of_the_window_and_a_fixed_longer_side(width, height):
    found = picture_size(SimpleNamespace(image_width=width, image_height=height))
    assert max(found) == LONGER_SIDE
    assert found[0] / found[1] == pytest.approx(width / height, abs=1.0 / min(found))


def test_what_is_transparent_becomes_white():
    pixels = np.array([[[10, 20, 30, 255], [10, 20, 30, 0], [0, 100, 200, 51]]], dtype=np.uint8)
    assert on_white(pixels).tolist() == [[[10, 20, 30], [255, 255, 255], [204, 224, 244]]]


def test_whole_picture_reaches_the_browser_that_asked_under_the_name_of_the_robot():
    page, browser = Page(), Browser()
    page.panel.update(PanelState(SimpleNamespace(name="my arm/2"), {}))
    page.panel.save(browser)
    page.panel.save(browser)
    assert BUSY in page.html.content
    assert "Saved my_arm_2.png." in page.end(browser)
    ((name, content),) = browser.files
    assert (name, browser.notes) == ("my_arm_2.png", [])
    assert browser.asked == [Image.open(io.BytesIO(content)).size] == [(1920, 1600)]


@pytest.mark.parametrize(
    ("error", "answer"),
    [(TimeoutError(), NO_ANSWER), (RuntimeError("the client disconnected"), "disconnected")],
)
def test_failure_is_one_sentence_and_the_button_works_again(error, answer):
    page, browser = Page(), Browser(error=error)
    page.panel.save(browser)
    assert answer in page.end(browser)
    assert browser.files == []
    assert answer in browser.notes[0]
    other = Browser()
    page.panel.save(other)
    assert "Saved scene.png." in page.end(other)


def test_window_without_a_scene_is_asked_for_nothing():
    page, browser = Page(), Browser(width=0)
    page.panel.save(browser)
    assert NO_WINDOW in page.html.content
    assert browser.asked == []


@pytest.mark.parametrize("kind", list(STARTS))
def test_drawing_consists_of_vectors_and_asks_the_browser_for_no_pixels(kind):
    page, browser = Page(kind), Browser(width=960, height=480)
    browser.drawn.set()
    page.panel.save(browser)
    assert f"Saved scene.{kind}." in page.end(browser)
    ((name, content),) = browser.files
    assert (name, browser.asked) == (f"scene.{kind}", [])
    assert content.startswith(STARTS[kind])
    assert b"<image" not in content and b"/Subtype /Image" not in content
    if kind == "svg":  # ten inches by five
        assert b'viewBox="0 0 720 360"' in content
        assert b">tool0</text>" in content and b">dh_1</text>" in content
    if kind == "eps":
        assert b"%%BoundingBox: 0 0 720 360" in content


def test_camera_is_that_of_the_browser():
    """It looks down from two metres: x is right, y is up, and the picture's edge is at tan 0.3."""
    camera = CameraPose.of(Browser(width=960, height=480).camera)
    right, up = camera.projection.seen(np.array([0.2, 0.4, 0.0]))[:2]
    np.testing.assert_allclose([right, up], [0.1, 0.2], atol=1e-9)
    np.testing.assert_allclose(camera.size, [10.0, 5.0])
    assert camera.field_of_view == 0.6


def test_a_name_that_a_nearer_one_would_cover_is_left_out():
    far = PictureText("shoulder_link", np.array([1.0, 1.0]), 9.0, near=0.5)
    near = PictureText("base_link\nwaist_link", np.array([1.1, 1.05]), 9.0, near=1.0)
    beside = PictureText("tool0", np.array([3.0, 1.0]), 9.0, near=0.2)
    assert [t.text for t in separate([far, beside, near])] == [near.text, beside.text]
