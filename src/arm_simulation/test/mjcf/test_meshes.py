# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Meshes of threads are closed, face outwards, and have the volume of their profile."""

import math

import numpy as np
import pytest
from arm_simulation.mjcf.meshes import (
    TriangleMesh,
    bolt_mesh,
    hexagon_vertices,
    nut_mesh,
    pin_mesh,
)
from arm_tasks.scene.screw_thread import ScrewThread

THREAD = ScrewThread.of(6.35e-3, 1.27e-3)
LEFT = ScrewThread.of(6e-3, 1e-3, -1)


def is_watertight(mesh):
    """Return True if every edge belongs to two triangles, once in each direction."""
    edges = np.concatenate([mesh.faces[:, pair] for pair in ((0, 1), (1, 2), (2, 0))])
    forward = set(map(tuple, edges.tolist()))
    return len(forward) == len(edges) and all((b, a) in forward for a, b in forward)


def volume(mesh):
    """Return the enclosed volume [m^3], negative if the triangles face inwards."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


@pytest.mark.parametrize("thread", [THREAD, LEFT])
def test_meshes_are_watertight_and_face_outwards(thread):
    for mesh in (bolt_mesh(thread, 5e-3), nut_mesh(thread, 4e-3), pin_mesh(4e-3, 15e-3)):
        assert is_watertight(mesh)
        assert volume(mesh) > 0.0


def test_missing_triangle_is_detected():
    mesh = bolt_mesh(THREAD, 3e-3)
    assert not is_watertight(TriangleMesh(mesh.vertices, mesh.faces[1:]))


def test_volume_of_a_bolt_is_that_of_its_profile():
    mesh = bolt_mesh(THREAD, 12.7e-3)
    u = np.linspace(-0.5, 0.5, 4001) * THREAD.pitch
    area = math.pi * np.mean([THREAD.external.radius(x, THREAD.pitch) ** 2 for x in u])
    whole = area * 12.7e-3
    assert volume(mesh) == pytest.approx(whole, rel=0.02)  # the tip is chamfered
    assert volume(mesh) < whole


def test_volume_of_a_pin_is_that_of_a_cylinder_without_its_chamfer():
    radius, length, chamfer = 2e-3, 15e-3, 1e-3
    cone = math.pi * chamfer * (3 * radius**2 - 3 * radius * chamfer + chamfer**2) / 3
    whole = math.pi * radius**2 * (length - chamfer) + cone
    assert volume(pin_mesh(2 * radius, length)) == pytest.approx(whole, rel=2e-3)


def advance(mesh, z):
    """Return the angle at which a crest passes a height [rad]."""
    ring = mesh.vertices[np.abs(mesh.vertices[:, 2] - z) < 1e-9]
    ring = ring[np.hypot(ring[:, 0], ring[:, 1]) > 1e-6]
    crest = ring[np.hypot(ring[:, 0], ring[:, 1]) > np.hypot(ring[:, 0], ring[:, 1]).max() - 1e-9]
    return np.angle(np.exp(1j * np.arctan2(crest[:, 1], crest[:, 0])).mean())


@pytest.mark.parametrize("thread", [THREAD, LEFT])
def test_crest_advances_by_its_pitch(thread):
    mesh = bolt_mesh(thread, 6.0 * thread.pitch)
    turned = advance(mesh, 3.25 * thread.pitch) - advance(mesh, 3.0 * thread.pitch)
    assert math.remainder(turned - thread.hand * math.pi / 2, 2 * math.pi) == pytest.approx(
        0, abs=0.1
    )


def test_hexagon_has_its_width_across_flats():
    corners = hexagon_vertices(11.11e-3, 5.56e-3)
    assert np.ptp(corners[:, 0]) == pytest.approx(11.11e-3)
    assert np.ptp(corners[:, 1]) == pytest.approx(11.11e-3 / math.cos(math.pi / 6))
    assert np.ptp(corners[:, 2]) == pytest.approx(5.56e-3)
