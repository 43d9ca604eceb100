# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Faces of solids and their painting order."""

import numpy as np
import pytest
from arm_description.model.elements import Origin
from arm_studio.pictures.canvas import VIEWS, FlatShape, patches
from arm_studio.pictures.solids import ParallelProjection, Solid, normals, painting_ranks


@pytest.mark.parametrize(
    ("kind", "size", "area"),
    [
        ("box", (0.4, 0.6, 0.8), 2.08),
        ("cylinder", (0.3, 1.0), 2.0 * np.pi * 0.3 * 1.3),
        ("sphere", (0.4,), 4.0 * np.pi * 0.4**2),
    ],
)
def test_faces_cover_the_surface_and_point_outwards(kind, size, area):
    centre = np.array((1.0, 2.0, 3.0))
    faces = Solid(kind, size, Origin(tuple(centre), (0.1, 0.2, 0.3)).matrix).faces()
    across = faces[:, 2] - faces[:, 0], faces[:, 3] - faces[:, 1]
    areas = np.linalg.norm(np.cross(*across), axis=1) / 2
    assert areas.sum() == pytest.approx(area, rel=0.03)
    assert (np.einsum("ij,ij->i", normals(faces), faces.mean(axis=1) - centre) > 0.0).all()


def box(size, xyz, colour=(0.5, 0.5, 0.5)):
    T = np.eye(4)
    T[:3, 3] = xyz
    return Solid("box", size, T, colour)


TABLE = box((2.0, 2.0, 0.1), (0.0, 0.0, -0.05))
FOOT = box((0.1, 0.1, 0.5), (0.8, -0.8, 0.25))


def ranked(solids, view, flat=()):
    seen = ParallelProjection(VIEWS[view]).seen
    faces = [seen(solid.faces()) for solid in solids]
    return list(painting_ranks(faces, [seen(points) for points in flat]))


def test_table_is_painted_before_objects_on_it():
    for view in ("iso", "top"):
        assert ranked([FOOT, TABLE], view) == [2, 0]
    solids = [FOOT, TABLE, box((0.1, 0.1, 0.5), (-0.8, 0.8, 0.25))]
    assert ranked(solids, "iso")[1] == 0


def test_intersecting_solids_are_sorted_by_faces():
    through = box((0.1, 0.1, 1.0), (0.0, 0.0, 0.0))
    assert len(set(ranked([through, TABLE], "iso"))) == 1


def test_line_below_a_table_keeps_depth_order():
    below = np.array([(0.0, 0.0, -1.0), (1.0, 0.0, -1.0)])
    assert ranked([TABLE], "iso", [below]) == [1]


def test_table_is_never_painted_over_its_load():
    red = box((0.1, 0.1, 0.02), (0.9, -0.9, 0.01), (1.0, 0.0, 0.0))
    found = patches(
        [red, TABLE],
        ParallelProjection(VIEWS["iso"]),
        [FlatShape(np.zeros((2, 3)), (0.0, 0.0, 1.0), 0.01)],
    )
    reds = [i for i, patch in enumerate(found) if patch.colour[0] > patch.colour[1]]
    greys = [i for i, patch in enumerate(found) if len(set(patch.colour.tolist())) == 1]
    assert reds and greys and max(greys) < min(reds)
