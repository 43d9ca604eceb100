# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Links that overlap in every posture, because they are drawn so: no motion can be to blame.

MoveIt's Setup Assistant finds them in the same way, by trying random postures. Two shapes overlap
here if a grid point of one is inside the other, which is enough for bodies that share a joint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations, product

import numpy as np

from ..transforms import Matrix, inverse
from ..urdf.motion import link_poses
from ..urdf.parts import Shape, UrdfJoint, UrdfLink, UrdfParts

_POSTURES = 64
_SEED = 20
_ALONG = np.linspace(-1.0, 1.0, 7)  # a grid along each axis of a shape, in half sizes


def always_touching(parts: UrdfParts) -> list[tuple[str, str]]:
    """Return the pairs of links whose shapes overlap in every posture that was tried."""
    solid = [link for link in parts.links if link.shapes and link.seen and link.mesh is None]
    points = {link.name: np.hstack([_points(shape) for shape in link.shapes]) for link in solid}
    pairs = list(combinations(solid, 2))
    random = np.random.default_rng(_SEED)
    for _ in range(_POSTURES):
        poses = _poses(parts, random)
        pairs = [pair for pair in pairs if _touch(*pair, points, poses)]
    return [(one.name, other.name) for one, other in pairs]


def _poses(parts: UrdfParts, random: np.random.Generator) -> Mapping[str, Matrix]:
    """Return root <- link (4, 4) of each link in a random posture within the limits."""
    values = {joint.name: _position(joint, random) for joint in parts.joints}
    return link_poses(parts.links[0].name, parts.joints, values)


def _position(joint: UrdfJoint, random: np.random.Generator) -> float:
    if joint.limit is None:
        return 0.0
    lower, upper = max(joint.limit.lower, -math.pi), min(joint.limit.upper, math.pi)
    return float(random.uniform(lower, upper))


def _points(shape: Shape) -> Matrix:
    """Return a grid of points of a shape (4, k) in the frame of its link, its surface included."""
    grid = np.array(list(product(_ALONG, repeat=3))).T
    if shape.kind == "cylinder":
        radius, length = shape.size
        grid = grid[:, np.hypot(grid[0], grid[1]) <= 1.0]
        half = np.array((radius, radius, 0.5 * length))
    else:
        half = 0.5 * np.array(shape.size)
    points = np.vstack([grid * half[:, None], np.ones(grid.shape[1])])
    return np.asarray(shape.origin.matrix @ points)


def _touch(
    one: UrdfLink, other: UrdfLink, points: Mapping[str, Matrix], poses: Mapping[str, Matrix]
) -> bool:
    return any(
        _inside(shape, inverse(poses[a.name]) @ poses[b.name] @ points[b.name])
        for a, b in ((one, other), (other, one))
        for shape in a.shapes
    )


def _inside(shape: Shape, points: Matrix) -> bool:
    """Return whether one of some points (4, k), in the frame of a link, is inside its shape."""
    x, y, z, _ = inverse(shape.origin.matrix) @ points
    if shape.kind == "cylinder":
        radius, length = shape.size
        return bool(np.any((np.hypot(x, y) <= radius) & (np.abs(z) <= 0.5 * length)))
    half = 0.5 * np.array(shape.size)
    return bool(np.any(np.all(np.abs([x, y, z]) <= half[:, None], axis=0)))
