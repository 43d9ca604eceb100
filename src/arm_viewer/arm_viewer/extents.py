# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The boxes around shapes."""

from __future__ import annotations

from itertools import product

import numpy as np

from .shapes import Array, Box, Cylinder, Ellipsoid, Shape

SIGNS = np.array(list(product((-0.5, 0.5), repeat=3)))


def corners(shape: Shape, pose: Array) -> Array:
    """Return the corners of the box around a solid, (8, 3); its origin, (1, 3), if it is none.

    Args:
        shape: What is drawn.
        pose: (4, 4), where it is.
    """
    if isinstance(shape, Box):
        size: tuple[float, ...] = shape.size
    elif isinstance(shape, Cylinder):
        size = (*shape.diameters, shape.length)
    elif isinstance(shape, Ellipsoid):
        size = shape.diameters
    else:
        return np.array(pose[:3, 3][None])
    return np.array((SIGNS * size) @ pose[:3, :3].T + pose[:3, 3])
