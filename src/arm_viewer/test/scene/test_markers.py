# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Markers become plain drawings, with the meaning that RViz gives to their fields."""

import math

import numpy as np
import pytest
from arm_viewer.errors import ViewerError
from arm_viewer.scene import markers as mm
from arm_viewer.scene.markers import MAX_LABEL, read_marker
from arm_viewer.scene.shapes import (
    Arrows,
    Box,
    Copies,
    Cylinder,
    Ellipsoid,
    MeshFile,
    PointCloud,
    TextLabel,
)
from hypothesis import given
from hypothesis import strategies as st

SQUARE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
RGB = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]
size = st.floats(1e-3, 10)


@pytest.fixture(scope="session")
def shape(marker):
    return lambda type, **fields: read_marker(marker(type, **fields)).shape


@given(scale=st.tuples(size, size, size))
def test_scale_is_the_full_size(shape, scale):
    assert shape(mm.CUBE, scale=scale) == Box(scale)
    assert shape(mm.SPHERE, scale=scale) == Ellipsoid(scale)
    assert shape(mm.CYLINDER, scale=scale) == Cylinder(scale[:2], scale[2])


def test_arrow_by_pose_points_along_x(shape):
    arrow = shape(mm.ARROW, scale=(2.0, 0.1, 0.1))
    np.testing.assert_array_equal(arrow.points, [[[0, 0, 0], [2, 0, 0]]])
    assert (arrow.shaft_diameter, arrow.head_diameter) == (0.1, 0.2)


def test_arrow_by_points_takes_its_thickness_from_scale(shape):
    up = [(0, 0, 0), (0, 0, 1)]
    arrow = shape(mm.ARROW, scale=(0.01, 0.02, 0.03), points=up)
    assert arrow == Arrows(np.array([up], float), 0.01, 0.02, 0.03)
    headless = shape(mm.ARROW, scale=(0.01, 0.02, 0.0), points=up)
    assert headless.head_length == pytest.approx(0.2)


@given(points=st.lists(st.tuples(size, size, size), min_size=2, max_size=20))
def test_line_strip_joins_consecutive_points(shape, points):
    lines = shape(mm.LINE_STRIP, points=points)
    assert lines.points.shape == (len(points) - 1, 2, 3)
    np.testing.assert_array_equal(lines.points[:, 0], points[:-1])
    np.testing.assert_array_equal(lines.points[:, 1], points[1:])


def test_line_list_joins_pairs_of_points(shape):
    lines = shape(mm.LINE_LIST, points=SQUARE, colors=RGB)
    np.testing.assert_array_equal(lines.points, np.reshape(SQUARE, (2, 2, 3)))
    np.testing.assert_array_equal(lines.colours, np.reshape(RGB, (2, 2, 3)))


def test_point_and_solid_lists_are_placed_at_the_points(shape):
    square, rgb = np.array(SQUARE, float), np.array(RGB, float)
    cubes = shape(mm.CUBE_LIST, points=SQUARE, colors=RGB)
    assert cubes == Copies(Box((0.1, 0.1, 0.1)), square, rgb)
    balls = shape(mm.SPHERE_LIST, points=SQUARE)
    assert balls == Copies(Ellipsoid((0.1, 0.1, 0.1)), square, None)
    dots = shape(mm.POINTS, points=SQUARE, scale=(0.1, 0.2, 0))
    assert dots == PointCloud(square, None, 0.2)


def test_triangles_are_scaled_and_can_have_one_colour_each(shape):
    points = [*SQUARE[:3], *SQUARE[1:]]
    found = shape(mm.TRIANGLE_LIST, points=points, colors=RGB[:2], scale=(2, 3, 4))
    np.testing.assert_array_equal(found.vertices, np.array(points) * [2, 3, 4])
    np.testing.assert_array_equal(found.colours, np.repeat(RGB[:2], 3, axis=0))


def test_text_and_mesh(shape):
    text = shape(mm.TEXT_VIEW_FACING, text="hi", scale=(0, 0, 0.05))
    assert text == TextLabel("hi", 0.05)
    long = shape(mm.TEXT_VIEW_FACING, text="x" * 1_000_000, scale=(0, 0, 0.05))
    assert len(long.text) < 1.1 * MAX_LABEL
    mesh = shape(mm.MESH_RESOURCE, mesh_resource="package://p/m.stl", scale=(1, 2, 3))
    assert mesh == MeshFile("package://p/m.stl", (1, 2, 3), False)


def test_pose_colour_frame_and_lifetime(marker):
    half = math.sqrt(0.5)
    drawing = read_marker(
        marker(
            position=(1, 2, 3),
            orientation=(0, 0, 2 * half, 2 * half),  # Not of unit length.
            color=(2.0, -1.0, 0.5, 0.25),
            frame="/tool0",
            frame_locked=True,
            lifetime=3,
        )
    )
    expected = [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
    np.testing.assert_allclose(drawing.pose, expected, atol=1e-12)
    assert drawing.colour == (1.0, 0.0, 0.5, 0.25)
    assert (drawing.frame, drawing.locked, drawing.lifetime) == ("tool0", True, 3.0)


@pytest.mark.parametrize("orientation", [(0, 0, 0, 0), (0, 0, 0, 1e308), (0, 0, 0, 5e-324)])
def test_unset_huge_or_tiny_orientation_is_the_identity(orientation, marker):
    drawing = read_marker(marker(orientation=orientation))
    np.testing.assert_array_equal(drawing.pose, np.eye(4))


BAD = {
    "type": ({"type": 99}, "type 99 is not drawn"),
    "scale": ({"scale": (0.1, 0, 0.1)}, "scale.y is 0; it must be a positive length"),
    "nan scale": ({"scale": (math.nan, 1, 1)}, "scale.x is nan"),
    "nan pose": ({"position": (math.nan, 0, 0)}, "its pose is not finite"),
    "nan colour": ({"color": (math.inf, 0, 0, 1)}, "its color is not finite"),
    "no points": ({"type": mm.POINTS}, "it has 0 points and needs 1 or more"),
    "one point": ({"type": mm.LINE_STRIP, "points": SQUARE[:1]}, "needs 2 or more"),
    "odd list": ({"type": mm.LINE_LIST, "points": SQUARE[:3]}, "an even number of points"),
    "nan point": ({"type": mm.POINTS, "points": [(0, math.nan, 0)]}, "points is not finite"),
    "colours": (
        {"type": mm.POINTS, "points": SQUARE, "colors": RGB[:2]},
        "it has 2 colors for 4 points",
    ),
    "nan colours": (
        {"type": mm.POINTS, "points": SQUARE[:1], "colors": [(math.nan, 0, 0)]},
        "colors is not finite",
    ),
    "triangle": ({"type": mm.TRIANGLE_LIST, "points": SQUARE}, "three points per triangle"),
    "arrow": ({"type": mm.ARROW, "points": SQUARE}, "no points, or two"),
    "text": ({"type": mm.TEXT_VIEW_FACING, "scale": (1, 1, 0)}, "needs scale.z"),
    "mesh": ({"type": mm.MESH_RESOURCE}, "needs mesh_resource"),
}


@pytest.mark.parametrize(("fields", "sentence"), BAD.values(), ids=BAD.keys())
def test_error_names_the_marker_and_the_cause(marker, fields, sentence):
    with pytest.raises(ViewerError, match=f'^marker "test" 7: .*{sentence}'):
        read_marker(marker(**{"type": mm.CUBE, "id": 7, **fields}))
