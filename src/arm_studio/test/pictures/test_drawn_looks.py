# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Faces of looks as pictures draw them."""

import numpy as np
import pytest
from arm_description.urdf.optional.shape_meshes import triangles
from arm_studio.pictures.solids import Solid, normals

ROUND = {"cone": (0.03, 0.01, 0.1), "ring": (0.05, 0.02, 0.04), "fillet": (0.02, 0.01)}


@pytest.mark.parametrize(("kind", "size"), ROUND.items())
def test_drawn_faces_are_those_of_the_mesh(kind, size):
    faces = Solid(kind, size, np.eye(4)).faces()
    area = np.linalg.norm(np.cross(faces[:, 2] - faces[:, 0], faces[:, 3] - faces[:, 1]), axis=1)
    np.testing.assert_allclose((normals(faces) * area[:, None]).sum(axis=0), 0.0, atol=1e-9)
    low, high = faces.min(axis=(0, 1)), faces.max(axis=(0, 1))
    mesh = triangles(kind, size)
    np.testing.assert_allclose(low, mesh.min(axis=(0, 1)), atol=2e-4)
    np.testing.assert_allclose(high, mesh.max(axis=(0, 1)), atol=2e-4)
