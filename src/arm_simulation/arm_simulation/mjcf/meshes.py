# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Watertight meshes of a threaded bolt and nut, and of a hexagon.

A surface of a thread is a radius over angle and height, sampled on a grid that closes around the
axis; end caps close it along the axis. Every edge therefore belongs to exactly two triangles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from arm_common.transforms import Array
from arm_tasks.scene.screw_thread import COUNTERSINK_SLOPE, ScrewThread, ThreadSizes
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.intp]
_ROUND = 72  # points around the axis
_PER_PITCH = 24  # points along the axis
_WALL = 1.2e-3  # thickness of the nut that meets the bolt, beyond its thread [m]


@dataclass(frozen=True)
class TriangleMesh:
    """A closed surface; the triangles are counterclockwise from outside."""

    vertices: Array  # (n, 3) [m]
    faces: Indices  # (m, 3), indices of vertices


def bolt_mesh(thread: ScrewThread, length: float) -> TriangleMesh:
    """Return a bolt from its free end at z = 0 to z = length [m], with a chamfered tip.

    The middle of a crest passes the free end at the angle 0 about z.
    """
    sizes, p = thread.external, thread.pitch
    angles, heights = _grid(0.0, length, p)
    radii = _helix(thread, sizes, angles, heights)
    radii = np.minimum(radii, thread.tip_radius + heights[None, :])
    tube = _Surface()
    rings = tube.grid(angles, heights, radii)
    tube.cap(rings[:, 0], heights[0], up=False)
    tube.cap(rings[:, -1], heights[-1], up=True)
    return tube.mesh()


def pin_mesh(diameter: float, length: float) -> TriangleMesh:
    """Return a smooth pin from its chamfered free end at z = 0 to z = length [m]."""
    angles = np.arange(_ROUND, dtype=np.float64) * (2.0 * math.pi / _ROUND)
    chamfer = min(diameter, length) / 4.0
    heights = np.array([0.0, chamfer, length])
    radii = np.minimum(diameter / 2.0, diameter / 2.0 - chamfer + heights)
    tube = _Surface()
    rings = tube.grid(angles, heights, np.tile(radii, (_ROUND, 1)))
    tube.cap(rings[:, 0], heights[0], up=False)
    tube.cap(rings[:, -1], heights[-1], up=True)
    return tube.mesh()


def nut_mesh(thread: ScrewThread, thickness: float) -> TriangleMesh:
    """Return the threaded ring of a nut, centred, z along its axis, countersunk on both faces.

    In its frame the middle of a groove passes the front face, z = thickness / 2, at the angle 0
    about z. So a nut fits a bolt if it has turned by the angle a from the bolt's `start`, and its
    front face is hand * pitch * a / 2 pi past the bolt's free end.
    """
    sizes, p = thread.internal, thread.pitch
    angles, heights = _grid(-thickness / 2.0, thickness / 2.0, p)
    radii = _helix(thread, sizes, angles, heights - thickness / 2.0)
    mouth = thread.countersink / 2.0
    depth = thickness / 2.0 - np.abs(heights)
    radii = np.maximum(radii, mouth - depth[None, :] * COUNTERSINK_SLOPE)
    outer = np.full((len(angles), 2), mouth + _WALL)
    ring = _Surface()
    inside = ring.grid(angles, heights, radii, inwards=True)
    outside = ring.grid(angles, heights[[0, -1]], outer)
    ring.band(inside[:, -1], outside[:, -1], up=True)
    ring.band(inside[:, 0], outside[:, 0], up=False)
    return ring.mesh()


def hexagon_vertices(across_flats: float, thickness: float) -> Array:
    """Return the corners (12, 3) of a hexagon [m], z along its axis, x to the middle of a flat."""
    angles = np.radians(30.0 + 60.0 * np.arange(6))
    corner = across_flats / 2.0 / math.cos(math.pi / 6.0)
    ring = np.column_stack([corner * np.cos(angles), corner * np.sin(angles)])
    halves = [np.column_stack([ring, np.full(6, z)]) for z in (-thickness / 2, thickness / 2)]
    return np.vstack(halves)


def _grid(low: float, high: float, pitch: float) -> tuple[Array, Array]:
    count = max(2, math.ceil((high - low) / pitch * _PER_PITCH)) + 1
    angles = np.arange(_ROUND, dtype=np.float64) * (2.0 * math.pi / _ROUND)
    return angles, np.linspace(low, high, count)


def _helix(thread: ScrewThread, sizes: ThreadSizes, angles: Array, heights: Array) -> Array:
    """Return the radii (angles, heights) of a thread whose crest passes height 0 at angle 0."""
    lead = thread.hand * thread.pitch / (2.0 * math.pi)
    axial = heights[None, :] - lead * angles[:, None]
    radius = np.vectorize(lambda u: sizes.radius(u, thread.pitch))
    return np.asarray(radius(axial))


class _Surface:
    """Collects vertices and faces."""

    def __init__(self) -> None:
        self._vertices: list[Array] = []
        self._faces: list[Indices] = []
        self._count = 0

    def grid(self, angles: Array, heights: Array, radii: Array, inwards: bool = False) -> Indices:
        """Add a surface around the axis; return the indices (angles, heights) of its points."""
        x, y = radii * np.cos(angles)[:, None], radii * np.sin(angles)[:, None]
        z = np.broadcast_to(heights[None, :], x.shape)
        index = self._add(np.stack([x, y, z], axis=-1).reshape(-1, 3)).reshape(x.shape)
        a, b = index, np.roll(index, -1, axis=0)
        self._quads(a[:, :-1], b[:, :-1], b[:, 1:], a[:, 1:], inwards)
        return index

    def cap(self, ring: Indices, z: float, up: bool) -> None:
        """Close a ring of points by a fan at a height."""
        centre = self._add(np.array([[0.0, 0.0, z]]))[0]
        after = np.roll(ring, -1)
        middle = np.full_like(ring, centre)
        pair = (ring, after) if up else (after, ring)
        self._faces.append(np.stack([middle, *pair], axis=-1))

    def band(self, inner: Indices, outer: Indices, up: bool) -> None:
        """Close the annulus between two rings of points."""
        self._quads(inner, outer, np.roll(outer, -1), np.roll(inner, -1), flip=not up)

    def mesh(self) -> TriangleMesh:
        """Return the mesh of all surfaces."""
        faces = np.vstack([f.reshape(-1, 3) for f in self._faces])
        return TriangleMesh(np.vstack(self._vertices), faces)

    def _add(self, points: Array) -> Indices:
        first, self._count = self._count, self._count + len(points)
        self._vertices.append(points)
        return np.arange(first, self._count)

    def _quads(self, a: Indices, b: Indices, c: Indices, d: Indices, flip: bool) -> None:
        corners = (a, d, c, b) if flip else (a, b, c, d)
        a, b, c, d = (v.reshape(-1) for v in corners)
        self._faces += [np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)]
