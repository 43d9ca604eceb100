# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Files of pictures: of each format, as large as the picture, and with all of its pixels."""

import base64
import io
import re

import numpy as np
import pytest
from arm_description.exporters.figure import FORMATS, file_of_pixels
from PIL import Image

WIDTH, HEIGHT = 90, 60  # [pixel], 150 to the inch: 43.2 by 28.8 pt
STARTS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF-", "eps": b"%!PS-Adobe", "ps": b"%!PS"}


@pytest.fixture(scope="module")
def pixels():
    return np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)


def test_each_format_has_its_header(pixels):
    for kind in FORMATS:
        assert file_of_pixels(pixels, kind).startswith(STARTS[kind])


def test_png_has_the_pixels_of_the_picture(pixels):
    image = Image.open(io.BytesIO(file_of_pixels(pixels, "png"))).convert("RGB")
    np.testing.assert_array_equal(np.asarray(image), pixels)


def test_svg_is_filled_by_the_picture(pixels):
    text = file_of_pixels(pixels, "svg").decode()
    assert re.search(r'viewBox="0 0 43.2 28.8"', text)
    data = re.search(r"data:image/png;base64,\s*([A-Za-z0-9+/=\s]+)", text)[1]
    image = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))
    assert image.shape == pixels.shape
    assert (image == pixels).all() or (image == pixels[::-1]).all()


def test_pdf_is_filled_by_the_picture(pixels):
    content = file_of_pixels(pixels, "pdf")
    assert re.search(rb"/MediaBox \[ ?0 0 43.2 28.8 ?\]", content)
    assert b"/Width 90" in content
    assert b"/Height 60" in content


def test_eps_is_filled_by_the_picture(pixels):
    content = file_of_pixels(pixels, "eps")
    assert re.search(rb"^%%BoundingBox: 0 0 44 29$", content, re.MULTILINE)
    digits = re.sub(rb"\s", b"", content)
    assert pixels[::-1].tobytes().hex().encode() in digits  # from the lowest row upwards
