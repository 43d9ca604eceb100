# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Faces without what other shapes hold."""

import numpy as np
import pytest
from arm_description.exporters.drawing.solids import Solid, cut, faces, normal, planes
from arm_description.model.elements import Origin
from hypothesis import given, settings
from hypothesis import strategies as st

SQUARE = np.array([(-1.0, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
SHAPES = (("box", (0.4, 0.6, 0.8)), ("cylinder", (0.3, 1.0)), ("sphere", (0.4,)))


def area(face):
    return np.linalg.norm(np.cross(face, np.roll(face, -1, axis=0)).sum(axis=0)) / 2


def shape(kind, size, xyz=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0)):
    return Solid(kind, size, Origin(xyz, rpy).matrix)


@pytest.mark.parametrize(("kind", "size"), SHAPES)
def test_faces_lie_on_the_planes_and_look_outwards(kind, size):
    solid = shape(kind, size, (1.0, 2.0, 3.0), (0.1, 0.2, 0.3))
    normals, distances = planes(solid)
    for face in faces(solid):
        out = normal(face)
        match = normals @ out > 1 - 1e-9
        assert match.sum() == 1
        assert out @ (face.mean(axis=0) - (1.0, 2.0, 3.0)) > 0.0
        np.testing.assert_allclose(face @ normals[match][0], distances[match][0], atol=1e-9)


@pytest.mark.parametrize(("kind", "size", "whole"), [(*SHAPES[0], 2.08), (*SHAPES[2], 2.01)])
def test_the_cells_of_a_solid_are_its_surface(kind, size, whole):
    """Of a box 2 (ab + bc + ca) = 2.08; of a sphere in facets a little less than 4 pi r^2."""
    assert sum(map(area, faces(shape(kind, size)))) == pytest.approx(whole, rel=0.03)


def test_a_hole_of_known_area():
    left = list(cut([SQUARE], planes(shape("box", (0.5, 0.5, 1.0)))))
    assert sum(map(area, left)) == pytest.approx(4.0 - 0.25)


def test_outside_stays_as_it_is_and_inside_goes():
    far = planes(shape("box", (0.5, 0.5, 0.5), (0.0, 0.0, 2.0)))
    assert [face is SQUARE for face in cut([SQUARE], far)] == [True]
    assert list(cut([SQUARE], planes(shape("box", (3.0, 3.0, 3.0))))) == []


def test_a_face_that_only_touches_is_kept():
    """The end of a rod on the plate that it stands on."""
    below = planes(shape("box", (3.0, 3.0, 1.0), (0.0, 0.0, -0.5)))
    assert sum(map(area, cut([SQUARE], below))) == pytest.approx(4.0)


@settings(max_examples=40)
@given(
    st.sampled_from(SHAPES),
    st.tuples(*[st.floats(-1, 1)] * 3),
    st.tuples(*[st.floats(-3, 3)] * 3),
)
def test_a_point_is_kept_where_it_is_outside(solid, xyz, rpy):
    """Any point of the square is in one of the pieces, or inside the shape: never both."""
    normals, distances = planes(shape(*solid, xyz, rpy))
    pieces = list(cut([SQUARE], (normals, distances)))
    for point in np.random.default_rng(0).uniform(-1, 1, (40, 3)) * (1, 1, 0):
        over = float((normals @ point - distances).max())
        held = [_margin(piece, point) for piece in pieces]
        if over > 1e-5:
            assert max(held) > -1e-6
        elif over < -1e-5:
            assert max(held, default=-1.0) < 1e-6


def _margin(piece, point):
    """How far a point of the plane z = 0 is inside a counter-clockwise convex polygon."""
    sides = np.roll(piece, -1, axis=0) - piece
    lengths = np.linalg.norm(sides, axis=1)
    across = np.cross(sides, point - piece)[:, 2]
    return float((across / np.maximum(lengths, 1e-12))[lengths > 1e-9].min(initial=1.0))
