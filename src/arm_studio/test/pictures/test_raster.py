# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Triangles cover the points inside them, and the nearest one is visible."""

import numpy as np
import pytest
from arm_studio.pictures.canvas import VIEWS
from arm_studio.pictures.raster import Camera, render

RED, BLUE, WHITE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 1.0)
TOP = Camera(np.eye(3), np.zeros(3), 2.0, (80, 40))  # looks down: x right, y up, 40 pixels a metre


def triangle(z=0.0, side=1.0, x=0.0, slope=0.0):
    corners = np.array([(0.0, 0.0), (side, 0.0), (0.0, side / 2.0)])
    return np.column_stack([corners[:, 0] + x, corners[:, 1], z + slope * corners[:, 0]])


def drawn(*parts, camera=TOP):
    triangles, colours = zip(*parts, strict=True)
    return render(np.array(triangles), np.array(colours), camera, WHITE)


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1)])
def test_triangle_covers_its_area_on_both_sides(order):
    picture = drawn((triangle()[list(order)], RED))
    covered = (255 - picture[..., 1]).sum() / 255.0
    assert picture.shape == (40, 80, 3)
    assert covered == pytest.approx(0.25 * 40**2, rel=0.03)
    assert tuple(picture[18, 42]) == (255, 0, 0)
    assert tuple(picture[22, 42]) == tuple(picture[18, 38]) == (255, 255, 255)


@pytest.mark.parametrize("first", [0, 1])
def test_nearest_triangle_is_visible_whatever_the_order(first):
    parts = [(triangle(0.1), RED), (triangle(0.2), BLUE)]
    assert tuple(drawn(parts[first], parts[1 - first])[18, 42]) == (0, 0, 255)


def test_triangles_that_pierce_each_other_hide_each_other_in_parts():
    picture = drawn((triangle(0.25), RED), (triangle(slope=1.0), BLUE))
    assert tuple(picture[19, 42]) == (255, 0, 0)
    assert tuple(picture[19, 60]) == (0, 0, 255)


def test_triangles_beyond_the_edges_are_cut_off():
    assert (drawn((triangle(side=9.0, x=-4.0), RED))[5, :, 0] == 255).all()
    assert (drawn((triangle(x=50.0), RED), (triangle(side=0.0), BLUE)) == 255).all()


@pytest.mark.parametrize("view", VIEWS)
def test_point_that_the_camera_looks_at_is_in_the_middle(view):
    camera = Camera(VIEWS[view], np.array([0.1, 0.2, 0.3]), 0.5, (64, 32))
    np.testing.assert_allclose(camera.project(camera.centre), (32.0, 16.0, 0.0), atol=1e-12)
    beside = camera.project(camera.centre + 0.25 * VIEWS[view][0])
    np.testing.assert_allclose(beside, (64.0, 16.0, 0.0), atol=1e-12)
