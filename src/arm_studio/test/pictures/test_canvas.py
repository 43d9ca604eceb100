# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Pictures through a camera: what it sees, where, and what hides what."""

import numpy as np
import pytest
from arm_studio.pictures.canvas import (
    VIEWS,
    FlatShape,
    Ground,
    camera_canvas,
    draw_canvas,
    parallel_canvas,
)
from arm_studio.pictures.solids import ParallelProjection, PinholeProjection, Solid

ISO = VIEWS["iso"]
EYE = 3.0 * ISO[2]
GROUND = Ground(0.0, 0.1, 2.0)
SIZE, FIELD = (8.0, 6.0), 0.6
RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def pinhole(near=0.1):
    return PinholeProjection(ISO, EYE, near)


def ball(at, colour, radius=0.1, opacity=1.0):
    T = np.eye(4)
    T[:3, 3] = at
    return Solid("sphere", (radius,), T, colour, opacity)


def page(solids=(), flat=()):
    return camera_canvas([(solids, flat)], pinhole(), GROUND, FIELD, np.array(SIZE))


def test_points_appear_under_their_angles_and_nearer_ones_are_larger():
    right, up, towards = np.eye(3) @ ISO
    for depth in (0.5, 2.0, 40.0):
        seen = pinhole().seen(EYE - depth * towards + 0.2 * right - 0.1 * up)
        np.testing.assert_allclose(seen, [0.2 / depth, -0.1 / depth, 1.0 / depth], atol=1e-12)
        assert pinhole().magnification(seen[2]) == pytest.approx(1.0 / depth)


def test_straight_lines_stay_straight():
    ends = np.array([(1.0, -0.2, 0.3), (-0.5, 0.6, 1.1)])
    along = ends[0] + np.linspace(0.0, 1.0, 9)[:, None] * (ends[1] - ends[0])
    seen = pinhole().seen(along)
    assert np.linalg.matrix_rank(seen - seen[0], tol=1e-9) == 1


def test_what_is_behind_the_camera_is_left_out():
    behind = EYE + ISO[2]
    assert np.isnan(pinhole().seen(behind)).all()
    assert not page([ball(behind, RED)], [FlatShape(np.array([EYE, behind]), BLUE, 0.01)]).patches


def test_far_camera_with_a_narrow_field_sees_as_a_parallel_projection():
    far = PinholeProjection(ISO, 1e6 * ISO[2], 1.0)
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (20, 3))
    expected = ParallelProjection(ISO).seen(points)
    np.testing.assert_allclose(1e6 * far.seen(points)[:, :2], expected[:, :2], atol=1e-5)


@pytest.mark.parametrize("nearer", [RED, BLUE])
def test_nearer_body_is_painted_last(nearer):
    other = BLUE if nearer == RED else RED
    found = page([ball(0.5 * ISO[2], nearer), ball(-0.5 * ISO[2], other)]).patches
    middle = [p for p in found if np.abs(p.points).max() < 0.02]
    assert np.argmax(middle[-1].colour) == np.argmax(nearer)


def test_later_layer_is_painted_over_the_earlier_one():
    layers = [([ball(0.5 * ISO[2], RED)], []), ([ball(np.zeros(3), BLUE, 0.01)], [])]
    found = camera_canvas(layers, pinhole(), GROUND, FIELD, np.array(SIZE)).patches
    assert np.argmax(found[-1].colour) == 2


def test_body_fills_the_part_of_the_page_that_its_angle_asks_for():
    found = page([ball(np.zeros(3), RED)])
    points = np.vstack([found.to_inches(p.points) for p in found.patches])
    half = 0.1 / 3.0 / np.tan(0.5 * FIELD) * 0.5 * SIZE[1]
    np.testing.assert_allclose(points.min(0), np.array(SIZE) / 2 - half, rtol=0.01)
    np.testing.assert_allclose(points.max(0), np.array(SIZE) / 2 + half, rtol=0.01)


def test_grid_fades_and_shadows_are_of_what_is_opaque():
    found = page([ball((0.0, 0.0, 0.3), RED), ball((0.0, 0.2, 0.3), BLUE, opacity=0.4)])
    assert len(found.shadows) == 1
    near = min(found.grid, key=lambda p: np.abs(p.points).max())
    far = max(found.grid, key=lambda p: p.points[:, 1].max())
    assert near.colour.min() < far.colour.min() <= 1.0


def test_dot_is_a_square_of_its_width():
    found = page(flat=[FlatShape(np.zeros((1, 3)), RED, 0.3)]).patches[0]
    np.testing.assert_allclose(np.ptp(found.points, axis=0), 0.1)


def test_translucent_line_is_drawn():
    line = FlatShape(np.array([(-0.3, 0.0, 0.0), (0.3, 0.0, 0.0)]), RED, 0.02, opacity=0.5)
    svg = draw_canvas(page(flat=[line]), "", "svg").decode()
    assert "stroke: #ff0000; stroke-opacity: 0.5" in svg


@pytest.mark.parametrize("parallel", [True, False])
def test_opacity_is_kept_and_where_there_is_none_mixed_with_paper(parallel):
    faint = [ball(np.zeros(3), RED, opacity=0.5)]
    made = parallel_canvas(faint, ISO) if parallel else page(faint)
    svg, eps = (draw_canvas(made, "", kind).decode() for kind in ("svg", "eps"))
    assert "opacity: 0.5" in svg and "<image" not in svg
    assert "opacity" not in eps
    full = draw_canvas(page([ball(np.zeros(3), RED)]), "", "svg").decode()
    assert "opacity: 0.5" not in full
