# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Drawings: lines of SVG files in metres on their page, text in single strokes, the pen's path."""

import numpy as np
import pytest
from arm_description.errors import DescriptionError
from arm_description.trajectories.drawing import (
    MAX_DRAWING_POINTS,
    pen_path,
    read_svg,
    text_path,
    write_text,
)
from arm_description.trajectories.files import check_recording, read_tool_trajectory
from arm_description.trajectories.trajectory import DrawingOptions

INCH = 0.0254
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


@pytest.fixture
def svg(tmp_path):
    def write(body, attributes='width="100mm" height="50mm" viewBox="0 0 100 50"'):
        path = tmp_path / "a.svg"
        path.write_text(f"{HEAD} {attributes}>{body}</svg>")
        return path

    return write


@pytest.mark.parametrize(
    ("attributes", "scale", "height"),
    [
        ('width="100mm" height="50mm" viewBox="0 0 100 50"', 1e-3, 0.05),
        ('width="10cm" height="5cm" viewBox="0 0 100 50"', 1e-3, 0.05),
        ('width="2in" height="1in" viewBox="0 0 100 50"', INCH / 50, INCH),
        ('width="96" height="48"', INCH / 96, INCH / 2),
        ('viewBox="0 0 96 48"', INCH / 96, INCH / 2),
    ],
)
def test_units_and_view_box_give_metres_with_y_up(svg, attributes, scale, height):
    drawing = read_svg(svg('<line x1="10" y1="20" x2="40" y2="30"/>', attributes))
    (line,) = drawing.strokes
    expected = np.array([[10, 20], [40, 30]]) * scale * [1, -1] + [0, height]
    np.testing.assert_allclose(line, expected, atol=1e-6)


def test_page_that_is_wider_than_its_view_box_centres_it(svg):
    path = svg(
        '<line x1="0" y1="0" x2="100" y2="0"/>', 'width="200" height="400" viewBox="0 0 100 50"'
    )
    (line,) = read_svg(path).strokes
    np.testing.assert_allclose(line * 96 / INCH, [[0, 250], [200, 250]], atol=1e-6)


def test_transforms_and_clones_are_applied_and_hidden_shapes_are_not_drawn(svg):
    body = """
    <defs><path id="tick" d="M0 0 L0 10"/></defs>
    <g transform="translate(10 10) rotate(90)"><path d="M0 0 L10 0"/></g>
    <use xlink:href="#tick" x="30" y="5"/>
    <g style="display:none"><rect width="5" height="5"/></g>
    <rect visibility="hidden" width="3" height="3"/>
    <clipPath id="c"><rect width="7" height="7"/></clipPath>"""
    first, second = read_svg(svg(body)).strokes
    np.testing.assert_allclose(first * 1e3, [[10, 40], [10, 30]], atol=1e-3)
    np.testing.assert_allclose(second * 1e3, [[30, 45], [30, 35]], atol=1e-3)


def test_curves_deviate_little_from_their_chords_and_outlines_close(svg):
    (circle,) = read_svg(svg('<circle cx="50" cy="25" r="20"/>')).strokes
    chords = 0.5 * (circle[1:] + circle[:-1])
    away = np.linalg.norm(np.vstack([circle, chords]) - [0.05, 0.025], axis=1)
    assert np.abs(away - 0.02).max() < 6e-5
    np.testing.assert_allclose(circle[0], circle[-1], atol=1e-9)


def test_pen_is_lifted_between_lines_and_the_page_is_scaled_about_its_middle(svg):
    drawing = read_svg(svg('<path d="M0 0 L100 0 M0 50 L100 50"/>'))
    path = pen_path(drawing, DrawingOptions(width=0.05, at=(0.2, 0.1), lift=0.004), "a.svg")
    points = path.poses[:, :3, 3]
    up = points[:, 2] > 0.0
    assert up.tolist() == [True, False, False, True, True, False, False, True]
    np.testing.assert_allclose(points[~up].min(axis=0), [0.175, 0.0875, 0.0], atol=1e-6)
    np.testing.assert_allclose(points[~up].max(axis=0), [0.225, 0.1125, 0.0], atol=1e-6)
    np.testing.assert_allclose(path.poses[:, :3, 2], [[0, 0, -1]] * 8)
    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    np.testing.assert_allclose(np.diff(path.lengths), chords)


def test_capital_letters_have_the_height_and_a_text_its_width():
    drawing = write_text("HELLO", 0.02)
    points = np.vstack(drawing.strokes)
    np.testing.assert_allclose([*points.min(axis=0), points[:, 1].max()], [0.0, 0.0, 0.02])
    assert drawing.size == (points[:, 0].max(), 0.02)
    wide = text_path("HELLO", DrawingOptions(width=0.3)).poses[:, 0, 3]
    np.testing.assert_allclose((wide.min(), wide.max()), (-0.15, 0.15))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "has no lines to draw; convert text and objects to paths"),
        ("<text>Hi</text>", "has only text; convert text"),
        ('<path d="M 0 0"/>', "has no lines to draw"),
        ('<path d="M 0 0 L nan 5"/>', "has no lines"),
        ('<path d="M 0 0 L 1e300 5"/>', "nothing may be larger"),
        ("<g>", "is not XML"),
        ('<g id="a"><use xlink:href="#b"/></g><g id="b"/><use href="#a"/>', "clones of clones"),
        ('<g id="a"><use href="#a"/></g>', "clones of clones"),
        (f'<path d="M 0 0{" L 1 1 L 2 2" * MAX_DRAWING_POINTS}"/>', "has more than"),
    ],
)
def test_drawing_that_cannot_be_drawn_is_refused_in_a_sentence(svg, body, message):
    path = svg(body)
    with pytest.raises(DescriptionError, match=message) as refused:
        read_tool_trajectory(path, ())
    assert "a.svg" in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["<html/>", "", "\0", "not XML"])
def test_file_that_is_no_svg_is_refused(tmp_path, text):
    (tmp_path / "a.svg").write_text(text)
    with pytest.raises(DescriptionError, match=r"plain SVG"):
        check_recording(tmp_path / "a.svg")


def test_text_in_a_drawing_is_said_not_to_be_drawn(svg, caplog):
    read_svg(svg('<text>Hi</text><line x2="5"/>'))
    assert "its text is not drawn; convert it to paths" in caplog.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Größe", "the font has no 'ß', 'ö'; use letters of ASCII"),
        ("two\nlines", r"the font has no '\\n'"),
        ("   ", "cannot write an empty text"),
        ("a" * 201, "cannot write a text of 201 characters"),
    ],
)
def test_text_that_cannot_be_written_is_refused(text, message):
    with pytest.raises(DescriptionError, match=message):
        write_text(text, 0.01)
