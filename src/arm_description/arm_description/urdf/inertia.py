# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plausible mass, centre of mass and inertia of a link from its shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Matrix, Vector

from arm_description.urdf.elements import UrdfGeometry

# Between plastic (1200) and aluminium (2700): parts with servos and air in them [kg/m^3].
DENSITY = 1800.0


@dataclass(frozen=True)
class Inertia:
    """Inertia of a link."""

    mass: float  # [kg]
    centre: Vector  # centre of mass in the link's frame, (3,) [m]
    tensor: Matrix  # inertia about the centre, along the link's axes, (3, 3) [kg m^2]


def inertia_of(shapes: Sequence[UrdfGeometry], mass: float | None = None) -> Inertia:
    """Sum of the shapes, each solid and all of one density (parallel axis theorem).

    Args:
        shapes: at least one.
        mass: of all together [kg], None to take it from the usual density.
    """
    volumes = [_volume(shape) for shape in shapes]
    density = DENSITY if mass is None else mass / sum(volumes)
    masses = [density * volume for volume in volumes]
    total = sum(masses)
    poses = [shape.origin.matrix for shape in shapes]
    centre = sum((m * T[:3, 3] for m, T in zip(masses, poses, strict=True)), np.zeros(3)) / total
    tensor = np.zeros((3, 3))
    for shape, mass, T in zip(shapes, masses, poses, strict=True):
        R, r = T[:3, :3], T[:3, 3] - centre
        tensor += R @ np.diag(_moments(shape, mass)) @ R.T
        tensor += mass * (float(r @ r) * np.eye(3) - np.outer(r, r))
    return Inertia(total, centre, tensor)


def _volume(shape: UrdfGeometry) -> float:
    if shape.kind == "box":
        return math.prod(shape.size)
    radius, length = shape.size
    return math.pi * radius**2 * length


def _moments(shape: UrdfGeometry, mass: float) -> tuple[float, float, float]:
    """Principal moments about the shape's own axes."""
    if shape.kind == "box":
        x, y, z = (side**2 for side in shape.size)
        return (mass * (y + z) / 12, mass * (x + z) / 12, mass * (x + y) / 12)
    radius, length = shape.size
    across = mass * (3 * radius**2 + length**2) / 12
    return (across, across, mass * radius**2 / 2)
