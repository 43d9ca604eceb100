# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Faces of solids and their painting order."""

import numpy as np
import pytest
from arm_description.model.elements import Origin
from arm_studio.pictures.canvas import VIEWS, FlatShape, patches
from arm_studio.pictures.solids import ParallelProjection, Solid, normals


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
COLOURS = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 0.0), (0.0, 1.0, 1.0)]


def contains(corners, point):
    """Whether a point (2,) is inside a convex polygon (k, 2); None if it is near an edge."""
    sides = np.roll(corners, -1, axis=0) - corners
    lengths = np.linalg.norm(sides, axis=1)
    out = sides[:, 0] * (point - corners)[:, 1] - sides[:, 1] * (point - corners)[:, 0]
    out = out[lengths > 1e-9] / lengths[lengths > 1e-9]
    if np.abs(out).min() < 1e-4:
        return None
    return bool((out > 0.0).all() or (out < 0.0).all())


def nearest_solid(solids, seen, point):
    """The index of the solid seen at a point; None if that is not clear, -1 for none."""
    hits = [(-np.inf, -1)]
    for i, solid in enumerate(solids):
        faces = seen(solid.faces())
        low, high = faces[..., :2].min(axis=1) - 1e-3, faces[..., :2].max(axis=1) + 1e-3
        faces = faces[((low < point) & (point < high)).all(axis=1)]
        for face, (x, y, z) in zip(faces, normals(faces), strict=True):
            if z > 1e-3:
                inside = contains(face[:, :2], point)
                if inside is None:
                    return None
                if inside:
                    hits.append((face[0, 2] - (x, y) @ (point - face[0, :2]) / z, i))
    (near, index), *others = sorted(hits, reverse=True)
    return None if others and near - others[0][0] < 1e-4 and others[0][1] != index else index


@pytest.mark.parametrize("seed", range(5))
def test_each_point_of_a_picture_shows_the_nearest_solid(seed):
    """Also of solids that pass through each other, and of large thin discs."""
    rng = np.random.default_rng(seed)
    kinds = [("box", (0.4, 0.3, 0.5)), ("cylinder", (0.4, 0.05)), ("cylinder", (0.08, 1.0))]
    kinds += [("box", (0.9, 0.9, 0.04)), ("sphere", (0.25,))]
    solids = []
    for (kind, size), colour in zip(kinds, COLOURS, strict=True):
        T = Origin(tuple(rng.uniform(-0.2, 0.2, 3)), tuple(rng.uniform(-1.5, 1.5, 3))).matrix
        solids.append(Solid(kind, size, T, colour))
    projection, compared = ParallelProjection(VIEWS["iso"]), 0
    found = patches(solids, projection)
    for point in rng.uniform(-0.6, 0.6, (50, 2)):
        expected = nearest_solid(solids, projection.seen, point)
        if expected is None:
            continue
        covers = [contains(patch.points, point) for patch in found]
        if None in covers:
            continue
        shown = [patch for patch, inside in zip(found, covers, strict=True) if inside]
        colour = shown[-1].colour / shown[-1].colour.max() if shown else None
        assert (colour is None) if expected < 0 else np.allclose(colour, COLOURS[expected])
        compared += expected >= 0
    assert compared >= 10


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
